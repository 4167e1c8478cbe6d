"""The database that is moved, which nobody may write meanwhile."""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from django.db import DatabaseError, InterfaceError, OperationalError, connection

from docsite.server.backup.rows import BackupError

BUSY_SECONDS = 10.0
STATISTICS_SECONDS = 2.0  # in which PostgreSQL notes what a session wrote
IN_USE = "The service writes to the database. Stop it, and try again."
LOCK_LOST = (
    "The connection that kept others from writing is gone, so rows may have changed. Empty the new database, and begin "
    "again."
)


@contextmanager
def hold() -> Iterator[str]:
    """Keep others from writing, while they may read. Yields a text that any write changes. Raises `BackupError`."""
    if connection.vendor == "sqlite":
        with _hold_sqlite() as state:
            yield state
    else:
        with _hold_postgresql() as state:
            yield state


@contextmanager
def _hold_sqlite() -> Iterator[str]:
    file = Path(str(connection.settings_dict["NAME"]))
    log = file.with_name(f"{file.name}-wal")
    until = time.monotonic() + BUSY_SECONDS
    with closing(sqlite3.connect(file, isolation_level=None, timeout=BUSY_SECONDS)) as holder:
        try:
            while True:
                holder.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # then the file has all that was written
                holder.execute("BEGIN IMMEDIATE")
                if not log.exists() or not log.stat().st_size:
                    break
                holder.execute("ROLLBACK")
                if time.monotonic() > until:
                    raise BackupError(IN_USE)
                time.sleep(0.1)
        except sqlite3.OperationalError:
            raise BackupError(IN_USE) from None
        facts = file.stat()
        yield f"{facts.st_size} bytes, {facts.st_mtime_ns}"


@contextmanager
def _hold_postgresql() -> Iterator[str]:
    holder = connection.copy()
    try:
        holder.set_autocommit(False)
        with holder.cursor() as cursor:
            cursor.execute(f"SET LOCAL lock_timeout = '{BUSY_SECONDS:g}s'")
            quote = connection.ops.quote_name
            tables = ", ".join(quote(table) for table in connection.introspection.table_names())
            try:
                cursor.execute(f"LOCK TABLE {tables} IN SHARE MODE")
            except OperationalError:
                raise BackupError(IN_USE) from None
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
            time.sleep(STATISTICS_SECONDS)
            cursor.execute(
                "SELECT sum(n_tup_ins), sum(n_tup_upd), sum(n_tup_del) FROM pg_stat_user_tables "
                "WHERE schemaname = current_schema()"
            )
            yield " ".join(map(str, cursor.fetchone()))
            try:
                cursor.execute("SELECT 1")
            except (InterfaceError, DatabaseError):
                raise BackupError(LOCK_LOST) from None
    finally:
        holder.close()
