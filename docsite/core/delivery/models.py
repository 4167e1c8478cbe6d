"""The outbox: deliveries to owners, their attempts, and the webhooks that they go to."""

from datetime import timedelta
from typing import ClassVar

from django.db import models
from django.utils import timezone

from docsite.core import ids
from docsite.core.tenants.models import Project

PREVIOUS_SECRET_HOURS = 24


class Webhook(models.Model):
    """An address of an owner that receives events, and the secret that signs them.

    The secret is stored as it is, since an HMAC needs it. For a day after a rotation, events are signed with the
    previous secret, too.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=500)
    secret = models.CharField(max_length=100, editable=False)
    previous_secret = models.CharField(max_length=100, blank=True, default="", editable=False)
    rotated_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)

    def __str__(self) -> str:
        return f"webhook {self.pk}"

    def secrets(self) -> list[str]:
        """The secrets that sign an event now."""
        is_recent = self.rotated_at and timezone.now() - self.rotated_at < timedelta(hours=PREVIOUS_SECRET_HOURS)
        return [self.secret, *([self.previous_secret] if self.previous_secret and is_recent else [])]


class Delivery(models.Model):
    """One event on its way to an owner, by one channel. It has no content: see `outbox.EventKind`.

    `due_at` of a waiting delivery is the time of its next attempt. A process that sends it moves `due_at` to the end
    of its lease: if it is killed, the delivery becomes due again.
    """

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
    state = models.CharField(max_length=10, choices=State.choices, default=State.WAITING)
    attempt_count = models.PositiveSmallIntegerField(default=0)
    due_at = models.DateTimeField(default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        ordering: ClassVar = ["pk"]
        indexes: ClassVar = [
            models.Index(fields=["due_at"], name="waiting_deliveries", condition=models.Q(state="waiting")),
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
