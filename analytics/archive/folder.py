"""The files of the archive: where they are, and how they are written, so that a crash leaves no half of a file.

Only `read` and `write` need pyarrow.
"""

import fcntl
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

Table = Any  # pyarrow has no types

LOCK_SECONDS, LOCK_STEP_SECONDS = 10.0, 0.05  # to wait for others who hold the folder; to look again
FILE_MODE, FOLDER_MODE = 0o640, 0o750  # whatever the umask of a unit or a shell: the group may read
_NAME = re.compile(r"(\d+)-(\d+)\.parquet")


class ArchiveError(Exception):
    """The archive cannot go on until an operator looks at it. The message is a sentence."""


@contextmanager
def lock(root: Path) -> Iterator[None]:
    """Lock the folder until the block ends: no other thread, process or host may then read or replace its files.

    The operating system releases the lock of a killed process. Raises OSError if the folder cannot be written or
    knows no locks, and `ArchiveError` if the folder is missing or others hold it for more than `LOCK_SECONDS`.
    """
    try:
        file = os.open(root / ".lock", os.O_RDWR | os.O_CREAT, FILE_MODE)
    except FileNotFoundError as failure:
        raise ArchiveError(f"There is no folder {root}. Mount it, or correct ARCHIVE_DIR") from failure
    try:
        if os.fstat(file).st_uid == os.geteuid():  # only its owner may
            os.fchmod(file, FILE_MODE)
        until = time.monotonic() + LOCK_SECONDS
        while not _try_lock(file):
            if time.monotonic() > until:
                raise ArchiveError(f"Others have worked in {root} for {LOCK_SECONDS:.0f} seconds. Wait for them")
            time.sleep(LOCK_STEP_SECONDS)
        yield
    finally:
        os.close(file)


def _try_lock(file: int) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def folder_of(root: Path, kind: str, project: str) -> Path:
    """The folder of a project's files: one key of hive partitioning, the project ID."""
    return root / kind / f"project={project}"


def path_of(root: Path, kind: str, project: str, first: int, last: int) -> Path:
    """The file of a range of ids."""
    return folder_of(root, kind, project) / f"{first}-{last}.parquet"


def list_files(root: Path, kind: str, project: str) -> list[tuple[int, int, Path]]:
    """First id, last id and path of each file of a project, in their order."""
    found = ((_NAME.fullmatch(path.name), path) for path in folder_of(root, kind, project).glob("*.parquet"))
    return sorted((int(match[1]), int(match[2]), path) for match, path in found if match)


def read(path: Path, columns: list[str] | None = None) -> Table:
    """The rows of a file. Raises `ArchiveError` if it is damaged, and OSError if the system cannot read it."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return pq.ParquetFile(path).read(columns)
    except (pa.ArrowException, OSError) as failure:
        # Of a damaged file, Arrow may also say OSError: then without a number, which every error of the system has.
        if isinstance(failure, OSError) and failure.errno is not None:
            raise
        raise ArchiveError(f"{path} cannot be read ({failure}). Move it out of the folder") from None


def write(path: Path, table: Table) -> None:
    """Write a file of rows, or replace it, so that it is whole whenever somebody looks. Raises OSError."""
    import pyarrow.parquet as pq

    rising = [name for name in ("id", "seen_at", "asked_at") if name in table.schema.names]  # with the rows
    _make_folder(path.parent)
    store(
        path,
        lambda file: pq.write_table(
            table,
            file,
            compression="zstd",
            use_dictionary=[name for name in table.schema.names if name not in rising],
            column_encoding=dict.fromkeys(rising, "DELTA_BINARY_PACKED"),
            write_page_index=True,
        ),
    )


def store(path: Path, write_to: Callable[[BinaryIO], object]) -> None:
    """Write a file, or replace it, so that it is whole whenever somebody looks. Raises OSError.

    The temporary name has no ending that readers look for. It is the same each time: what a killed process left is
    overwritten.
    """
    temporary = path.with_name(f".{path.name}.tmp")
    with temporary.open("wb") as file:
        os.fchmod(file.fileno(), FILE_MODE)
        write_to(file)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)
    _sync_folder(path.parent)


def _make_folder(folder: Path) -> None:
    """Make a folder in the root of the archive, which must be there: it may be a file system that is not mounted."""
    for made in (folder.parent, folder):
        if not made.is_dir():
            made.mkdir(FOLDER_MODE)
            if made.stat().st_mode & 0o777 != FOLDER_MODE:  # else leave it: chmod removes the bit for the group's id
                made.chmod(FOLDER_MODE)
            _sync_folder(made.parent)


def _sync_folder(folder: Path) -> None:
    """Let the names in a folder survive a failure of power."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
