"""What reports store: pinned exports, annotations and links for people without a log-in."""

from typing import ClassVar

from django.conf import settings
from django.db import models

from docsite.core.tenants.models import ApiKey, Project


class Snapshot(models.Model):
    """The rows of an export when its first page was read. Stored for ten minutes, for the other pages."""

    key = models.ForeignKey(ApiKey, on_delete=models.CASCADE)
    project = models.ForeignKey(Project, on_delete=models.CASCADE)
    dates = models.CharField(max_length=200, help_text="Report and dates of the request.")
    taken_at = models.DateTimeField()
    counts = models.BinaryField(help_text="Packed: see `analytics.reports.visitor_counts.Counts`.")

    class Meta:
        constraints: ClassVar = [
            models.UniqueConstraint(fields=["key", "project", "dates"], name="one_snapshot_an_export")
        ]

    def __str__(self) -> str:
        return self.dates


class Annotation(models.Model):
    """Something that happened and may explain a change of the numbers: a note, or a replaced index."""

    class Kind(models.TextChoices):
        """Who recorded it."""

        NOTE = "note", "Note"
        INDEX = "index", "Index replaced"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False)
    kind = models.CharField(max_length=5, choices=Kind.choices, default=Kind.NOTE)
    at = models.DateTimeField()
    text = models.CharField(max_length=200, blank=True)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")

    class Meta:
        indexes: ClassVar = [models.Index(fields=["project", "at"], name="annotations_by_time")]

    def __str__(self) -> str:
        return self.text or self.get_kind_display()


class ShareLink(models.Model):
    """A link to the visitors report of a project that works without a log-in. Only its SHA-256 digest is stored."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE)
    name = models.CharField(max_length=100, blank=True)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    created_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True, editable=False, help_text="Exact to about ten minutes.")
    revoked_at = models.DateTimeField(null=True, editable=False)

    class Meta:
        ordering: ClassVar = ["-created_at"]

    def __str__(self) -> str:
        return self.name or f"link {self.pk}"
