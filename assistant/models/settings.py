"""The settings of a project's assistant."""

import re
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator, MaxValueValidator, MinValueValidator, validate_email
from django.db import models

from assistant.models.support_requests import SupportSettings
from docsite.core.sql import read_row
from docsite.core.tenants.models import Project
from docsite.core.tenants.validators import RETENTION_DAYS, origin_of

MAX_STARTERS = 3  # starter questions


def validate_starters(questions: Any) -> None:
    """Accept a list of up to `MAX_STARTERS` questions of 120 characters each."""
    if not isinstance(questions, list) or not all(isinstance(text, str) and text.strip() for text in questions):
        raise ValidationError("Must be a list of questions.")
    if len(questions) > MAX_STARTERS or any(len(text) > 120 for text in questions):
        raise ValidationError(f"At most {MAX_STARTERS} questions of 120 characters each.")


def validate_support_url(text: str) -> None:
    """Accept a web address, a mailto link or a mail address: it becomes a link in an answer."""
    try:
        if text.startswith("mailto:") or "://" not in text:
            validate_email(text.removeprefix("mailto:").partition("?")[0])
        else:
            origin_of(text)
    except (ValueError, ValidationError):
        raise ValidationError(
            "Write a link that begins with https://, http:// or mailto:, or an e-mail address."
        ) from None
    if re.search(r"[\s\x00-\x1f\x7f()<>\[\]\"\\`]", text):  # would end the link
        raise ValidationError("Must have no spaces, quotes or brackets; in an address write %20, %28 and so on.")


def validate_effort(text: str) -> None:
    """Accept one word. Which words a model knows is its server's matter."""
    if not re.fullmatch("[a-z]+", text):
        raise ValidationError("Write one word in small letters, such as low.")


class AssistantSettings(models.Model):
    """The owner's settings for the assistant of a project. A project without a row has the default of every field.

    `deflection` is the text of a refusal. The form in `assistant.admin.settings` explains each field to owners.
    """

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="assistant_settings")
    instructions = models.TextField(blank=True, validators=[MaxLengthValidator(4000)])
    starter_questions = models.JSONField(default=list, blank=True, validators=[validate_starters])
    deflection = models.TextField(blank=True, validators=[MaxLengthValidator(500)])
    support_url = models.CharField(
        max_length=300,
        blank=True,
        validators=[validate_support_url],
        help_text="A refusal offers this link or e-mail address.",
    )
    model = models.CharField(max_length=200, blank=True)
    temperature = models.FloatField(null=True, blank=True, validators=[MinValueValidator(0.0), MaxValueValidator(2.0)])
    reasoning_effort = models.CharField(max_length=20, blank=True, validators=[validate_effort])
    threshold = models.FloatField(null=True, blank=True, validators=[MinValueValidator(0.0), MaxValueValidator(1.0)])
    daily_cost_limit = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="In millionths of the currency of the prices. Empty: no limit."
    )
    monthly_cost_limit = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="In millionths of the currency of the prices. Empty: no limit."
    )
    conversation_days = models.PositiveSmallIntegerField(
        "days for conversations",
        null=True,
        blank=True,
        validators=RETENTION_DAYS,
        help_text="A conversation is deleted so many days after its last question, with the feedback on its answers. "
        "Empty: never.",
    )

    support_form_url = ""  # of the project's support requests, if it takes them; `for_project` sets it

    class Meta:
        verbose_name = verbose_name_plural = "assistant settings"

    def __str__(self) -> str:
        return f"assistant of {self.project}"

    @classmethod
    def for_project(cls, project: Project) -> "AssistantSettings":
        """The settings of a project; unsaved defaults when it has no row."""
        settings = read_row(cls, "project_id", project.pk) or cls()
        settings.project = project  # saves a query
        settings.support_form_url = SupportSettings.for_project(project).form_url
        return settings
