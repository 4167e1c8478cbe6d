"""Two migrations at once on PostgreSQL: one waits for the other."""

import psycopg
import pytest

from tests.docsite.server.test_migrate import migrate_twice_at_once

pytestmark = pytest.mark.services


def test_two_migrations_at_once_both_succeed_on_postgresql(postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as admin:
        admin.execute("CREATE DATABASE twice")
    migrate_twice_at_once({"DATABASE_URL": postgres.rpartition("/")[0] + "/twice"})
