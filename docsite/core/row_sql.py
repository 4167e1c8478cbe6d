"""Read and write rows of a model in plain SQL, for what every question does.

The ORM builds each of its statements anew, which takes several times as long as the database does. Values are
converted as the fields of the model say, so both databases get what the ORM would write. No signals are sent.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, models

Row = TypeVar("Row", bound=models.Model)


def read_row(model: type[Row], column: str, value: int) -> Row | None:
    """The row with a value in a unique column; None if there is none."""
    database = connections[DEFAULT_DB_ALIAS]  # once: each use of Django's `connection` looks it up for the thread
    fields = _fields(model).values()
    names = ", ".join(database.ops.quote_name(field.column) for field in fields)
    with database.cursor() as cursor:
        cursor.execute(
            f"SELECT {names} FROM {database.ops.quote_name(model._meta.db_table)} "
            f"WHERE {database.ops.quote_name(column)} = %s",
            [value],
        )
        found = cursor.fetchone()
    if found is None:
        return None
    values = list(found)
    for position, field in enumerate(fields):
        expression = field.cached_col
        for convert in [*database.ops.get_db_converters(expression), *expression.get_db_converters(database)]:
            values[position] = convert(values[position], expression, database)
    return model.from_db(database.alias, [field.attname for field in fields], values)


def insert_rows(rows: Sequence[models.Model]) -> None:
    """Insert new rows of one model with one statement, and set their ids."""
    database = connections[DEFAULT_DB_ALIAS]
    fields = [field for field in _fields(type(rows[0])).values() if not field.primary_key]
    columns = ", ".join(database.ops.quote_name(field.column) for field in fields)
    marks = f"({', '.join(['%s'] * len(fields))})"
    with database.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {database.ops.quote_name(rows[0]._meta.db_table)} ({columns}) "
            f"VALUES {', '.join([marks] * len(rows))} RETURNING id",
            [field.get_db_prep_save(field.pre_save(row, add=True), database) for row in rows for field in fields],
        )
        for row, (pk,) in zip(rows, cursor.fetchall(), strict=True):  # `bulk_create` relies on this order, too
            row.pk = pk
            row._state.adding, row._state.db = False, database.alias


def update_rows(model: type[models.Model], where: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Set some fields, by name, in the rows whose fields have the values of `where`. A row that is gone stays so."""
    database = connections[DEFAULT_DB_ALIAS]
    fields = [_fields(model)[name] for name in (*values, *where)]
    parts = [f"{database.ops.quote_name(field.column)} = %s" for field in fields]
    changes, conditions = ", ".join(parts[: len(values)]), " AND ".join(parts[len(values) :])
    with database.cursor() as cursor:
        cursor.execute(
            f"UPDATE {database.ops.quote_name(model._meta.db_table)} SET {changes} WHERE {conditions}",
            [
                field.get_db_prep_save(value, database)
                for field, value in zip(fields, (*values.values(), *where.values()), strict=True)
            ],
        )


@cache
def _fields(model: type[models.Model]) -> "Mapping[str, models.Field[Any, Any]]":
    return {field.name: field for field in model._meta.concrete_fields}
