"""While a database is moved nobody writes it, and a move is all or nothing."""

import sqlite3
from contextlib import closing
from typing import Any
from unittest import mock

import pytest
from django.conf import settings

from docsite.core.http.counters import CounterCache
from docsite.extras.database_copy.move import copying, run, source
from docsite.extras.database_copy.move.run import list_models, move
from docsite.extras.database_copy.rows import BackupError
from tests import scenarios

pytestmark = pytest.mark.slow


def hold_and_write() -> None:
    """Others read a database that is held, and write it afterwards."""
    counters = CounterCache("projects_counter", {})
    counters.add("moved", 1, 60)
    with source.hold():
        other = sqlite3.connect(settings.DATABASES["default"]["NAME"], timeout=0, isolation_level=None)
        assert other.execute("SELECT count(*) FROM projects_counter").fetchone() == (1,)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("DELETE FROM projects_counter")
        other.close()
    counters.incr("moved")
    with pytest.raises(BackupError, match=r"/nowhere/new\.sqlite3 cannot be made: No such file or directory"):
        move("sqlite:////nowhere/new.sqlite3", print, print)
    with pytest.raises(BackupError, match="the database that the service uses"):
        move(f"sqlite:///{settings.DATABASES['default']['NAME']}", print, print)


def move_after_a_refusal(folder: str) -> None:
    """Move to a database that refuses a row, and again, while a number of rows is wrong, and then for good."""
    url = f"sqlite:///{folder}/new.sqlite3"
    insert = copying._insert

    def refuse_counters(target: Any, table: str, *rest: Any) -> None:
        if table == "projects_counter":
            raise ValueError("too long")
        insert(target, table, *rest)

    def count(table: str) -> int:
        with closing(sqlite3.connect(f"{folder}/new.sqlite3")) as new:
            return int(new.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

    refusal = r"A row of projects_counter cannot be stored .* from key \S*moved on: too long"
    with mock.patch.object(copying, "_insert", refuse_counters), pytest.raises(BackupError, match=refusal):
        move(url, bool, mock.Mock())
    with mock.patch.object(run, "compare", side_effect=BackupError("not complete")), pytest.raises(BackupError):
        move(url, bool, mock.Mock())  # after all rows are copied
    assert count("projects_counter") == 0
    made_by_migrations = count("auth_permission")
    assert made_by_migrations
    assert move(url, bool, mock.Mock())["projects_counter"] == count("projects_counter") == 1
    assert count("auth_permission") == made_by_migrations


@pytest.mark.matrix  # it migrates a database twice
def test_others_read_and_cannot_write_and_a_move_is_all_or_nothing(copy_database, tmp_path):
    database = copy_database(tmp_path)
    scenarios.run(hold_and_write, database)
    scenarios.run(move_after_a_refusal, database, tmp_path)


def test_a_table_comes_after_those_it_refers_to():
    models = list_models()
    for place, model in enumerate(models):
        for field in model._meta.concrete_fields:
            assert field.related_model in (None, model) or models.index(field.related_model) < place


def test_a_step_is_bounded_in_bytes_too(monkeypatch):
    """The larger the rows are, the fewer of them are copied in one step."""
    rows = [(number, bytes(size)) for number, size in enumerate((0, 800, 800, 800, 8))]

    def count() -> list[int]:
        return [len(step) for step in copying.split(rows)]

    assert count() == [5]
    for limit, expected in ((1000, [3, 2]), (100, [2, 1, 1, 1])):
        monkeypatch.setattr(copying, "STEP_BYTES", limit)
        assert count() == expected
    monkeypatch.setattr(copying, "STEP_ROWS", 2)
    assert [len(step) for step in copying.split((number,) for number in range(5))] == [2, 2, 1]
    assert list(copying.split([])) == []
