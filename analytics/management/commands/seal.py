"""`manage.py seal`: count new views into cells, once or continuously."""

import signal
import time
from types import FrameType
from typing import Any

from django.core.management.base import CommandParser
from django.db import InterfaceError, OperationalError, close_old_connections

from analytics.counting import sealer, sweeper
from docsite.core.tenants.management.base import ServiceCommand

WATCH_SECONDS = 2.0
SHOW_SECONDS = 1.0


class Stopped(Exception):
    """SIGINT or SIGTERM came, and the current step is done."""


class Command(ServiceCommand):
    """Seals as a serving process does, for owners who want a separate process for it."""

    help = (
        "Seal new views: count them into the cells that reports read. Every serving process does this by itself. This "
        "command does it now, or in a separate process."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add whether to continue."""
        parser.add_argument("--watch", action="store_true", help="continue until SIGINT or SIGTERM; sweep once a day")

    def handle(self, *args: Any, **options: Any) -> None:
        """Seal, and print what was done."""
        self.began = self.shown_at = time.monotonic()
        self.views = 0
        self.stopped = False
        if options["watch"]:
            signal.signal(signal.SIGINT, self.stop)
            signal.signal(signal.SIGTERM, self.stop)
        try:
            sealer.seal(timeout=float("inf"), progress=self.progress)
            self.show(f"Sealed {self.describe_progress()}.")
            if options["watch"]:
                self.watch()
            else:
                self.show("To seal continuously: manage.py seal --watch")
        except Stopped:
            self.show(f"Stopped. {self.views:,} views were sealed.")

    def watch(self) -> None:
        """Seal and sweep until told to stop."""
        self.show(f"Sealing every {WATCH_SECONDS:g} s until Ctrl-C or SIGTERM.")
        self.shown_at = float("inf")  # no line for each step: the log would grow for years
        while True:
            self.rest()
            close_old_connections()
            try:
                sealer.seal(timeout=WATCH_SECONDS, progress=self.progress)
                sweeper.sweep()
            except (OperationalError, InterfaceError) as failure:  # for example during a restart of the database
                self.stderr.write(self.style.WARNING(f"The database cannot be used: {' '.join(str(failure).split())}"))

    def rest(self) -> None:
        """Wait WATCH_SECONDS, or raise Stopped."""
        until = time.monotonic() + WATCH_SECONDS
        while time.monotonic() < until:
            if self.stopped:
                raise Stopped
            time.sleep(0.1)

    def progress(self, views: int) -> None:
        """After each step: print the progress, or raise Stopped after a signal."""
        self.views += views
        if self.stopped:
            raise Stopped
        if time.monotonic() > self.shown_at + SHOW_SECONDS:
            self.shown_at = time.monotonic()
            self.show(f"  {self.describe_progress()}")

    def describe_progress(self) -> str:
        """The number of views so far, and the speed."""
        seconds = time.monotonic() - self.began
        return f"{self.views:,} views in {seconds:.1f} s ({self.views / seconds:,.0f} views/s)"

    def stop(self, number: int, frame: FrameType | None) -> None:
        """End after the current step."""
        self.stopped = True

    def show(self, line: str) -> None:
        """Print a line, at once even if the output is not a terminal."""
        self.stdout.write(line)
        self.stdout.flush()
