"""While a database is moved nobody writes it, and what was written before the move is resumed is noticed."""

import sqlite3
from unittest import mock

import pytest
from django.conf import settings

from docsite.core.http.counters import CounterCache
from docsite.server.backup.rows import BackupError
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


def test_others_read_and_cannot_write_and_a_write_in_between_is_noticed(copy_database, tmp_path):
    database = copy_database(tmp_path)
    scenarios.run(hold_and_write, database)
    scenarios.run(refuse_a_row, database, tmp_path)


def test_a_table_comes_after_those_it_refers_to():
    models = list_models()
    for place, model in enumerate(models):
        for field in model._meta.concrete_fields:
            assert field.related_model in (None, model) or models.index(field.related_model) < place
