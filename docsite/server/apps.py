"""The configuration of the app."""

from typing import Any

from django.apps import AppConfig
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.backends.signals import connection_created

from docsite.core import components, request_times
from docsite.core.postgresql import primary


class ServerConfig(AppConfig):
    """The commands that serve, and the checks at start-up."""

    name = "docsite.server"
    label = "server"

    def ready(self) -> None:
        """Register the checks. Measure the statements of each connection, and look at its server."""
        from docsite.server import checks  # noqa: F401  # registers itself

        components.register("docsite.server.components")
        connection_created.connect(_measure_statements)
        connection_created.connect(primary.look_at)


def _measure_statements(connection: BaseDatabaseWrapper, **kwargs: Any) -> None:
    if request_times.measure_statement not in connection.execute_wrappers:
        connection.execute_wrappers.append(request_times.measure_statement)
