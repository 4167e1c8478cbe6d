"""Plain SQL: single statements, and rows of a model for what every question does.

For what the ORM cannot say, and where it takes several times as long as the database does: it builds each statement
anew. All runs on the connection of this thread, unless another one is given. Values of rows are converted as the
fields of the model say, so both databases get what the ORM would write. No signals are sent.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeVar

from django.db import DEFAULT_DB_ALIAS, connections, models
from django.db.backends.base.base import BaseDatabaseWrapper

Values = Sequence[Any] | None  # of the placeholders `%s`
Row = TypeVar("Row", bound=models.Model)


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


def read_row(model: type[Row], column: str, value: int) -> Row | None:
    """The row with a value in a unique column; None if there is none."""
    database = connections[DEFAULT_DB_ALIAS]  # once: each use of Django's `connection` looks it up for the thread
    query, names, converters = _plan_read(model, column, database.vendor)
    found = fetch_one(query, [value], database)
    if found is None:
        return None
    values = list(found)
    for position, expression, convert in converters:
        values[position] = convert(values[position], expression, database)
    return model.from_db(database.alias, names, values)


def insert_rows(rows: Sequence[models.Model]) -> None:
    """Insert new rows of one model with one statement, and set their ids."""
    database = connections[DEFAULT_DB_ALIAS]
    query, fields = _plan_insert(type(rows[0]), len(rows))
    values = [_prepare(field, field.pre_save(row, True), database) for row in rows for field in fields]
    for row, (pk,) in zip(rows, fetch_all(query, values), strict=True):  # `bulk_create` relies on this order, too
        row.pk = pk
        row._state.adding, row._state.db = False, database.alias


def update_rows(model: type[models.Model], where: Mapping[str, Any], values: Mapping[str, Any]) -> None:
    """Set some fields, by name, in the rows whose fields have the values of `where`. A row that is gone stays so."""
    database = connections[DEFAULT_DB_ALIAS]
    query, fields = _plan_update(model, tuple(values), tuple(where))
    arguments = zip(fields, (*values.values(), *where.values()), strict=True)
    execute(query, [_prepare(field, value, database) for field, value in arguments])


def _prepare(field: "models.Field[Any, Any]", value: Any, database: BaseDatabaseWrapper) -> Any:
    """The value that the database gets for a field. Text and None, which are most values, need no conversion."""
    if value is None or (type(value) is str and isinstance(field, models.CharField | models.TextField)):
        return value
    return field.get_db_prep_save(value, database)


@cache
def _plan_read(
    model: type[models.Model], column: str, vendor: str
) -> tuple[str, list[str], list[tuple[int, Any, Callable[..., Any]]]]:
    """The query of `read_row`, the attributes of its columns, and what converts their values in this kind of database.

    A converter has the position of its column, and the expression that it wants.
    """
    database = connections[DEFAULT_DB_ALIAS]
    fields = _fields(model).values()
    converters = []
    for position, field in enumerate(fields):
        expression = field.cached_col
        for convert in [*database.ops.get_db_converters(expression), *expression.get_db_converters(database)]:
            converters.append((position, expression, convert))
    names = ", ".join(map(_quote, (field.column for field in fields)))
    query = f"SELECT {names} FROM {_quote(model._meta.db_table)} WHERE {_quote(column)} = %s"
    return query, [field.attname for field in fields], converters


@cache
def _plan_insert(model: type[models.Model], rows: int) -> "tuple[str, list[models.Field[Any, Any]]]":
    """The statement of `insert_rows` for so many rows, and the fields of its values."""
    fields = [field for field in _fields(model).values() if not field.primary_key]
    columns = ", ".join(map(_quote, (field.column for field in fields)))
    marks = ", ".join([f"({', '.join(['%s'] * len(fields))})"] * rows)
    return f"INSERT INTO {_quote(model._meta.db_table)} ({columns}) VALUES {marks} RETURNING id", fields


@cache
def _plan_update(
    model: type[models.Model], changed: tuple[str, ...], where: tuple[str, ...]
) -> "tuple[str, list[models.Field[Any, Any]]]":
    """The statement of `update_rows` for the fields of these names, and the fields of its values."""
    fields = [_fields(model)[name] for name in (*changed, *where)]
    parts = [f"{_quote(field.column)} = %s" for field in fields]
    changes, conditions = ", ".join(parts[: len(changed)]), " AND ".join(parts[len(changed) :])
    return f"UPDATE {_quote(model._meta.db_table)} SET {changes} WHERE {conditions}", fields


def _quote(name: str) -> str:
    return connections[DEFAULT_DB_ALIAS].ops.quote_name(name)


@cache
def _fields(model: type[models.Model]) -> "Mapping[str, models.Field[Any, Any]]":
    return {field.name: field for field in model._meta.concrete_fields}
