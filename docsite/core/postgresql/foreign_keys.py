"""Foreign keys whose rows the database deletes itself."""

import time
from typing import Any

from django.db import OperationalError, migrations, transaction
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from docsite.core.postgresql.sqlstate import LOCK_NOT_AVAILABLE, find_sqlstate

LOCK_SECONDS = 2.0  # for which requests may wait behind this statement
PAUSE_SECONDS = 1.0
ATTEMPTS = 60
SUFFIX = "_replacement"  # of a new key until it takes the place of the old one


class CascadeInDatabase(migrations.RunPython):
    """Let PostgreSQL delete the rows that refer to a deleted row. The migration must not be atomic.

    Django deletes them by a statement before. A row that another transaction adds in between would make the deletion
    fail. SQLite has one writer at a time, so nothing changes there.

    Each key is added beside the old one, checked while others read and write, and then takes the place of the old one.
    After a crash the migration can run again. Raises OperationalError if others hold the tables for a minute.
    """

    def __init__(self, app: str, model: str, *fields: str) -> None:
        self._app, self._model, self._fields = app, model, fields
        super().__init__(self._add, self._take_back, elidable=False)

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        """What Django writes into a migration file to make this operation again: its name and arguments."""
        return type(self).__name__, [self._app, self._model, *self._fields], {}

    def _add(self, apps: Any, editor: BaseDatabaseSchemaEditor) -> None:
        self._replace(apps, editor, " ON DELETE CASCADE")

    def _take_back(self, apps: Any, editor: BaseDatabaseSchemaEditor) -> None:
        self._replace(apps, editor, "")

    def _replace(self, apps: Any, editor: BaseDatabaseSchemaEditor, on_delete: str) -> None:
        if editor.connection.vendor != "postgresql":
            return
        model = apps.get_model(self._app, self._model)
        quote = editor.connection.ops.quote_name
        table = f"ALTER TABLE {quote(model._meta.db_table)}"
        for field in map(model._meta.get_field, self._fields):
            names = editor._constraint_names(model, [field.column], foreign_key=True)  # type: ignore[attr-defined]
            (name,) = (name for name in names if not name.endswith(SUFFIX))  # a crash may have left a new one
            old, new = quote(name), quote(f"{name[:50]}{SUFFIX}")
            target = field.related_model._meta
            run_with_short_locks(
                editor,
                f"{table} DROP CONSTRAINT IF EXISTS {new}",
                f"{table} ADD CONSTRAINT {new} FOREIGN KEY ({quote(field.column)}) REFERENCES {quote(target.db_table)} "
                f"({quote(target.pk.column)}){on_delete} DEFERRABLE INITIALLY DEFERRED NOT VALID",
            )
            run_with_short_locks(editor, f"{table} VALIDATE CONSTRAINT {new}")
            run_with_short_locks(editor, f"{table} DROP CONSTRAINT {old}", f"{table} RENAME CONSTRAINT {new} TO {old}")


def run_with_short_locks(editor: BaseDatabaseSchemaEditor, *statements: str) -> None:
    """Run statements in a transaction that waits for its locks only briefly, again and again.

    Raises OperationalError if others hold the tables for a minute.
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with transaction.atomic(using=editor.connection.alias):
                editor.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS:g}s'")
                for statement in statements:
                    editor.execute(statement)
            return
        except OperationalError as failure:
            if find_sqlstate(failure) != LOCK_NOT_AVAILABLE or attempt == ATTEMPTS:
                raise
            time.sleep(PAUSE_SECONDS)
