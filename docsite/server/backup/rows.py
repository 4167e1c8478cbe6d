"""The numbers of rows of a database, by table."""

from collections.abc import Callable
from typing import Any


class BackupError(Exception):
    """A backup could not be made or restored. The message is for the operator."""


def count_rows(tables: list[str], fetch: Callable[[str], Any]) -> dict[str, int]:
    """The number of rows of each table. `fetch` runs a statement and returns its only value."""
    return {table: int(fetch(f'SELECT count(*) FROM "{table}"')) for table in sorted(tables)}


def compare(expected: dict[str, int], found: dict[str, int]) -> None:
    """Raise `BackupError` unless both have the same tables with the same numbers of rows."""
    for table in sorted({*expected, *found}):
        if expected.get(table) != found.get(table):
            raise BackupError(
                f"The copy is not complete: {table} has {found.get(table, 'no')} rows instead of "
                f"{expected.get(table, 'none')}."
            )
