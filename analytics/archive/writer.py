"""Write the rows that wait into files, one range of ids after the other.

A range is stored before its file, and marked as written after it. While its latest range is not marked, a project gets
no other one. So whoever goes on after a crash, at whatever step, writes the same rows to the same name. The bound of a
range is an id below which no row can be committed any more, so no range lacks a row.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from django.conf import settings
from django.utils import timezone

from analytics.archive import changes
from analytics.models import ArchivedRange
from docsite.core.tenants.models import Project

Report = Callable[[str, int], object]


@dataclass(frozen=True)
class File:
    """A written file."""

    path: Path
    rows: int


def write_due(go_on: Callable[[], object] = lambda: True) -> None:
    """Make changed files again, then write what is due: full files, and at least one a day. Ends if `go_on` says so.

    Raises OSError if the folder or its disk fails, and `folder.ArchiveError` if files of a project are wrong, after
    the other projects got theirs.
    """
    for _ in _write(is_due=False):
        if not go_on():
            return


def write_waiting(report: Report) -> None:
    """Make changed files again, then write everything that waits. `report` gets the kind and rows of each file.

    Raises as `write_due` does.
    """
    for kind, file in _write(is_due=True):
        report(kind, file.rows)


def _write(*, is_due: bool) -> Iterator[tuple[str, File]]:
    """Yield the kind and the file after each file."""
    from analytics.archive import folder

    failures: list[folder.ArchiveError] = []
    try:
        changes.apply_all()
    except folder.ArchiveError as failure:
        failures.append(failure)
    for project_id, project, kind in _list_sets():
        try:
            while file := write_next(project_id, project, kind, is_due=is_due):
                yield kind, file
        except folder.ArchiveError as failure:
            failures.append(failure)
    if failures:
        raise failures[0]


def write_next(project_id: int, project: str, kind: str, *, is_due: bool = False) -> File | None:
    """Write the next file of a project, or the latest one if it is not complete. None if nothing is due.

    `is_due`: do not wait for more rows.
    """
    from analytics.archive import folder

    root, rows_of = Path(settings.ENV.archive_dir), _rows_of(kind)
    with folder.hold(root):
        wanted = ArchivedRange.latest_of(project_id, kind)
        if wanted is None or wanted.written_at:
            wanted = _plan(project_id, project, kind, wanted, is_due=is_due)
        if wanted is None:
            return None
        path = folder.path_of(root, kind, project, wanted.first, wanted.last)
        table = rows_of.read(project_id, wanted.first, wanted.last)
        folder.write(path, table)
        ArchivedRange.objects.filter(pk=wanted.pk).update(written_at=timezone.now())
        return File(path, len(table))


def _plan(
    project_id: int, project: str, kind: str, latest: ArchivedRange | None, *, is_due: bool
) -> ArchivedRange | None:
    """Store the range of the next file. None if nothing is due."""
    from analytics.archive import folder

    rows_of = _rows_of(kind)
    waiting = rows_of.find_waiting(project_id, latest)
    if waiting is None or not (is_due or waiting.is_due(timezone.now())):
        return None
    if (settled := rows_of.find_settled(project_id, latest)) is None:
        return None
    first = latest.last + 1 if latest else 1
    files = folder.list_files(Path(settings.ENV.archive_dir), kind, project)
    if newer := [path for _, last, path in files if last >= first]:
        raise folder.ArchiveError(
            f"{newer[0]} has ids that this database has not archived: the database was restored, or another service "
            "uses the folder. Move such files out of the folder"
        )
    return ArchivedRange.objects.create(
        project_id=project_id, kind=kind, first=first, last=settled.last, arrived_at=settled.newest
    )


def _list_sets() -> list[tuple[int, str, str]]:
    projects = Project.objects.order_by("pk").values_list("pk", "project_id")
    return [(*project, kind) for project in projects for kind in ArchivedRange.Kind.values]


def _rows_of(kind: str) -> ModuleType:
    from analytics.archive import questions, views

    return views if kind == ArchivedRange.Kind.VIEWS else questions
