"""`manage.py migrate`: Django's command, of which only one runs at a time. It says for whom it waits, and gives up."""

import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError, CommandParser, SystemCheckError
from django.core.management.commands import migrate
from django.db import DatabaseError, OperationalError, connection
from django.db.migrations.recorder import MigrationRecorder

from docsite.core import sql

RETRY_SECONDS = 0.2
WATCH_SECONDS = 2.0  # who holds a lock for so long is named
WAIT_SECONDS = 600.0
_LOCK = 0x316A7E  # of PostgreSQL's advisory locks
_LOCK_NOT_AVAILABLE, _DEADLOCK = "55P03", "40P01"  # PostgreSQL's codes
DEADLOCKS = 20  # with processes that go on working, after which it fails
_OLDER = ("projects", "0001_initial")  # the first of the migrations that there were before the first release
_REFUSAL = (
    "This database was made by a version before the first release, and this one cannot change its tables. Go on with "
    "that version, or begin anew: set DATA_DIR or DATABASE_URL to an empty place, and run `manage.py migrate`, "
    "`createproject` and `ingest`."
)
_GAVE_UP = "Gave up after {:g} seconds: {}. End that process, or wait for it, and run migrate again."
_ACTIVITY = (
    "SELECT format('process %%s of the database (%%s, %%s, in a transaction for %%s s): %%s', pid, "
    "coalesce(nullif(application_name, ''), 'no name'), coalesce(host(client_addr), 'this host'), "
    "round(extract(epoch FROM now() - xact_start)), left(query, 60)) FROM pg_stat_activity WHERE pid = ANY({})"
)
_BLOCKING = _ACTIVITY.format("pg_blocking_pids(%s)")
_MIGRATING = _ACTIVITY.format(
    "ARRAY(SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = %s AND granted "
    "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))"
)


class Command(migrate.Command):
    """Migrates, while no other process does."""

    def add_arguments(self, parser: CommandParser) -> None:
        """Add how long to wait."""
        super().add_arguments(parser)
        means = "seconds to wait for another process that migrates or uses a table (default: %(default)g)"
        parser.add_argument("--wait", type=float, default=WAIT_SECONDS, metavar="SECONDS", help=means)

    def execute(self, *args: Any, **options: Any) -> Any:
        """Wait for the lock, then check and migrate."""
        if not 0 <= options["wait"] <= 86_400:
            raise CommandError("argument --wait: write 0 to 86400 seconds")
        with _lock(self._tell, options["wait"]), _watch(self._tell, options["wait"]):
            return super().execute(*args, **options)

    def handle(self, *args: Any, **options: Any) -> None:
        """Migrate, unless the database cannot be."""
        if _OLDER in MigrationRecorder(connection).applied_migrations():
            raise CommandError(_REFUSAL)
        _let_file_shrink()
        for tries_left in reversed(range(DEADLOCKS)):
            try:
                super().handle(*args, **options)  # does what is left, since each migration is one transaction
            except OperationalError as failure:
                if getattr(failure.__cause__, "sqlstate", "") != _DEADLOCK or not tries_left:
                    raise
                self.stderr.write("A process that writes and a migration waited for each other. Tries again.")
                time.sleep(RETRY_SECONDS)
            else:
                return

    def _tell(self, holder: str) -> None:
        self.stderr.write(f"Waits for {holder}")


@contextmanager
def _watch(tell: Callable[[str], None], wait: float) -> Iterator[None]:
    """Name who holds a lock that a statement of the block waits for. Raises CommandError after `wait` seconds."""
    is_sqlite = connection.vendor == "sqlite"
    with connection.cursor() as cursor:
        # A pooler would hand the setting on to others.
        if is_sqlite or not connection.is_behind_pooler():  # type: ignore[attr-defined]  # of our backend
            setting = "PRAGMA busy_timeout" if is_sqlite else "SET lock_timeout"
            cursor.execute(f"{setting} = {int(max(wait, 1) * 1000)}")  # PostgreSQL takes 0 for no end
        own = 0 if is_sqlite else cursor.execute("SELECT pg_backend_pid()").fetchone()[0]
    holders: dict[str, str] = {}  # by the name of the process
    has_ended = threading.Event()

    def follow() -> None:
        before = ""
        while not (is_sqlite or has_ended.wait(WATCH_SECONDS)):  # SQLite does not say who writes
            holder = _ask(_BLOCKING, own)
            name = holder.partition(":")[0].partition(" (")[0]
            if name and name == before and name not in holders:
                holders[name] = holder
                tell(holder)
            before = name

    watcher = threading.Thread(target=follow, daemon=True)
    watcher.start()
    try:
        yield
    except (OperationalError, SystemCheckError) as failure:
        code = getattr(failure.__cause__, "sqlstate", "")
        # A locked SQLite seems to lack what Django asks it for.
        is_locked = is_sqlite and ("is locked" in str(failure) or "fields.E180" in str(failure))
        if is_locked or code == _LOCK_NOT_AVAILABLE:
            holder = next(reversed(holders.values()), "another process writes the database")
            raise CommandError(_GAVE_UP.format(wait, holder)) from None
        raise
    finally:
        has_ended.set()
        watcher.join()


def _ask(query: str, value: int) -> str:
    """Ask PostgreSQL about processes, by a connection of this thread's own."""
    with suppress(DatabaseError), closing(connection.copy()) as asking, asking.cursor() as cursor:
        cursor.execute(query, [value])
        return "; ".join(row[0] for row in cursor.fetchall())
    return ""


def _let_file_shrink() -> None:
    """Have SQLite list, in a new file, what to move when pages are free: see `docsite.core.sweeper.shrink_file`."""
    if connection.vendor == "sqlite" and not connection.introspection.table_names():
        sql.execute("PRAGMA auto_vacuum = INCREMENTAL")
        sql.execute("VACUUM")


@contextmanager
def _lock(tell: Callable[[str], None], wait: float) -> Iterator[None]:
    if connection.vendor == "sqlite":
        path = settings.DATA_DIR / "migrate.lock"
        path.touch(mode=0o600)
        with path.open("r+") as file:
            _retry(lambda: _try_file(file), lambda: f"process {path.read_text()}", tell, wait)
            file.truncate(0)
            file.write(str(os.getpid()))
            file.flush()
            yield
            if not connection.in_atomic_block:
                connection.close()  # the last one writes the log back, and the next process must not meet that
        return
    holder = connection.copy()  # in a transaction of its own, which works through a pooler, too
    try:
        holder.set_autocommit(False)
        with holder.cursor() as cursor:
            # Ask again and again: a statement that waits would hold up an index that is built without a lock.
            try_lock = "SELECT pg_try_advisory_xact_lock(%s)"
            _retry(lambda: cursor.execute(try_lock, [_LOCK]).fetchone()[0], lambda: _ask(_MIGRATING, _LOCK), tell, wait)
        yield
    finally:
        holder.close()


def _try_file(file: Any) -> bool:
    with suppress(BlockingIOError):
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return True
    return False


def _retry(try_: Callable[[], bool], describe: Callable[[], str], tell: Callable[[str], None], wait: float) -> None:
    """Try again until it succeeds. Says once for whom it waits; raises CommandError after `wait` seconds."""
    began, has_told = time.monotonic(), False
    while not try_():
        waited = time.monotonic() - began
        if waited > wait:
            raise CommandError(_GAVE_UP.format(wait, f"another migrate, {describe()} still runs"))
        if waited > WATCH_SECONDS and not has_told:
            has_told = True
            tell(f"another migrate, {describe()}")
        time.sleep(RETRY_SECONDS)
