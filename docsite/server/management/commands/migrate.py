"""`manage.py migrate`: Django's command, of which only one runs at a time. Others wait, and then find nothing to do."""

import fcntl
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

RETRY_SECONDS = 0.2
_LOCK = 0x316A7E  # of PostgreSQL's advisory locks
_OLDER = ("projects", "0001_initial")  # the first of the migrations that there were before the first release
_REFUSAL = (
    "This database was made by a version before the first release, and this one cannot change its tables. Go on with "
    "that version, or begin anew: set DATA_DIR or DATABASE_URL to an empty place, and run `manage.py migrate`, "
    "`createproject` and `ingest`."
)


class Command(migrate.Command):
    """Migrates, while no other process does."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Wait for the lock, then migrate."""
        with _lock():
            if _OLDER in MigrationRecorder(connection).applied_migrations():
                raise CommandError(_REFUSAL)
            _let_file_shrink()
            super().handle(*args, **options)


def _let_file_shrink() -> None:
    """Have SQLite list, in a new file, what to move when pages are free: see `docsite.core.sweeper.shrink_file`."""
    if connection.vendor == "sqlite" and not connection.introspection.table_names():
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA auto_vacuum = INCREMENTAL")
            cursor.execute("VACUUM")


@contextmanager
def _lock() -> Iterator[None]:
    if connection.vendor == "sqlite":
        path = settings.DATA_DIR / "migrate.lock"
        path.touch(mode=0o600)
        with path.open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield
            if not connection.in_atomic_block:
                connection.close()  # the last one writes the log back, and the next process must not meet that
        return
    holder = connection.copy()  # in a transaction of its own, which works through a pooler, too
    try:
        holder.set_autocommit(False)
        with holder.cursor() as cursor:
            # Ask again and again: a statement that waits would hold up an index that is built without a lock.
            while not cursor.execute("SELECT pg_try_advisory_xact_lock(%s)", [_LOCK]).fetchone()[0]:
                time.sleep(RETRY_SECONDS)
        yield
    finally:
        holder.close()
