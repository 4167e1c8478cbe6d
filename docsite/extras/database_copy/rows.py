"""The numbers of rows of a database, by table."""

from typing import Any


class BackupError(Exception):
    """A backup could not be made or restored. The message is for the operator."""


def count_rows(cursor: Any, tables: list[str]) -> dict[str, int]:
    """The number of rows of each table, read by any cursor of Python's database interface (PEP 249)."""
    counts = {}
    for table in sorted(tables):
        cursor.execute(f'SELECT count(*) FROM "{table}"')
        counts[table] = int(cursor.fetchone()[0])
    return counts


def compare(expected: dict[str, int], found: dict[str, int]) -> None:
    """Raise `BackupError` unless both have the same tables with the same numbers of rows."""
    for table in sorted({*expected, *found}):
        if expected.get(table) != found.get(table):
            raise BackupError(
                f"The copy is not complete: {table} has {found.get(table, 'no')} rows instead of "
                f"{expected.get(table, 'none')}."
            )
