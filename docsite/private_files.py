"""Files and folders that only their owner may read."""

import contextlib
import os
import stat
from pathlib import Path


def protect_database(file: Path) -> None:
    """Let only the owner read a SQLite database. It is created here if it is missing, since SQLite would let all read.

    SQLite gives its other files the mode of the database.
    """
    with contextlib.suppress(OSError):  # SQLite will say what is wrong
        if not file.exists():
            file.touch(mode=0o600)
        for existing in (file, file.with_name(f"{file.name}-wal"), file.with_name(f"{file.name}-shm")):
            if existing.exists():
                restrict(existing, 0o600)


def restrict(path: Path, mode: int) -> None:
    """Take away the rights that `mode` does not give. Another user's file stays as it is."""
    facts = path.stat()
    if facts.st_uid == os.geteuid() and stat.S_IMODE(facts.st_mode) & ~mode:
        path.chmod(stat.S_IMODE(facts.st_mode) & mode)
