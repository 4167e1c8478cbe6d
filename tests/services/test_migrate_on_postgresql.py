"""Two migrations at once on PostgreSQL: one waits for the other."""

import threading

import psycopg
import pytest

from tests import scenarios

pytestmark = pytest.mark.services


def test_two_migrations_at_once_both_succeed_on_postgresql(postgres: str) -> None:
    with psycopg.connect(postgres, autocommit=True) as admin:
        admin.execute("CREATE DATABASE twice")
    database = {"DATABASE_URL": postgres.rpartition("/")[0] + "/twice"}
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
