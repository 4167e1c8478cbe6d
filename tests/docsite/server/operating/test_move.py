"""While a database is moved nobody writes it, and what was written before the move is resumed is noticed."""

import json
import sqlite3
from pathlib import Path
from unittest import mock

import pytest
from django.conf import settings

from analytics.models import ViewKeys
from docsite.core.http.counters import CounterCache
from docsite.server.backup import folder as backup
from docsite.server.backup.rows import BackupError
from docsite.server.doctor import stores
from docsite.server.move import copying, source, target
from docsite.server.move.run import list_models, move
from tests import scenarios


def hold_and_write() -> None:
    """Hold the database, write to it, and hold it again."""
    counters = CounterCache("projects_counter", {})

    def read_state() -> str:
        with source.hold() as state:
            return state

    first = read_state()
    assert read_state() == first
    counters.add("moved", 1, 60)
    second = read_state()
    assert second != first
    assert read_state() == second
    with source.hold():
        other = sqlite3.connect(settings.DATABASES["default"]["NAME"], timeout=0, isolation_level=None)
        assert other.execute("SELECT count(*) FROM projects_counter").fetchone() == (1,)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("DELETE FROM projects_counter")
        other.close()
    with pytest.raises(BackupError, match=r"/nowhere/new\.sqlite3 cannot be made: No such file or directory"):
        move("sqlite:////nowhere/new.sqlite3", print, print)
    with pytest.raises(BackupError, match="the database that the service uses"):
        move(f"sqlite:///{settings.DATABASES['default']['NAME']}", print, print)


def refuse_a_row(folder: str) -> None:
    """Copy a table with a row that the new database does not take."""
    new = target.connect(f"sqlite:///{folder}/new.sqlite3")
    (model,) = (model for model in list_models() if model._meta.db_table == "django_content_type")
    target.begin(new, [], "state")
    with (
        mock.patch.object(copying, "_insert", side_effect=ValueError("too long")),
        pytest.raises(BackupError, match="A row of django_content_type cannot be stored"),
    ):
        copying.copy(model, new, print)
    assert target.load_progress(new, "django_content_type")["rows"] == 0
    with pytest.raises(BackupError, match="written since"):
        target.check_state(new, "another state")


def examine_a_part(folder: str) -> None:
    """Look at a database that has a part of the data, and try to restore a backup into it."""
    found = stores.check_database()
    assert "a move to it was interrupted" in found.fact
    assert "run movedatabase again" in found.advice
    saved = Path(folder) / "backup"
    saved.mkdir()
    facts = {"format": backup.FORMAT, "database": "sqlite", "key": backup._fingerprint()}
    (saved / backup.MANIFEST).write_text(json.dumps(facts))
    with pytest.raises(BackupError, match=r"A move to this database was interrupted\. .* empty this database first"):
        backup.load(saved)


def test_others_read_and_cannot_write_and_a_write_in_between_is_noticed(copy_database, tmp_path):
    database = copy_database(tmp_path)
    scenarios.run(hold_and_write, database)
    scenarios.run(refuse_a_row, database, tmp_path)
    scenarios.run(examine_a_part, database | {"DATABASE_URL": f"sqlite:///{tmp_path}/new.sqlite3"}, tmp_path)


def test_a_table_comes_after_those_it_refers_to():
    models = list_models()
    for place, model in enumerate(models):
        for field in model._meta.concrete_fields:
            assert field.related_model in (None, model) or models.index(field.related_model) < place


def test_a_step_is_bounded_in_bytes_too(make_project, monkeypatch):
    """The larger the rows are, the fewer of them are copied in one step."""
    project = make_project().project
    rows = ViewKeys.objects.order_by("pk").filter(project=project)
    ViewKeys.objects.bulk_create(ViewKeys(project=project, day=0, keys=bytes(size)) for size in (0, 800, 800, 800, 8))
    named = rows.values_list("id", "keys")
    assert copying.count_rows(named, ["keys"]) == copying.STEP_ROWS
    monkeypatch.setattr(copying, "STEP_BYTES", 1000)
    assert copying.count_rows(named, ["keys"]) == 3
    assert copying.count_rows(named.filter(pk__gt=named[2][0]), ["keys"]) == copying.STEP_ROWS
    monkeypatch.setattr(copying, "STEP_BYTES", 100)
    assert copying.count_rows(named, ["keys"]) == 2
    assert copying.count_rows(named.values_list("id"), []) == copying.STEP_ROWS
