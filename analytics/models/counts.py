"""Counts of views and visitors that sealing makes from raw views."""

from datetime import UTC, datetime, timedelta
from typing import ClassVar

from django.db import models

from docsite.core.tenants.models import Project

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Seal(models.Model):
    """How far the views of a project are counted, and the lease of the process that counts.

    `analytics.counting.sealer` adds the row.
    """

    project = models.OneToOneField(Project, on_delete=models.CASCADE, primary_key=True, related_name="+")
    sealed_to = models.BigIntegerField(default=0, help_text="Views up to this id are counted in the cells.")
    closed = models.BigIntegerField(default=0, help_text="Buckets that end by this hour are merged into longer ones.")
    swept_at = models.DateTimeField(db_index=True, help_text="When old views were last removed.")
    token = models.BigIntegerField(
        default=0, help_text="Rises with each lease. The holder of an older lease cannot write."
    )
    leased_until = models.FloatField(default=0, help_text="Unix time.")

    class Meta:
        db_table = "analytics_projectseal"

    def __str__(self) -> str:
        return f"project {self.project_id}"


class UnsealedProject(models.Model):
    """A mark: the project may have views that are not sealed. See `analytics.counting.unsealed`."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")

    def __str__(self) -> str:
        return f"project {self.project_id}"


class _PackedCells(models.Model):
    """The packed cells of one bucket of time. See `analytics.counting.cells`."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False)
    span = models.PositiveSmallIntegerField(help_text="Hours.")
    start = models.PositiveIntegerField(help_text="Hours since 1970, UTC.")
    blob = models.BinaryField()

    class Meta:
        abstract = True

    def __str__(self) -> str:
        return f"{self.span} hours from {EPOCH + timedelta(hours=self.start):%Y-%m-%d %H:%M}"


_BUCKET = ("project", "span", "start")


class Cells(_PackedCells):
    """The cells of pages."""

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=_BUCKET, name="one_bucket_of_cells")]


class AudienceCells(_PackedCells):
    """The cells of audiences: their pages are keys of audiences."""

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=_BUCKET, name="one_bucket_of_audience_cells")]


class Trail(models.Model):
    """Which pages one visitor saw in which hours. The format of `sightings`: see `analytics.counting.visit_history`."""

    pk = models.CompositePrimaryKey("project", "visitor")
    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False)
    visitor = models.BigIntegerField()
    trimmed = models.PositiveIntegerField(help_text="Hour before which only the latest visits are kept.")
    sightings = models.BinaryField()

    def __str__(self) -> str:
        return f"{len(self.sightings) // 8} sightings"
