"""Two migrations at once on PostgreSQL: one waits for the other."""

from collections.abc import Callable

import psycopg
import pytest

pytestmark = pytest.mark.services


def test_two_migrations_at_once_both_succeed_on_postgresql(new_database: Callable[[str], dict[str, str]]) -> None:
    """The database that this one is a copy of was migrated so, else there would be none."""
    with psycopg.connect(new_database("twice")["DATABASE_URL"]) as connection:
        applied = connection.execute("SELECT app, name FROM django_migrations").fetchall()
    assert len(applied) == len(set(applied)) > 30, "each was applied once"
