"""A backup that is made while the service writes can be restored, and is checked by counting rows."""

import json
import sqlite3
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from tests import scenarios
from tests.docsite.server.operating.backups import add_counters, count_counters, damage, write_without_end


@pytest.mark.slow
def test_a_backup_of_sqlite_beside_a_writer_is_restored_row_for_row(tmp_path: Path, copy_database: Any) -> None:
    old, new, backup = tmp_path / "old", tmp_path / "new", tmp_path / "backup"
    old.mkdir()
    database = copy_database(old)
    add_counters(old / "db.sqlite3", 5_000)
    stop = threading.Event()
    writer = threading.Thread(target=write_without_end, args=(old / "db.sqlite3", stop))
    writer.start()
    try:
        printed = scenarios.manage(("backup", str(backup)), database)
    finally:
        stop.set()
        writer.join()
    manifest = json.loads((backup / "manifest.json").read_text())
    saved = manifest["rows"]["projects_counter"]
    assert f"{sum(manifest['rows'].values()):,} rows" in printed
    assert saved >= 5_000
    assert {stat.S_IMODE(file.stat().st_mode) for file in backup.iterdir()} == {0o600}
    assert stat.S_IMODE(backup.stat().st_mode) == 0o700
    assert "as many as were saved" in scenarios.manage(("restore", str(backup)), {"DATA_DIR": str(new)})
    assert count_counters(new / "db.sqlite3") == saved
    assert (new / "secret_key").read_text() == (old / "secret_key").read_text()
    assert sqlite3.connect(new / "db.sqlite3").execute("SELECT 1 FROM django_migrations").fetchone()


@pytest.mark.matrix
def test_a_restore_overwrites_nothing_and_finds_missing_rows(tmp_path: Path, copy_database: Any) -> None:
    old, backup = tmp_path / "old", tmp_path / "backup"
    old.mkdir()
    database = copy_database(old)
    scenarios.manage(("backup", str(backup)), database)

    def refuse(*arguments: object, folder: str = "new", **more: str) -> str:
        result = scenarios.complete(*arguments, DATABASE_URL="", DATA_DIR=str(tmp_path / folder), **more)
        assert result.returncode == 1
        return result.stderr

    assert "exists. Name a new folder." in refuse("backup", backup, folder="old")
    assert "The database is not empty." in refuse("restore", backup, folder="old")
    assert "is no backup" in refuse("restore", tmp_path)
    assert "SECRET_KEY is not that of the backup" in refuse("restore", backup, SECRET_KEY="x" * 50)
    damage(backup / "database.sqlite3")
    assert "The copy is not complete: auth_permission has" in refuse("restore", backup)
