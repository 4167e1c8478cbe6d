"""SQLite's write-ahead log holds what was erased until it is emptied, also after its frames are in the database."""

import sqlite3
import time
from contextlib import closing

from django.db import connection

RETRY_SECONDS = 0.05


def empty(seconds: float = 0.0) -> bool:
    """Move the log into the database, and cut it to no bytes. Returns whether that was possible in so many seconds.

    It is not while a reader uses the log. Writers do not wait for that: each attempt gives up at once. PostgreSQL has
    no such log that a client could empty: True.
    """
    if connection.vendor != "sqlite":
        return True
    until = time.monotonic() + seconds
    name = str(connection.settings_dict["NAME"])
    with closing(sqlite3.connect(name, isolation_level=None, timeout=0)) as database:
        while not _is_emptied(database):
            if time.monotonic() >= until:
                return False
            time.sleep(RETRY_SECONDS)
    return True


def _is_emptied(database: sqlite3.Connection) -> bool:
    """Try it once. https://www.sqlite.org/pragma.html#pragma_wal_checkpoint"""
    try:
        database.execute("PRAGMA wal_checkpoint(PASSIVE)")  # moves most of the log, and holds up nobody
        (is_busy, _, _) = database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    except sqlite3.OperationalError:  # a connection that opens or closes has locked it, or the disk is full
        return False
    return not is_busy
