"""Who gets which e-mail about a project, the alerts, the digests, and when each routine runs next."""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils import timezone

from docsite.core.background.leases import Leased
from docsite.core.tenants.models import Project


class Subscription(models.Model):
    """What a person gets by e-mail about a project."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    email = models.EmailField("e-mail address")
    confirmed_email = models.EmailField(
        blank=True, default="", db_default="", editable=False, help_text="The address whose owner has opened our link."
    )
    topics = models.TextField(blank=True, help_text="The keys of topics, with spaces.")
    service_url = models.CharField(max_length=200, help_text="Origin of the links in e-mail.")

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["project", "user"], name="one_subscription_a_person")]

    def __str__(self) -> str:
        return f"subscription {self.pk}"  # without the e-mail address

    @property
    def is_confirmed(self) -> bool:
        """Whether the owner of the address has said that it is theirs."""
        return self.email == self.confirmed_email


class Alert(models.Model):
    """Something that needs a person, from when it was found until it is over. It is open once for each cause."""

    project = models.ForeignKey(
        Project, on_delete=models.CASCADE, null=True, related_name="+", help_text="Empty: it is about the service."
    )
    topic = models.CharField(max_length=40)
    cause = models.CharField(max_length=200, help_text="What it is about, unique in the service.")
    title = models.CharField(max_length=300)
    text = models.TextField(help_text="What it means and how to mend it. No text of a reader.")
    path = models.CharField(max_length=300, help_text="Of a page of the admin.")
    opened_at = models.DateTimeField(default=timezone.now)
    absent_since = models.DateTimeField(null=True, help_text="Since when the cause was not found any more.")
    cleared_at = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(
                fields=["cause"], condition=models.Q(cleared_at__isnull=True), name="one_open_alert_a_cause"
            )
        ]

    def __str__(self) -> str:
        return f"alert {self.pk}"


class Digest(models.Model):
    """The digests of a week were issued, those of all projects of a time zone. Who adds the row issues them."""

    week = models.DateField(help_text="The Monday after its seven days.")
    time_zone = models.CharField(max_length=64, default="UTC", db_default="UTC")

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["week", "time_zone"], name="one_digest_a_week")]

    def __str__(self) -> str:
        return f"digests before {self.week}"


class Routine(Leased):
    """When a routine of the background runs next."""

    name = models.CharField(max_length=40, unique=True)
    due_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return self.name
