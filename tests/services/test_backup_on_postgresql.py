"""A backup of PostgreSQL that is made while others write holds one state, and is restored row for row."""

import json
import threading
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from tests import scenarios
from tests.ports import free_port

pytestmark = pytest.mark.services


@pytest.mark.matrix
def test_a_backup_beside_a_writer_is_restored_row_for_row(
    new_database: Callable[..., dict[str, str]], tmp_path: Path
) -> None:
    old = {**new_database("saved"), "DATA_DIR": str(tmp_path / "saved")}
    new = {**new_database("restored", "template0"), "DATA_DIR": str(tmp_path / "restored")}
    stop = threading.Event()

    def write() -> None:
        insert = (
            "INSERT INTO projects_counter (key, value, expires_at) "
            "SELECT %s || n, 1, 1e12 FROM generate_series(1, 20) n"
        )
        with psycopg.connect(old["DATABASE_URL"], autocommit=True) as database:
            count = 0
            while not stop.wait(0.002):
                database.execute(insert, [f"backup-{count}-"])
                count += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        several = old["DATABASE_URL"].replace("@", f"@127.0.0.1:{free_port()},")  # the first one is gone
        scenarios.manage(("backup", str(tmp_path / "backup")), {**old, "DATABASE_URL": several})
    finally:
        stop.set()
        writer.join()
    saved = json.loads((tmp_path / "backup" / "manifest.json").read_text())["rows"]
    assert saved["projects_counter"] > 0
    assert "as many as were saved" in scenarios.manage(("restore", str(tmp_path / "backup")), new)
    with psycopg.connect(new["DATABASE_URL"]) as database:
        found = database.execute("SELECT count(*) FROM projects_counter").fetchone()
    assert found == (saved["projects_counter"],)
