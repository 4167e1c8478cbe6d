"""The counters for new ids. They are carried over: no id is used twice, since counts refer to the last one."""

from django.db import connection
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import AutoField, Model


def load(models: list[type[Model]]) -> dict[str, int]:
    """The last id that each table of the source has given."""
    with connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("SELECT name, seq FROM sqlite_sequence")
            last = dict(cursor.fetchall())
            return {table: int(last.get(table, 0)) for table in _list_tables(models)}
        found = {}
        for table, column in _list_tables(models).items():
            quoted = connection.ops.quote_name(table)
            cursor.execute("SELECT pg_get_serial_sequence(%s, %s)", [quoted, column])
            (sequence,) = cursor.fetchone()
            cursor.execute(f"SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM {sequence}")
            found[table] = int(cursor.fetchone()[0])
        return found


def store(target: BaseDatabaseWrapper, models: list[type[Model]], last: dict[str, int]) -> None:
    """Let each table of the new database go on from there."""
    columns = _list_tables(models)
    with target.cursor() as cursor:
        for table, number in last.items():
            if target.vendor == "sqlite":
                cursor.execute("DELETE FROM sqlite_sequence WHERE name = %s", [table])
                if number:
                    cursor.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [table, number])
            else:
                quoted = target.ops.quote_name(table)
                cursor.execute(
                    "SELECT setval(pg_get_serial_sequence(%s, %s), %s, %s)",
                    [quoted, columns[table], max(number, 1), number > 0],
                )


def _list_tables(models: list[type[Model]]) -> dict[str, str]:
    """The column of the ids, by table."""
    keys = {model._meta.db_table: model._meta.pk for model in models}
    return {table: key.column for table, key in keys.items() if isinstance(key, AutoField)}
