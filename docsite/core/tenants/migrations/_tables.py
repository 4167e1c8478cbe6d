"""The creation of an app's tables as one operation of a migration."""

from collections.abc import Sequence
from typing import Any

from django.db.migrations.operations import CreateModel
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState


class CreateTables(Operation):
    """Creates models with the fields, indexes and constraints that follow them in the list.

    After a single operation Django builds all models anew that are related to its model: in a first `migrate`, two
    fifths of the time.
    """

    def __init__(self, operations: Sequence[Operation]) -> None:
        self.operations = operations

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Add the models to a state that has not built any."""
        vars(state).pop("apps", None)
        for operation in self.operations:
            operation.state_forwards(app_label, state)

    def database_forwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Create the tables, whole."""
        for model in self._list_models(app_label, schema_editor, to_state):
            schema_editor.create_model(model)

    def database_backwards(self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any) -> None:
        """Delete the tables."""
        for model in reversed(self._list_models(app_label, schema_editor, from_state)):
            schema_editor.delete_model(model)

    def _list_models(self, app_label: str, schema_editor: Any, state: Any) -> list[Any]:
        names = [operation.name for operation in self.operations if isinstance(operation, CreateModel)]
        models = [state.apps.get_model(app_label, name) for name in names]
        return [model for model in models if self.allow_migrate_model(schema_editor.connection.alias, model)]
