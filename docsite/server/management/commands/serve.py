"""`manage.py serve`: Daphne with this service's settings."""

from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from assistant import model_status
from docsite.core.tenants.management.base import ServiceCommand, port
from docsite.server import descriptors


class Command(ServiceCommand):
    """Serves until Ctrl-C."""

    help = "Serve the site, the API and the sockets with Daphne."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the address to listen on."""
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=port, default=8000)

    def handle(self, *args: Any, **options: Any) -> None:
        """Serve."""
        from docsite.server.daphne import check_address, serve

        host, port = options["host"], options["port"]
        descriptors.raise_limit()
        executor = MigrationExecutor(connection)
        if executor.migration_plan(executor.loader.graph.leaf_nodes()):
            raise CommandError("The database is behind the code. Run first: python manage.py migrate")
        try:
            check_address(host, port)
        except OSError as failure:
            raise CommandError(f"{host}:{port}: {failure.strerror}. Choose another --port.") from None
        serve(host, port, lambda: self._print(f"Answers: {model_status.describe()}\nReady: http://{host}:{port}/"))

    def _print(self, line: str) -> None:
        self.stdout.write(line)
        self.stdout.flush()  # whoever started us may be waiting for it in a pipe
