"""Two processes that start at once may both migrate: one waits for the other."""

import threading
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection
from django.db.migrations.recorder import MigrationRecorder

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


@pytest.mark.matrix
def test_two_migrations_at_once_both_succeed(tmp_path: Path) -> None:
    migrate_twice_at_once({"DATA_DIR": str(tmp_path)})
    assert (tmp_path / "migrate.lock").exists()


def test_a_database_from_before_the_first_release_is_refused_with_a_way_to_go_on(db):
    recorder = MigrationRecorder(connection)
    recorder.record_applied("projects", "0001_initial")
    try:
        with pytest.raises(CommandError, match=r"begin anew: set DATA_DIR or DATABASE_URL to an empty place"):
            call_command("migrate", verbosity=0)
    finally:
        recorder.record_unapplied("projects", "0001_initial")
