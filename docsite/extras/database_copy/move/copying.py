"""Carries the rows of a table to the other database."""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.db import DataError, IntegrityError
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BinaryField, Field, Model

from docsite.extras.database_copy.rows import BackupError

STEP_ROWS = 2_000
STEP_BYTES = 32 << 20  # of binary columns; a row may have megabytes

Row = tuple[Any, ...]


def copy(model: type[Model], target: BaseDatabaseWrapper, report: Callable[[int], None]) -> None:
    """Copy all rows. Reports the number of rows after each step. Raises `BackupError` for a row that does not fit."""
    table, fields = model._meta.db_table, list(model._meta.concrete_fields)
    is_binary = any(isinstance(field, BinaryField) for field in fields)
    rows = model._base_manager.order_by("pk").values_list(*(field.attname for field in fields))
    copied = 0
    for step in split(rows.iterator(1 if is_binary else STEP_ROWS)):
        try:
            _insert(target, table, fields, step)
        except (DataError, IntegrityError, ValueError) as failure:
            reason = str(failure).partition("\n")[0]
            raise BackupError(
                f"A row of {table} cannot be stored in the new database, among the {len(step)} from "
                f"{fields[0].column} {step[0][0]} on: {reason}"
            ) from None
        copied += len(step)
        report(copied)


def split(rows: Iterable[Row]) -> Iterator[list[Row]]:
    """The rows in steps of `STEP_ROWS`, or of fewer that reach `STEP_BYTES` in their binary columns."""
    step: list[Row] = []
    size = 0
    for row in rows:
        step.append(row)
        size += sum(len(value) for value in row if isinstance(value, bytes | memoryview))
        if len(step) == STEP_ROWS or size >= STEP_BYTES:
            yield step
            step, size = [], 0
    if step:
        yield step


def _insert(target: BaseDatabaseWrapper, table: str, fields: "list[Field[Any, Any]]", rows: list[Row]) -> None:
    quote = target.ops.quote_name
    into = f"{quote(table)} ({', '.join(quote(field.column) for field in fields)})"
    prepared = [
        [field.get_db_prep_save(value, target) for field, value in zip(fields, row, strict=True)] for row in rows
    ]
    with target.cursor() as cursor:
        if target.vendor == "postgresql":
            with cursor.cursor.copy(f"COPY {into} FROM STDIN") as copy:
                for row in prepared:
                    copy.write_row(row)
        else:
            cursor.executemany(f"INSERT INTO {into} VALUES ({', '.join(['%s'] * len(fields))})", prepared)
