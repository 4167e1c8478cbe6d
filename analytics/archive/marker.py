"""The file `.archive` in the folder: it says of which database the files are.

A mount point without its file system is an empty folder, and so is a folder that only one host has. Files that are
written there are lost, and erasures find nothing to erase. So nobody works in a folder that has not our mark.
"""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import transaction
from django.utils import timezone

from analytics.archive import folder
from analytics.models import ArchiveChange, ArchivedRange, ArchiveFolder

NAME = ".archive"


@contextmanager
def hold(root: Path) -> Iterator[None]:
    """Lock the folder until the block ends. Raises OSError, and `folder.ArchiveError`, also if `check` refuses it."""
    with folder.lock(root):
        check(root)
        yield


def check(root: Path) -> None:
    """Raise `folder.ArchiveError` if the folder is not the one that this database archives to. Raises OSError."""
    _check(root, ArchiveFolder.objects.first())


@transaction.atomic
def store_range(root: Path, wanted: ArchivedRange) -> ArchivedRange:
    """Store a range of a file in this folder. The first one marks the folder. Raises as `check` does."""
    # While the row is locked, a host with a folder of its own waits here, and then lacks the mark. So does `forget`,
    # which then finds this range.
    known = ArchiveFolder.objects.select_for_update().first()
    _check(root, known)
    if known is None:
        raise folder.ArchiveError("The archive was forgotten at this moment")
    if known.marked_at is None:
        text = f"{known.mark}\n".encode()
        folder.store(root / NAME, lambda file: file.write(text))
        ArchiveFolder.objects.update(marked_at=timezone.now())
    wanted.save()
    return wanted


def prepare() -> None:
    """Choose the mark, if there is none. It is committed before it is in the folder."""
    ArchiveFolder.objects.get_or_create(pk=ArchiveFolder.ONLY, defaults={"mark": secrets.token_hex(16)})


@transaction.atomic
def forget() -> tuple[int, int]:
    """Delete what the database knows of the archive; the files stay as they are, and are not changed any more.

    Returns how many files there were, and how many erasures and deletions had not reached them yet.
    """
    ArchiveFolder.objects.all().delete()
    return ArchivedRange.objects.all().delete()[0], ArchiveChange.objects.all().delete()[0]


def _check(root: Path, known: ArchiveFolder | None) -> None:
    found = _read(root)
    if found is None and (known is None or known.marked_at is None):
        return
    if found is None:
        raise folder.ArchiveError(
            f"{root} lacks the file {NAME}, so it is not the folder of the archive. Mount that one, or name it in "
            "ARCHIVE_DIR, on every host. If its files are gone for good, run: manage.py archive --forget"
        )
    if known is None or found != known.mark:
        raise folder.ArchiveError(
            f"{root} has the archive of another database: the file {NAME} says so. Name the folder of this one in "
            "ARCHIVE_DIR, or an empty one if it has none"
        )


def _read(root: Path) -> str | None:
    try:
        return (root / NAME).read_text(errors="replace").strip()
    except FileNotFoundError:
        return None
