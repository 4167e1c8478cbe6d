"""Two processes that start at once may both migrate: one waits for the other."""

import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.core.management.commands.migrate import Command as DjangoCommand
from django.db import OperationalError, connection, migrations
from django.db.migrations.recorder import MigrationRecorder
from psycopg.errors import DeadlockDetected

from docsite.core.tenants.migrations._tables import CreateTables
from docsite.server.management.commands import migrate
from tests import scenarios


def migrate_twice_at_once(database: dict[str, str]) -> None:
    """Start two processes that migrate a new database. Both must succeed."""
    failures: list[BaseException] = []

    def migrate() -> None:
        try:
            scenarios.migrate(database)
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=migrate) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_the_creation_of_tables_names_them_and_takes_nothing_else() -> None:
    (tables,) = import_module("docsite.privacy.migrations.0001_tables").Migration.operations
    assert tables.formatted_description() == "? Create the tables AuditHead, AuditEntry"
    for other in (migrations.RunPython(print), migrations.RunSQL("SELECT 1"), migrations.DeleteModel("AuditHead")):
        with pytest.raises(TypeError, match="no part of a new table"):
            CreateTables([*tables.operations, other])


@pytest.mark.matrix
def test_two_migrations_at_once_both_succeed(tmp_path: Path) -> None:
    migrate_twice_at_once({"DATA_DIR": str(tmp_path)})
    assert (tmp_path / "migrate.lock").exists()


@contextmanager
def held(target: str, tmp_path: Path) -> Iterator[int]:
    """A process that holds the lock of migrations, or that writes to the database. Yields its id."""
    code = (
        "import fcntl, os, sqlite3, sys\n"
        "if sys.argv[1] == 'migrate':\n"
        "    file = open(sys.argv[2] + '/migrate.lock', 'w'); fcntl.flock(file, fcntl.LOCK_EX)\n"
        "    file.write(str(os.getpid())); file.flush()\n"
        "else:\n"
        "    kept = sqlite3.connect(sys.argv[2] + '/db.sqlite3', isolation_level=None)\n"
        "    kept.execute('BEGIN IMMEDIATE')\n"
        "print('ready', flush=True)\n"
        "sys.stdin.read()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, target, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout
    assert process.stdout.readline() == "ready\n"
    yield process.pid
    process.communicate("")


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("target", "expected"),
    [("migrate", "another migrate, process {}"), ("database", "another process writes the database")],
)
def test_it_says_for_whom_it_waits_and_gives_up(tmp_path: Path, copy_database: Any, target: str, expected: str) -> None:
    database = copy_database(tmp_path)
    scenarios.manage(("migrate", "projects", "0001", "--verbosity=0"), database)
    with held(target, tmp_path) as holder:
        result = scenarios.complete("migrate", "--wait=5", **database)
    assert result.returncode == 1, result.stdout
    assert f"Gave up after 5 seconds: {expected.format(holder)}" in result.stderr
    assert (f"Waits for {expected.format(holder)}" in result.stderr) is (target == "migrate"), (
        "SQLite does not say who writes"
    )
    assert "Traceback" not in result.stderr
    scenarios.migrate(database)


@pytest.mark.parametrize("wait", ["-1", "nan", "inf", "86401", "soon"])
def test_it_waits_for_a_day_at_most(wait: str) -> None:
    with pytest.raises(CommandError, match=r"argument --wait"):
        call_command("migrate", f"--wait={wait}")


def test_a_database_from_before_the_first_release_is_refused_with_a_way_to_go_on(db):
    recorder = MigrationRecorder(connection)
    recorder.record_applied("projects", "0001_initial")
    try:
        with pytest.raises(CommandError, match=r"begin anew: set DATA_DIR or DATABASE_URL to an empty place"):
            call_command("migrate", verbosity=0)
    finally:
        recorder.record_unapplied("projects", "0001_initial")


@pytest.mark.parametrize(("deadlocks", "is_done"), [(0, True), (2, True), (3, False)])
def test_a_migration_that_waits_in_a_circle_is_tried_again(
    monkeypatch: pytest.MonkeyPatch, deadlocks: int, is_done: bool
) -> None:
    runs = []

    def handle(*args: Any, **options: Any) -> None:
        runs.append(args)
        if len(runs) <= deadlocks:
            raise OperationalError("deadlock detected") from DeadlockDetected()

    monkeypatch.setattr(DjangoCommand, "handle", handle)
    monkeypatch.setattr(migrate, "RETRY_SECONDS", 0)
    monkeypatch.setattr(migrate, "DEADLOCKS", 3)
    with nullcontext() if is_done else pytest.raises(OperationalError):
        migrate.Command().handle()
    assert len(runs) == min(deadlocks + 1, 3)
