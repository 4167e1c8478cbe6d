"""`manage.py worker`: the work beside the requests, in a process of its own."""

import asyncio
import signal
import threading
from typing import Any

from assistant.sessions import model_rests
from docsite.core.tenants.management.base import ServiceCommand, check_migrations
from docsite.server import lifecycle, memory, telemetry
from docsite.server.health import descriptors


class Command(ServiceCommand):
    """Works until SIGINT or SIGTERM."""

    help = (
        "Read sources, count views, group questions, make vectors, send deliveries and delete old data, "
        "for processes that run `serve --no-background`."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        """Work."""
        check_migrations()
        end = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: end.set())
        descriptors.raise_limit()
        memory.start()
        telemetry.start()
        model_rests.share()
        lifecycle.start_background()
        self.stdout.write("Working. Ctrl-C or SIGTERM ends the work; the next worker goes on with it.")
        self.stdout.flush()
        end.wait()
        asyncio.run(lifecycle.stop_background())
        telemetry.stop()
