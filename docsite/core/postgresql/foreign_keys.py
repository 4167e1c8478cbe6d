"""Foreign keys whose rows the database deletes itself."""

from typing import Any

from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


class CascadeInDatabase(migrations.RunPython):
    """Let PostgreSQL delete the rows that refer to a deleted row. An earlier migration must have made the table.

    Django deletes them by a statement before. A row that another transaction adds in between would make the deletion
    fail. SQLite has one writer at a time, so nothing changes there.
    """

    def __init__(self, app: str, model: str, *fields: str) -> None:
        self._app, self._model, self._fields = app, model, fields
        super().__init__(self._replace, migrations.RunPython.noop, elidable=False)

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        """What Django writes into a migration file to make this operation again: its name and arguments."""
        return type(self).__name__, [self._app, self._model, *self._fields], {}

    def _replace(self, apps: Any, editor: BaseDatabaseSchemaEditor) -> None:
        if editor.connection.vendor != "postgresql":
            return
        model = apps.get_model(self._app, self._model)
        quote = editor.connection.ops.quote_name
        for field in map(model._meta.get_field, self._fields):
            (name,) = editor._constraint_names(model, [field.column], foreign_key=True)  # type: ignore[attr-defined]
            target = field.related_model._meta
            editor.execute(
                f"ALTER TABLE {quote(model._meta.db_table)} DROP CONSTRAINT {quote(name)}, "
                f"ADD CONSTRAINT {quote(name)} FOREIGN KEY ({quote(field.column)}) REFERENCES {quote(target.db_table)} "
                f"({quote(target.pk.column)}) ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED"
            )
