"""Migrations on PostgreSQL wait for others, say for whom, and give up."""

from collections.abc import Callable

import psycopg
import pytest

from docsite.server.management.commands.migrate import _LOCK
from tests import scenarios
from tests.variants import first_of

pytestmark = pytest.mark.services


def test_two_migrations_at_once_both_succeed_on_postgresql(new_database: Callable[[str], dict[str, str]]) -> None:
    """The database that this one is a copy of was migrated so, else there would be none."""
    with psycopg.connect(new_database("twice")["DATABASE_URL"]) as connection:
        applied = connection.execute("SELECT app, name FROM django_migrations").fetchall()
    assert len(applied) == len(set(applied)) > 30, "each was applied once"


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("statement", "expected"),
    first_of(
        [
            (f"SELECT pg_advisory_xact_lock({_LOCK})", "another migrate, process {} of the database (holder, "),
            ("LOCK TABLE projects_invitation IN ACCESS SHARE MODE", "process {} of the database (holder, "),
        ],
        1,
    ),
)
def test_it_says_for_whom_it_waits_and_gives_up_on_postgresql(
    new_database: Callable[[str], dict[str, str]], statement: str, expected: str
) -> None:
    database = new_database("another" if "advisory" in statement else "locked")
    scenarios.manage(("migrate", "projects", "0001", "--verbosity=0"), database)
    with psycopg.connect(database["DATABASE_URL"], application_name="holder") as holder:
        holder.execute(statement)
        expected = expected.format(holder.info.backend_pid)
        result = scenarios.complete("migrate", "--wait=6", **database)
    assert result.returncode == 1, result.stdout
    assert f"Waits for {expected}" in result.stderr
    assert f"Gave up after 6 seconds: {expected}" in result.stderr
    assert statement[:60] in result.stderr
    assert "Traceback" not in result.stderr
    scenarios.migrate(database)
