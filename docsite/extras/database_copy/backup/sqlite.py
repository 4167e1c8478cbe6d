"""Copies a SQLite database by SQLite's own backup, which takes one state of it and lets others write."""

import sqlite3
from contextlib import closing
from pathlib import Path

from django.conf import settings
from django.db import connection

from docsite.extras.database_copy.rows import BackupError, compare, count_rows

FILE = "database.sqlite3"


def save(file: Path) -> dict[str, int]:
    """Write a copy and check it. Returns the number of rows of each table."""
    with closing(_open(_database())) as source, closing(_open(file)) as copy:
        source.execute("BEGIN")  # counts and copy see the same state
        counts = _count(source)
        source.backup(copy)
        copy.execute("PRAGMA journal_mode=DELETE")  # so that the copy is one file
        compare(counts, _count(copy))
        _check(copy)
    return counts


def load(file: Path) -> dict[str, int]:
    """Fill the empty database from a copy. Returns the number of rows of each table."""
    connection.close()
    with closing(_open(file)) as source, closing(_open(_database())) as target:
        source.backup(target)
        counts = _count(target)
        _check(target)
    return counts


def is_empty() -> bool:
    """Whether the database has no tables."""
    with closing(_open(_database())) as database:
        return not _count(database)


def _database() -> Path:
    return Path(settings.DATABASES["default"]["NAME"])


def _open(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(file, isolation_level=None, timeout=10)


def _count(database: sqlite3.Connection) -> dict[str, int]:
    tables = database.execute(
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!' "
        "AND sql NOT LIKE 'CREATE VIRTUAL%'"
    )
    return count_rows(database.cursor(), [name for (name,) in tables])


def _check(database: sqlite3.Connection) -> None:
    (result,) = database.execute("PRAGMA quick_check(1)").fetchone()
    if result != "ok":
        raise BackupError(f"The copy is damaged: {result}")
