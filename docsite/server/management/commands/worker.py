"""`manage.py worker`: the work beside the requests, in a process of its own."""

import asyncio
import signal
import threading
from typing import Any

from django.core.management.base import CommandParser

from docsite.core.tenants.management.base import ServiceCommand, check_migrations, port
from docsite.server import lifecycle
from docsite.server.health import descriptors


class Command(ServiceCommand):
    """Works until SIGINT or SIGTERM."""

    help = (
        "Read sources, count views, group questions, make vectors, send deliveries and delete old data, "
        "for processes that run `serve --no-background`."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the address to listen on."""
        parser.add_argument("--host", default="127.0.0.1", help="The address to listen on with --port.")
        parser.add_argument("--port", type=port, help="Answer /health/live, /health/ready and /metrics on this port.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Work."""
        from docsite.server.daphne import check_address, serve_probes

        host, port = options["host"], options["port"]
        check_migrations()
        descriptors.raise_limit()
        if port:
            check_address(host, port)
        lifecycle.start_components()
        lifecycle.start_background()
        if port:
            serve_probes(host, port, self._report)
        else:
            self._wait()

    def _wait(self) -> None:
        end = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: end.set())
        self._report()
        end.wait()
        asyncio.run(lifecycle.stop())

    def _report(self) -> None:
        self.stdout.write("Working. Ctrl-C or SIGTERM ends the work; the next worker goes on with it.")
