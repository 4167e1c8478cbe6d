"""The settings of a project for its visitors, and the keys of its visitor hashes."""

import secrets
from typing import ClassVar

from django.core.exceptions import ValidationError
from django.db import models

from analytics.models import left_out
from docsite.core.tenants.models import Project
from docsite.core.tenants.validators import RETENTION_DAYS


def new_visitor_secret() -> str:
    """A random hexadecimal key for the visitor hashes of a project. Without the old key, old hashes stay unlinked."""
    return secrets.token_hex(32)


class AnalyticsSettings(models.Model):
    """How a project counts its visitors, and the key of their hashes. Without a row, the defaults apply."""

    class AiScope(models.TextChoices):
        """Which AI-operated clients count as `ai`."""

        ALL = "all", "Assistants, agents, AI search and training crawlers, Markdown fetches"
        READERS = "readers", "Assistants, agents and Markdown fetches only"

    class Rotation(models.TextChoices):
        """How long a visitor is recognized."""

        NEVER = "never", "Never: a visitor counts once over any range"
        QUARTER = "90d", "Every 90 days"
        MONTH = "month", "Every month"
        DAY = "day", "Every day: nobody is followed from one day to the next"

    project = models.OneToOneField(
        Project, on_delete=models.CASCADE, primary_key=True, related_name="analytics_settings"
    )
    ai_scope = models.CharField(max_length=10, choices=AiScope.choices, default=AiScope.ALL)
    secret_rotation = models.CharField(
        "visitor secret changes",
        max_length=5,
        choices=Rotation.choices,
        default=Rotation.NEVER,
        help_text="With each new secret every visitor counts as a new one.",
    )
    first_party_ids = models.BooleanField(
        "first-party visitor ids",
        default=False,
        help_text="Identify a reader by a random id that the view script stores in the browser, instead of by address "
        "and user agent. Storing it may need the reader's consent.",
    )
    feedback_days = models.PositiveSmallIntegerField(
        "days for feedback",
        null=True,
        blank=True,
        validators=RETENTION_DAYS,
        help_text="Feedback is deleted so many days after it was given. Empty: never.",
    )
    view_days = models.PositiveSmallIntegerField(
        "days for single views",
        null=True,
        blank=True,
        validators=RETENTION_DAYS,
        help_text="Single views are deleted, and visit histories shortened, after so many days. The counts stay. "
        "At most RAW_VIEW_DAYS, which also holds if the field is empty.",
    )
    left_out = models.TextField(
        "left out of all counts",
        blank=True,
        default="",
        db_default="",
        validators=[left_out.validate],
        help_text="Addresses or networks of your own people, and sites that send only spam: views with such a "
        "referrer do not count. One a line. Stored views of such a site are removed within an hour, and do not come "
        "back. Views hold no address, so addresses are left out from now on.",
    )
    applied_left_out = models.TextField(blank=True, default="", db_default="", editable=False)  # to stored views
    visitor_secret = models.CharField(max_length=64, default=new_visitor_secret, editable=False)

    class Meta:
        verbose_name = verbose_name_plural = "analytics settings"

    def __str__(self) -> str:
        return f"analytics of {self.project}"

    def clean(self) -> None:
        """Refuse a list that holds one of the project's own sites, whose readers go from page to page."""
        listed = left_out.parse(self.left_out)
        own = next((origin for origin in sorted(self.project.origins) if listed.has_referrer(origin)), None)
        if own:
            raise ValidationError({"left_out": f"{own} is a site of this project: its readers would not count."})

    @classmethod
    def find(cls, project: Project) -> "AnalyticsSettings | None":
        """The row of a project. It is read once, and with the project by `docsite.core.access.authentication`."""
        row: AnalyticsSettings | None = getattr(project, "analytics_settings", None)
        return row

    @classmethod
    def for_project(cls, project: Project) -> "AnalyticsSettings":
        """The row of a project, or one with the defaults that is not stored and has no secret."""
        return cls.find(project) or cls(project_id=project.pk, visitor_secret="")

    @classmethod
    def stored_for(cls, project: Project) -> "AnalyticsSettings":
        """The row of a project, created if it is missing: the same for all who ask for it at once."""
        row = cls.find(project)
        if row is None:
            row, _ = cls.objects.get_or_create(project_id=project.pk)
            project.analytics_settings = row
        return row


class VisitorSecret(models.Model):
    """The secret key of a project's visitor hashes in one period. Without it, nobody can compute these hashes again."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False)
    period = models.CharField(max_length=12)
    secret = models.CharField(max_length=64)
    expires_at = models.DateTimeField()

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["project", "period"], name="one_visitor_secret_a_period")
        ]

    def __str__(self) -> str:
        return self.period
