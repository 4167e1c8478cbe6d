"""Stored sources of pages, and the files of those that are pushed."""

from typing import ClassVar

from django.core.exceptions import ValidationError
from django.db import models

from docsite.core.access.readers import parse_groups
from docsite.core.background.leases import Leased
from docsite.core.tenants.models import Project
from search.sources.request import normalize_prefix


def validate_groups(text: str) -> None:
    """Refuse anything but the names of groups with commas between them."""
    try:
        parse_groups(text)
    except ValueError as wrong:
        raise ValidationError(f"This {wrong}.") from None


class Source(Leased):
    """Where some of a project's pages come from, stored to be read again, by hand or on schedule."""

    class Schedule(models.TextChoices):
        """How often a source is read."""

        NEVER = "", "Only by hand"
        HOURLY = "hour", "Every hour"
        DAILY = "day", "Every day"
        WEEKLY = "week", "Every week"

    class State(models.TextChoices):
        """The state of a source: its present run, or how its last run ended."""

        NEW = "new", "Never read"
        QUEUED = "queued", "Waiting"
        RUNNING = "running", "Being read"
        DONE = "done", "Read"
        FAILED = "failed", "Failed"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="sources")
    name = models.SlugField(
        max_length=50, help_text="The name that commands use for this source. Unique in the project."
    )
    location = models.CharField(
        max_length=1000,
        help_text="Address of a site, a sitemap, an llms.txt or llms-full.txt, or an OpenAPI document. Or the path of "
        "a folder, an archive or a file on the server that reads it.",
    )
    generator = models.CharField(
        max_length=20, blank=True, help_text="The generator of the site. Empty: detected from the files."
    )
    under = models.CharField(
        max_length=200, blank=True, help_text="The path below which its pages are, such as /api. Empty: /."
    )
    version = models.CharField(max_length=100, blank=True, help_text="For pages that name no version.")
    language = models.CharField(max_length=35, blank=True, help_text="For pages that name no language.")
    groups = models.CharField(
        max_length=1000,
        blank=True,
        default="",
        db_default="",
        validators=[validate_groups],
        help_text="Groups of readers, with commas. Only they see its pages that name no groups. Empty: everybody.",
    )
    schedule = models.CharField(max_length=4, choices=Schedule.choices, blank=True, default=Schedule.NEVER)
    by_command = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="`manage.py ingest` read it without a name. Its pages name no source, and only the command reads it "
        "again. A project has at most one such row; its name is empty.",
    )
    is_pushed = models.BooleanField(
        default=False,
        db_default=False,
        editable=False,
        help_text="Its owner sends it to `search.pushes`. The service never reads it by itself.",
    )
    state = models.CharField(max_length=7, choices=State.choices, default=State.NEW, editable=False)
    progress = models.CharField(max_length=200, blank=True, editable=False)
    error = models.TextField("last error", blank=True, editable=False)
    outcome = models.JSONField(default=dict, editable=False, help_text="Counts of the last run, and the skipped pages.")
    due_at = models.DateTimeField(null=True, editable=False, help_text="When it is due to be read next.")
    started_at = models.DateTimeField(null=True, editable=False)
    finished_at = models.DateTimeField(null=True, editable=False)
    read_at = models.DateTimeField(null=True, editable=False, help_text="When it was last read completely.")

    class Meta:
        ordering: ClassVar = ["project", "name"]
        constraints: ClassVar = [models.UniqueConstraint(fields=["project", "name"], name="one_source_a_name")]

    def __str__(self) -> str:
        return f"{self.name or 'what a command read'} of {self.project_id and self.project.domain}"

    @property
    def owns(self) -> models.Q:
        """The condition that a page or a redirect came from this source."""
        return models.Q(project=self.project_id, source=None if self.by_command else self.pk)

    @property
    def can_be_read(self) -> bool:
        """Whether the service knows its location, and can read it again by itself."""
        return not (self.by_command or self.is_pushed)

    def clean(self) -> None:
        """Normalize the path in `under`."""
        try:
            self.under = normalize_prefix(self.under)
        except ValueError as wrong:
            raise ValidationError({"under": str(wrong)}) from None


class PushedFile(models.Model):
    """A file of the last push of a source. The next push need not send it again."""

    source = models.ForeignKey(Source, on_delete=models.CASCADE, related_name="pushed_files")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the file, in hexadecimal.")
    content = models.BinaryField(help_text="The file, compressed by zlib.")

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["source", "digest"], name="one_pushed_file_a_digest")]

    def __str__(self) -> str:
        return self.digest
