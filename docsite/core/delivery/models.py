"""The outbox: deliveries to owners, their attempts, the webhooks that they go to, and the events of webhooks."""

from datetime import timedelta
from typing import ClassVar

from django.db import models
from django.utils import timezone

from docsite.core import ids
from docsite.core.background.leases import Leased
from docsite.core.tenants.models import Project

PREVIOUS_SECRET_HOURS = 24


class Webhook(models.Model):
    """An address of an owner that receives events, and the secret that signs them.

    The secret is stored as it is, since an HMAC needs it. For a day after a rotation, events are signed with the
    previous secret, too.
    """

    class Format(models.TextChoices):
        """What a webhook is sent."""

        STANDARD = "standard", "JSON, signed (Standard Webhooks)"
        SLACK = "slack", "Message for Slack"
        TEAMS = "teams", "Message for Microsoft Teams"
        DISCORD = "discord", "Message for Discord"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=500)
    secret = models.CharField(max_length=100, editable=False)
    previous_secret = models.CharField(max_length=100, blank=True, default="", editable=False)
    rotated_at = models.DateTimeField(null=True, editable=False)
    events = models.TextField(
        blank=True,
        default="",
        db_default="",
        help_text="The types of events that it receives, with spaces. Empty: that of support requests.",
    )
    format = models.CharField(
        max_length=10, choices=Format.choices, default=Format.STANDARD, db_default=Format.STANDARD.value
    )
    service_url = models.CharField(
        max_length=200, blank=True, default="", db_default="", help_text="Origin of the links in its events."
    )
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"webhook {self.pk}"

    def secrets(self) -> list[str]:
        """The secrets that sign an event now."""
        is_recent = self.rotated_at and timezone.now() - self.rotated_at < timedelta(hours=PREVIOUS_SECRET_HOURS)
        return [self.secret, *([self.previous_secret] if self.previous_secret and is_recent else [])]


class Event(models.Model):
    """Something that happened in a project, for its webhooks. `facts` has ids and numbers, and no text of a reader."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    event_id = models.CharField(max_length=40, unique=True, default=ids.event_id, editable=False)
    name = models.CharField(max_length=60, help_text="The type of the event, such as gap.opened.")
    facts = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    def __str__(self) -> str:
        return self.event_id


class Delivery(Leased):
    """One event on its way to an owner, by one channel. It has no content: see `outbox.Render`."""

    class Channel(models.TextChoices):
        """How it is sent."""

        EMAIL = "email", "E-mail"
        WEBHOOK = "webhook", "Webhook"

    class State(models.TextChoices):
        """Whether it has arrived."""

        WAITING = "waiting"
        DELIVERED = "delivered"
        FAILED = "failed"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    delivery_id = models.CharField(max_length=40, unique=True, default=ids.delivery_id, editable=False)
    event = models.CharField(max_length=60, help_text="The kind of event, such as support_request.created.")
    subject = models.CharField(max_length=60, help_text="Id of the app's row that the content is rendered from.")
    channel = models.CharField(max_length=10, choices=Channel.choices)
    webhook = models.ForeignKey(
        Webhook, on_delete=models.CASCADE, null=True, related_name="deliveries", help_text="Of a published event."
    )
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    attempt_count = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(
        null=True, default=timezone.now, help_text="When it is to be tried next. Empty: it has arrived or failed."
    )
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["pk"]
        indexes: ClassVar = [
            models.Index(fields=["due_at"], name="waiting_deliveries", condition=models.Q(due_at__isnull=False)),
            models.Index(fields=["project", "subject"], name="deliveries_of_a_subject"),
        ]

    def __str__(self) -> str:
        return self.delivery_id


class DeliveryAttempt(models.Model):
    """One attempt to send a delivery. `result` is a sentence without addresses."""

    delivery = models.ForeignKey(Delivery, on_delete=models.CASCADE, related_name="attempts")
    at = models.DateTimeField(default=timezone.now)
    succeeded = models.BooleanField()
    result = models.CharField(max_length=200)

    class Meta:
        ordering: ClassVar = ["pk"]

    def __str__(self) -> str:
        return self.result
