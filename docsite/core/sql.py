"""Run one statement in plain SQL: what the ORM cannot say, or takes several times as long for as the database does.

It runs on the connection of this thread, unless another one is given.
"""

from collections.abc import Sequence
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper

Values = Sequence[Any] | None  # of the placeholders `%s`


def execute(statement: str, values: Values = None, database: BaseDatabaseWrapper | None = None) -> int:
    """Run a statement. Returns how many rows it wrote."""
    with (database or connections[DEFAULT_DB_ALIAS]).cursor() as cursor:
        cursor.execute(statement, values)
        return int(cursor.rowcount)


def fetch_all(query: str, values: Values = None, database: BaseDatabaseWrapper | None = None) -> list[Any]:
    """The rows that a query finds, as tuples."""
    with (database or connections[DEFAULT_DB_ALIAS]).cursor() as cursor:
        cursor.execute(query, values)
        return list(cursor.fetchall())


def fetch_one(query: str, values: Values = None, database: BaseDatabaseWrapper | None = None) -> Any:
    """The first row that a query finds, as a tuple; None without one."""
    with (database or connections[DEFAULT_DB_ALIAS]).cursor() as cursor:
        cursor.execute(query, values)
        return cursor.fetchone()


def fetch_value(query: str, values: Values = None, database: BaseDatabaseWrapper | None = None) -> Any:
    """The first value of the first row, which a query finds in any case."""
    return fetch_one(query, values, database)[0]
