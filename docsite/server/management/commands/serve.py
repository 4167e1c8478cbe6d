"""`manage.py serve`: Daphne with this service's settings."""

from typing import Any

from django.conf import settings
from django.core.management.base import CommandParser

from assistant.upstream import model_status
from docsite.core.tenants.management.base import ServiceCommand, check_migrations, port
from docsite.core.workspace.people import first_account
from docsite.server.health import descriptors


class Command(ServiceCommand):
    """Serves until Ctrl-C."""

    help = "Serve the site, the API and the sockets with Daphne."

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the address to listen on, and who does the work beside the requests."""
        parser.add_argument("--host", default="127.0.0.1")
        parser.add_argument("--port", type=port, default=settings.ENV.port)
        parser.add_argument(
            "--no-background", action="store_true", help="Leave sources, counts and deliveries to `manage.py worker`."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Serve."""
        from docsite.server.daphne import check_address, serve

        host, port = options["host"], options["port"]
        check_migrations()
        descriptors.raise_limit()
        check_address(host, port)
        lines = f"Answers: {model_status.describe()}\nReady: http://{host}:{port}/"
        if first_account.is_missing():
            lines = f"No account yet: open /first-account, with the code {first_account.build_code()}\n{lines}"
        serve(host, port, lambda: self.stdout.write(lines), with_background=not options["no_background"])
