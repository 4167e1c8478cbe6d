"""Carries the rows of a table to the other database, in steps that can be resumed."""

from collections.abc import Callable, Sequence
from typing import Any

from django.db import DataError, IntegrityError, transaction
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import BinaryField, Field, IntegerField, Model, QuerySet, Value
from django.db.models.functions import Coalesce, Length

from docsite.server.backup.rows import BackupError
from docsite.server.move import target as database

STEP_ROWS = 2_000
STEP_BYTES = 32 << 20  # of binary columns; a row may have megabytes


def copy(model: type[Model], target: BaseDatabaseWrapper, report: Callable[[int], None]) -> None:
    """Copy the rows that are not there yet, by primary key. Reports the number of rows after each step."""
    table = model._meta.db_table
    progress = database.load_progress(target, table)
    fields = list(model._meta.concrete_fields)
    names = [field.attname for field in fields]
    key_fields = [field for field in getattr(model._meta, "pk_fields", None) or [model._meta.pk] if field]
    places = [names.index(field.attname) for field in key_fields]
    binary = [field.attname for field in fields if isinstance(field, BinaryField)]
    all_rows = model._base_manager.order_by(*(field.attname for field in key_fields)).values_list(*names)
    while not progress["done"]:
        rows = all_rows
        if progress["key"] is not None:
            key = [field.to_python(value) for field, value in zip(key_fields, progress["key"], strict=True)]
            rows = rows.filter(pk__gt=tuple(key) if len(key) > 1 else key[0])
        size = count_rows(rows, binary)
        step = list(rows[:size])
        if step:
            progress["key"] = [step[-1][place] for place in places]
        progress |= {"rows": progress["rows"] + len(step), "done": len(step) < size}
        try:
            with transaction.atomic(using=database.ALIAS):
                _insert(target, table, fields, step)
                database.save_progress(target, table, progress)
        except (DataError, IntegrityError, ValueError) as failure:
            reason = str(failure).partition("\n")[0]
            raise BackupError(
                f"A row of {table} cannot be stored in the new database, among the {len(step)} up to "
                f"{progress['key']}: {reason}"
            ) from None
        report(progress["rows"])


def count_rows(rows: "QuerySet[Any, Any]", binary: Sequence[str]) -> int:
    """How many of these rows to copy in the next step: `STEP_ROWS`, or fewer.

    They are fewer if the first of them reach `STEP_BYTES` in their binary columns; the row that does so is included.
    """
    if not binary:
        return STEP_ROWS
    lengths = (Coalesce(Length(name, output_field=IntegerField()), 0) for name in binary)
    total = 0
    for count, (length,) in enumerate(rows.values_list(sum(lengths, Value(0)))[:STEP_ROWS], 1):
        total += length
        if total >= STEP_BYTES:
            return count
    return STEP_ROWS


def _insert(
    target: BaseDatabaseWrapper, table: str, fields: "list[Field[Any, Any]]", rows: list[tuple[Any, ...]]
) -> None:
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
