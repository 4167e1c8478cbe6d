"""The settings of a project's assistant."""

import re
from typing import Any

from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator, MaxValueValidator, MinValueValidator, validate_email
from django.db import models

from assistant.question import AnswerSettings
from docsite.core.tenants.models import Project, origin_of

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
        raise ValidationError("Must hold no spaces, quotes or brackets; in an address write %20, %28 and so on.")


class AssistantSettings(models.Model):
    """What the owner of a site set for its assistant. A project without a row has the default of every field."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="assistant_settings")
    instructions = models.TextField(
        blank=True,
        validators=[MaxLengthValidator(4000)],
        help_text="Added to what every model is told: tone, names of products, what to say no to.",
    )
    starter_questions = models.JSONField(
        default=list, blank=True, validators=[validate_starters], help_text="Shown in an empty conversation."
    )
    deflection = models.TextField(
        blank=True,
        validators=[MaxLengthValidator(500)],
        help_text="Said when the documentation has no answer, above the nearest pages. Markdown is allowed, links "
        "included.",
    )
    support_url = models.CharField(
        max_length=300,
        blank=True,
        validators=[validate_support_url],
        help_text="Link or mail address offered when the documentation has no answer.",
    )
    model = models.CharField(
        max_length=200, blank=True, help_text="Name of another model of the same server. Empty: as configured."
    )
    temperature = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0.0), MaxValueValidator(2.0)],
        help_text="0 to 2. Empty: as the model server has it.",
    )
    threshold = models.FloatField(
        null=True,
        blank=True,
        validators=[MinValueValidator(0.0), MaxValueValidator(1.0)],
        help_text="0 to 1. Below this chance that the pages answer, the assistant says that they do not. "
        "Empty: as calibrated.",
    )

    class Meta:
        verbose_name = verbose_name_plural = "assistant settings"

    def __str__(self) -> str:
        return f"assistant of {self.project}"

    @classmethod
    def for_project(cls, project: Project) -> "AssistantSettings":
        """The settings of a project; unsaved defaults when it has no row."""
        settings = cls.objects.filter(project=project).first() or cls()
        settings.project = project  # saves a query
        return settings

    def to_answer_settings(self) -> AnswerSettings:
        """The settings that the answering pipeline uses."""
        return AnswerSettings(self.instructions.strip(), self.deflection.strip(), self.support_url, self.threshold)
