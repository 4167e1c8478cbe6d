"""The database that is moved, which nobody may write meanwhile."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager

from django.db import DatabaseError, InterfaceError, OperationalError, connection

from docsite.extras.database_copy.rows import BackupError

BUSY_SECONDS = 10.0
IN_USE = "The service writes to the database. Stop it, and try again."
LOCK_LOST = "The connection that kept others from writing is gone, so rows may have changed. Begin again."


@contextmanager
def hold() -> Iterator[None]:
    """Keep others from writing, while they may read. Raises `BackupError`, also if that ended too early."""
    if connection.vendor == "sqlite":
        file = str(connection.settings_dict["NAME"])
        with closing(sqlite3.connect(file, isolation_level=None, timeout=BUSY_SECONDS)) as holder:
            try:
                holder.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                raise BackupError(IN_USE) from None
            yield
    else:
        with closing(connection.copy()) as holder:
            holder.set_autocommit(False)
            with holder.cursor() as cursor:
                cursor.execute(f"SET LOCAL lock_timeout = '{BUSY_SECONDS:g}s'")
                tables = ", ".join(map(connection.ops.quote_name, connection.introspection.table_names()))
                try:
                    cursor.execute(f"LOCK TABLE {tables} IN SHARE MODE")
                except OperationalError:
                    raise BackupError(IN_USE) from None
                cursor.execute("SET LOCAL idle_in_transaction_session_timeout = 0")
                yield
                try:
                    cursor.execute("SELECT 1")
                except (InterfaceError, DatabaseError):
                    raise BackupError(LOCK_LOST) from None
