"""All data moves from SQLite to PostgreSQL, through kill -9 in the middle, and back."""

import json
import sqlite3
from contextlib import closing
from pathlib import Path

import psycopg
import pytest
from django.db import connection

from docsite.extras.database_copy.move import source
from docsite.extras.database_copy.move.copying import STEP_ROWS
from docsite.extras.database_copy.rows import BackupError
from tests import processes, scenarios
from tests.conftest import PATIENCE, wait_for
from tests.docsite.server.operating.backups import add_counters
from tests.ports import free_port
from tests.scenarios import environment

pytestmark = pytest.mark.services

ROWS = 3 * STEP_ROWS
DIFFERENT = {"django_migrations", "privacy_auditentry", "privacy_audithead"}  # when they ran, and each command
SAME_IN_PYTHON = ("{", "[")  # JSON, in which PostgreSQL sorts the keys


def dump(file: Path) -> dict[str, list[tuple]]:
    """All rows of a SQLite database, by table."""

    def normalize(value: object) -> object:
        if isinstance(value, str) and value.startswith(SAME_IN_PYTHON):
            return json.dumps(json.loads(value), sort_keys=True)
        return value

    with closing(sqlite3.connect(file)) as database:
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        found = {}
        for table in sorted({*tables} - DIFFERENT):
            columns = sorted(f'"{row[1]}"' for row in database.execute(f"PRAGMA table_info({table})"))
            rows = database.execute(f"SELECT {', '.join(columns)} FROM '{table}'")
            found[table] = sorted((tuple(map(normalize, row)) for row in rows), key=repr)
        found["sqlite_sequence"] = [row for row in found["sqlite_sequence"] if row[1] and row[0] not in DIFFERENT]
        return found


def kill_in_the_middle(url: str, old: dict[str, str], folder: Path) -> None:
    """Start the move and kill it while it copies the counters."""
    out, err = folder / "out", folder / "err"
    third_step = sorted(f"backup-{number}" for number in range(ROWS))[2 * STEP_ROWS]
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with psycopg.connect(url) as other, psycopg.connect(url, autocommit=True) as database:
        # The move waits here until it is known whether this row is stored.
        other.execute("INSERT INTO projects_counter (key, value, expires_at) VALUES (%s, 1, 1)", [third_step])
        process = processes.Process(processes.manage, ("movedatabase", url), environment(old), out, err)

        def waits_for_the_row() -> bool:
            if process.poll() is not None:
                pytest.fail(f"it has ended: {err.read_text()}")
            return bool(database.execute(waiting).fetchone()[0])

        wait_for(waits_for_the_row, "the counters to be copied")
        process.kill()
        process.wait(PATIENCE)
        other.rollback()
        for table in ("projects_counter", "projects_organization", "search_document"):
            assert database.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table


def lose_the_lock() -> None:
    """Lose the connection that keeps others from writing."""
    end_the_holder = (
        "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE mode = 'ShareLock' AND pid <> pg_backend_pid() "
        "AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) LIMIT 1"
    )
    with pytest.raises(BackupError, match="rows may have changed"), source.hold(), connection.cursor() as cursor:
        cursor.execute(end_the_holder)


def test_a_move_from_postgresql_fails_when_others_could_write(new_database) -> None:
    scenarios.run(lose_the_lock, new_database("unlocked"))


@pytest.mark.matrix
def test_sqlite_to_postgresql_and_back(copy_database, new_database, tmp_path: Path) -> None:
    old = copy_database(tmp_path)
    file = tmp_path / "db.sqlite3"
    scenarios.manage(("createproject", "moved", "--organization", "Moved", "--docs-url", "https://moved.example"), old)
    page = tmp_path / "docs" / "one.md"
    page.parent.mkdir()
    page.write_text("# One\n\nMore than enough to be found.\n")
    scenarios.manage(("ingest", "moved", str(page.parent)), old)
    add_counters(file, ROWS)
    with closing(sqlite3.connect(file)) as database, database:  # ids that were given and are gone
        database.execute("UPDATE sqlite_sequence SET seq = 900000 WHERE name = 'projects_project'")
    target = new_database("moved")
    url = target["DATABASE_URL"].replace("@", f"@127.0.0.1:{free_port()},")  # the first server is gone
    kill_in_the_middle(url, old, tmp_path)
    before = dump(file)
    printed = scenarios.manage(("movedatabase", url), old)
    assert "counted in both databases" in printed
    with psycopg.connect(url) as database:
        assert database.execute("SELECT last_value FROM projects_project_id_seq").fetchone() == (900_000,)
        assert database.execute("SELECT 1 FROM django_migrations WHERE app = 'analytics' AND name > '0002'").fetchone()
    new = {"DATABASE_URL": url, "DATA_DIR": old["DATA_DIR"]}
    assert "One" in scenarios.manage(("search", "moved", "enough to be found"), new)
    (tmp_path / "back").mkdir()
    copy_database(tmp_path / "back")  # with tables, and what migrations have put into them
    back = tmp_path / "back" / "db.sqlite3"
    scenarios.manage(("movedatabase", f"sqlite:///{back}"), new)
    after = dump(back)
    for table, rows in before.items():
        assert after[table] == rows, table
    assert back.stat().st_mode & 0o777 == 0o600
