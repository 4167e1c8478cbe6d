"""Support requests: questions that readers send to a person, the owner's settings for them, and counts of the forms."""

from typing import Any, ClassVar

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import validate_email
from django.db import models

from docsite.core import ids
from docsite.core.delivery.models import Webhook
from docsite.core.sql import read_row
from docsite.core.tenants.models import Project
from docsite.core.tenants.validators import RETENTION_DAYS

MAX_EMAILS = 5
MAX_EXCHANGES = 20  # questions with their answers that come with a request
DEFAULT_DAYS = 365


def validate_emails(addresses: Any) -> None:
    """Accept a list of up to `MAX_EMAILS` e-mail addresses."""
    if not isinstance(addresses, list) or len(addresses) > MAX_EMAILS:
        raise ValidationError(f"At most {MAX_EMAILS} e-mail addresses.")
    for address in addresses:
        try:
            validate_email(address)
        except ValidationError:
            raise ValidationError(f"{str(address)[:100]}: not an e-mail address.") from None


class SupportSettings(models.Model):
    """Where the support requests of a project go. Without an address or a webhook, readers see no form."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="support_settings")
    service_url = models.CharField(max_length=200, blank=True, help_text="Origin at which readers reach this service.")
    emails = models.JSONField(default=list, blank=True, validators=[validate_emails])
    webhook = models.OneToOneField(Webhook, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    days = models.PositiveSmallIntegerField(
        "days for support requests",
        null=True,
        blank=True,
        default=DEFAULT_DAYS,
        validators=RETENTION_DAYS,
        help_text="A support request is deleted so many days after it was sent, with the reader's e-mail address. "
        "Empty: never.",
    )

    class Meta:
        verbose_name = verbose_name_plural = "support settings"

    def __str__(self) -> str:
        return f"support of {self.project}"

    @classmethod
    def for_project(cls, project: Project) -> "SupportSettings":
        """The settings of a project; unsaved defaults when it has no row."""
        stored = read_row(cls, "project_id", project.pk) or cls()
        stored.project = project  # saves a query
        return stored

    @property
    def is_on(self) -> bool:
        """Whether readers can send requests."""
        return bool(self.service_url and (self.emails or self.webhook_id))

    @property
    def form_url(self) -> str:
        """The address of the form without JavaScript; empty if readers can send no requests."""
        return f"{self.service_url}/support/{self.project.domain}" if self.is_on else ""


class SupportRequest(models.Model):
    """A question that a reader has sent to a person, with the part of the conversation that the reader chose.

    It holds personal data: the reader's e-mail address, and what the reader wrote.
    """

    class State(models.TextChoices):
        """The state of the work on it."""

        OPEN = "open"
        ANSWERED = "answered"
        CLOSED = "closed"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="support_requests")
    request_id = models.CharField(max_length=40, unique=True, default=ids.support_request_id, editable=False)
    form_id = models.CharField(max_length=40, help_text="Of the form that was sent: a form counts once.")
    email = models.CharField(max_length=254)
    subject = models.CharField(max_length=200)
    message = models.TextField()
    transcript = models.JSONField(default=list, help_text="Turns of the conversation: role and text.")
    thread = models.ForeignKey(
        "assistant.Thread", on_delete=models.SET_NULL, null=True, related_name="support_requests"
    )
    page_path = models.CharField(max_length=400, blank=True, help_text="The page the reader was on.")
    state = models.CharField(max_length=10, choices=State.choices, default=State.OPEN)
    assignee = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering: ClassVar = ["-created_at", "-pk"]
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "form_id"], name="one_support_request_a_form")
        ]
        indexes: ClassVar = [models.Index(fields=["project", "state", "created_at"], name="support_requests_by_state")]

    def __str__(self) -> str:
        return self.request_id


class SupportFormCount(models.Model):
    """How often readers used the support forms of a project on a day (UTC): ours, and the owner's own."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    day = models.DateField()
    begun = models.PositiveIntegerField(default=0)
    shown = models.PositiveIntegerField(default=0, help_text="Forms that showed answers while the reader wrote.")
    solved = models.PositiveIntegerField(default=0, help_text="Forms whose reader said that an answer solved it.")
    sent = models.PositiveIntegerField(default=0)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "day"], name="one_support_form_count_a_day")
        ]

    def __str__(self) -> str:
        return f"{self.day}: {self.begun}"
