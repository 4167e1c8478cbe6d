"""Write the rows that wait into files, one range of ids after the other.

A range is stored before its file, and marked as written after it. While its latest range is not marked, a project gets
no other one. So whoever goes on after a crash, at whatever step, writes the same rows to the same name. The bound of a
range is an id below which no row can be committed any more, so no range lacks a row.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings
from django.utils import timezone

from analytics.archive import changes, folder, marker, rows
from analytics.archive.waiting import Waiting
from analytics.models import ArchivedRange
from docsite.core.background import collect_failures
from docsite.core.tenants.models import Project

Report = Callable[[str, int], object]


@dataclass(frozen=True)
class File:
    """A written file."""

    path: Path
    rows: int


def write_due(go_on: Callable[[], object] = lambda: True) -> None:
    """Make changed files again, then write what is due: full files, and at least one a day. Ends if `go_on` says so.

    Raises OSError and `folder.ArchiveError`: at once if the folder is gone or not ours, else after all other projects
    got their files.
    """
    for _ in _write(at_once=False):
        if not go_on():
            return


def write_waiting(report: Report) -> None:
    """Make changed files again, then write everything that waits. `report` gets the kind and rows of each file.

    Raises as `write_due` does.
    """
    for kind, file in _write(at_once=True):
        report(kind, file.rows)


def _write(*, at_once: bool) -> Iterator[tuple[str, File]]:
    """Yield the kind and the file after each file."""
    with marker.hold(Path(settings.ENV.archive_dir)):
        pass  # whoever has no folder learns it now, not when the first row is due
    with collect_failures(OSError, folder.ArchiveError) as part:
        with part():
            changes.apply_all()
        for project_id, project, kind in _list_sets():
            with part():
                while file := write_next(project_id, project, kind, at_once=at_once):
                    yield kind, file


def write_next(project_id: int, project: str, kind: str, *, at_once: bool = False) -> File | None:
    """Write the next file of a project, or the latest one if it is not complete. None if nothing is due.

    `at_once`: do not wait for more rows. Raises OSError and `folder.ArchiveError`.
    """
    root, latest = Path(settings.ENV.archive_dir), ArchivedRange.latest_of(project_id, kind)
    if _is_complete(latest) and not _is_due(rows.of(kind).find_waiting(project_id, latest), at_once=at_once):
        return None
    settled = rows.of(kind).find_settled(project_id)  # it may take seconds, in which others need the folder
    with marker.hold(root):
        wanted = ArchivedRange.latest_of(project_id, kind)  # another process may have written meanwhile
        if wanted is None or wanted.written_at:
            wanted = _plan(project_id, project, kind, wanted, settled, at_once=at_once)
        if wanted is None:
            return None
        path = folder.path_of(root, kind, project, wanted.first, wanted.last)
        table = rows.read(kind, project_id, wanted.first, wanted.last)
        folder.write(path, table)
        ArchivedRange.objects.filter(pk=wanted.pk).update(written_at=timezone.now())
        return File(path, len(table))


def _plan(
    project_id: int, project: str, kind: str, latest: ArchivedRange | None, settled: int, *, at_once: bool
) -> ArchivedRange | None:
    """Choose the next rows, with ids up to `settled`, and store their range; its file is written afterwards.

    Returns None if no file is due. The caller has locked the folder.
    """
    waiting = rows.of(kind).find_waiting(project_id, latest, settled)
    if waiting is None or not _is_due(waiting, at_once=at_once):
        return None
    root, first = Path(settings.ENV.archive_dir), latest.last + 1 if latest else 1
    if newer := [path for _, last, path in folder.list_files(root, kind, project) if last >= first]:
        raise folder.ArchiveError(
            f"{newer[0]} has ids that this database has not archived: the database was restored, or another service "
            "uses the folder. Move such files out of the folder"
        )
    marker.prepare()
    return marker.store_range(
        root,
        ArchivedRange(project_id=project_id, kind=kind, first=first, last=waiting.last, arrived_at=waiting.newest),
    )


def _is_complete(latest: ArchivedRange | None) -> bool:
    return latest is None or latest.written_at is not None


def _is_due(waiting: Waiting | None, *, at_once: bool) -> bool:
    return waiting is not None and (at_once or waiting.is_due(timezone.now()))


def _list_sets() -> list[tuple[int, str, str]]:
    projects = Project.objects.order_by("pk").values_list("pk", "project_id")
    return [(*project, kind) for project in projects for kind in ArchivedRange.Kind.values]
