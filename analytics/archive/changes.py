"""Erasures, deletions and redactions reach the files of the archive, too.

The transaction that changes rows stores an `ArchiveChange`. Then the files with such rows are made again: a changed row
is replaced by what the database has now, which is nothing if it was erased. The change is deleted after that, so it
survives a crash and a folder that is gone for a while.
"""

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db.models.signals import post_delete

from analytics.archive import folder, marker, rows
from analytics.models import ArchiveChange, ArchivedRange
from assistant.models import Thread
from docsite.core import availability, signals
from docsite.core.background import collect_failures
from docsite.core.tenants.models import Project

BATCH = 10_000  # changes of a project at once
LATER = {"archived rows: they follow as soon as the archive works": 0}  # of a receipt

_COLUMNS = {ArchivedRange.Kind.VIEWS: "visitor", ArchivedRange.Kind.QUESTIONS: "thread_id"}
logger = logging.getLogger(__name__)


def watch() -> None:
    """From now on, note conversations that are deleted or redacted, whether or not the archive is on at the moment."""
    post_delete.connect(_on_delete, sender=Thread, dispatch_uid="archive")
    signals.conversation_redacted.connect(_on_redaction, dispatch_uid="archive")


def apply_all() -> None:
    """Make the files again that lack changes.

    Raises OSError and `folder.ArchiveError`, the first one after all other files and projects got their changes.
    """
    ArchiveChange.objects.exclude(project__in=Project.objects.all()).delete()  # of projects that were deleted
    with collect_failures(OSError, folder.ArchiveError) as part:
        for project in Project.objects.filter(pk__in=ArchiveChange.objects.values("project")).order_by("pk"):
            with part():
                _apply(project)


def apply_after_erasure(project: Project) -> dict[str, int]:
    """Make the files of a project again at once. Returns what the receipt of an erasure says about it.

    If the archive does not work now, the background does it as soon as it works again. Raises nothing: what is erased
    must get its receipt.
    """
    if not ArchiveChange.objects.filter(project=project).exists():
        return {}
    if settings.ENV.archive_dir:
        try:
            return {"archived rows": _apply(project)}
        except (OSError, folder.ArchiveError) as failure:
            availability.archive.report_failure(str(failure))
        except Exception:
            logger.exception("The archive lacks an erasure. It is tried again.")
    return dict(LATER)


def _apply(project: Project) -> int:
    """Apply the changes of a project. Returns how many rows the files have lost.

    If a file fails, the others get the changes all the same. The changes stay, and the first failure is raised.
    """
    root, lost = Path(settings.ENV.archive_dir), 0
    while True:
        with marker.hold(root):
            changes = list(ArchiveChange.objects.filter(project=project).order_by("pk")[:BATCH])
            if not changes:
                return lost
            with collect_failures(OSError, folder.ArchiveError) as part:
                for kind in ArchivedRange.Kind:
                    values = {change.value for change in changes if change.kind == kind}
                    for first, last, path in folder.list_files(root, kind, project.project_id) if values else ():
                        with part():
                            lost += _refresh(project.pk, kind, values, (first, last), path)
            ArchiveChange.objects.filter(pk__in=[change.pk for change in changes]).delete()


def _refresh(project_id: int, kind: ArchivedRange.Kind, values: set[str], ids: tuple[int, int], path: Path) -> int:
    """Make a file again if it has rows with one of these values. Returns how many rows it lost."""
    import pyarrow as pa

    try:
        return _replace(project_id, kind, values, ids, path)
    except (pa.ArrowException, KeyError) as failure:
        reason = type(failure).__name__
        raise folder.ArchiveError(f"{path} has other columns ({reason}). Move it out of the folder") from failure


def _replace(project_id: int, kind: ArchivedRange.Kind, values: set[str], ids: tuple[int, int], path: Path) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc

    column = _COLUMNS[kind]
    keys = folder.read(path, [column])[column]
    is_changed = (
        pa.chunked_array([pa.repeat(True, len(keys))])
        if ArchiveChange.EVERYTHING in values
        else pc.is_in(keys, pa.array(sorted(values)).cast(keys.type))
    )
    if not pc.any(is_changed).as_py():
        return 0
    old, new = folder.read(path), rows.read(kind, project_id, *ids)
    replaced = new.filter(pc.is_in(new["id"], old.filter(is_changed)["id"]))
    table = pa.concat_tables([old.filter(pc.invert(is_changed)), replaced], promote_options="default").sort_by("id")
    folder.write(path, table)
    return len(old) - len(table)


def _on_delete(sender: type[Thread], instance: Thread, **kwargs: Any) -> None:
    if not instance.sample:  # those are in no file
        _add(instance.project_id, [instance.thread_id])


def _on_redaction(sender: Any, project_id: int, thread_id: str, **kwargs: Any) -> None:
    _add(project_id, [thread_id])


def _add(project_id: int, thread_ids: Iterable[str]) -> None:
    ArchiveChange.add(project_id, ArchivedRange.Kind.QUESTIONS, thread_ids)
