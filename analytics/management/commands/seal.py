"""`manage.py seal`: count new views into cells."""

import time
from typing import Any

from analytics.counting import sealer
from docsite.core.tenants.management.base import ServiceCommand

SHOW_SECONDS = 1.0


class Command(ServiceCommand):
    """Seals as a serving process does, and waits for the end."""

    help = "Seal new views: count them into the cells that reports read. Every serving process does this by itself."

    def handle(self, *args: Any, **options: Any) -> None:
        """Seal, and print what was done."""
        self.began = self.shown_at = time.monotonic()
        self.views = 0
        sealer.seal(timeout=float("inf"), progress=self.progress)
        self.stdout.write(f"Sealed {self.describe_progress()}.")

    def progress(self, views: int) -> None:
        """Print the progress after a step, at most once a second."""
        self.views += views
        if time.monotonic() > self.shown_at + SHOW_SECONDS:
            self.shown_at = time.monotonic()
            self.stdout.write(f"  {self.describe_progress()}")

    def describe_progress(self) -> str:
        """The number of views so far, and the speed."""
        seconds = time.monotonic() - self.began
        return f"{self.views:,} views in {seconds:.1f} s ({self.views / seconds:,.0f} views/s)"
