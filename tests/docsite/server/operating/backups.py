"""Rows for the tests of backups, in a SQLite database."""

import sqlite3
import threading
from contextlib import closing
from pathlib import Path


def add_counters(file: Path, number: int, first: int = 0) -> None:
    """Add rows in one transaction."""
    rows = [(f"backup-{key}", 1, 1e12) for key in range(first, first + number)]
    with closing(sqlite3.connect(file, timeout=10)) as database, database:
        database.executemany("INSERT INTO projects_counter (key, value, expires_at) VALUES (?, ?, ?)", rows)


def count_counters(file: Path) -> int:
    """How many there are."""
    with closing(sqlite3.connect(file)) as database:
        return int(database.execute("SELECT count(*) FROM projects_counter").fetchone()[0])


def write_without_end(file: Path, stop: threading.Event) -> None:
    """Add rows until the event is set."""
    first = 1_000_000
    while not stop.wait(0.002):
        add_counters(file, 20, first)
        first += 20


def damage(file: Path) -> None:
    """Take a row out of a copy."""
    with closing(sqlite3.connect(file)) as database, database:
        database.execute("DELETE FROM auth_permission WHERE id = (SELECT max(id) FROM auth_permission)")
