"""What the archive holds: its folder, the ranges of ids of its files, and changes that the files lack.

See `analytics.archive`.
"""

from collections.abc import Iterable
from typing import ClassVar

from django.conf import settings
from django.db import models

from docsite.core.tenants.models import Project


class ArchiveFolder(models.Model):
    """The folder of the files. There is one row, or none while nothing was archived.

    The row is stored before the folder is marked. So a mark that no database knows is never our own.
    """

    ONLY = 1

    id = models.PositiveSmallIntegerField(primary_key=True, default=ONLY, editable=False)
    mark = models.CharField(max_length=32, help_text="What the file .archive in the folder says.")
    marked_at = models.DateTimeField(null=True, help_text="When that file was complete. Empty: it may be missing.")

    def __str__(self) -> str:
        return self.mark


class ArchivedRange(models.Model):
    """A range of ids whose rows are one file. The row is stored before the file, and never changes its range.

    The ranges of a project and kind follow each other without a gap. Only the latest may have no file yet.
    """

    class Kind(models.TextChoices):
        """What a file holds."""

        VIEWS = "views"
        QUESTIONS = "questions"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_index=False, related_name="+")
    kind = models.CharField(max_length=9, choices=Kind.choices)
    first = models.BigIntegerField(help_text="The range begins with this id, whether or not a row has it.")
    last = models.BigIntegerField(help_text="The id of its last row.")
    arrived_at = models.DateTimeField(help_text="When its last row was stored.")
    written_at = models.DateTimeField(null=True, help_text="When its file was complete. Empty: it is not.")

    class Meta:
        constraints: ClassVar = [models.UniqueConstraint(fields=["project", "kind", "first"], name="one_file_a_range")]

    def __str__(self) -> str:
        return f"{self.kind} {self.first}-{self.last}"

    @classmethod
    def latest_of(cls, project_id: int, kind: str) -> "ArchivedRange | None":
        """The range with the highest ids."""
        return cls.objects.filter(project=project_id, kind=kind).order_by("first").last()

    @classmethod
    def archived_to(cls, project_id: int, kind: str) -> int:
        """The id up to which every row of a project is in a complete file; 0 if none is."""
        latest = cls.latest_of(project_id, kind)
        if latest is None:
            return 0
        return latest.last if latest.written_at else latest.first - 1


class ArchiveChange(models.Model):
    """Rows of files that are no longer as the database has them: they were erased, deleted or redacted.

    It is stored in the transaction that changes the rows, and deleted when the files are changed, too.
    """

    EVERYTHING = ""

    # No constraint in the database: while a project is deleted, its conversations leave changes that nobody needs.
    project = models.ForeignKey(Project, on_delete=models.CASCADE, db_constraint=False, related_name="+")
    kind = models.CharField(max_length=9, choices=ArchivedRange.Kind.choices)
    value = models.CharField(
        max_length=40, blank=True, help_text="The visitor's hash, or the id of the conversation. Empty: all rows."
    )

    def __str__(self) -> str:
        return f"{self.kind} of {self.value or 'everybody'}"

    @classmethod
    def add(cls, project_id: int, kind: str, values: Iterable[str]) -> None:
        """Note that rows with these values have changed, if the project may have files of this kind.

        Call it before the rows change, in the same transaction: a file that is begun before that has them.
        """
        if settings.ENV.archive_dir or ArchivedRange.latest_of(project_id, kind):
            ArchiveChange.objects.bulk_create(
                ArchiveChange(project_id=project_id, kind=kind, value=value) for value in values
            )
