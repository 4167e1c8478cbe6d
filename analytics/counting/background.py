"""The thread that seals new views and sweeps once a day, in each process that serves."""

import logging
import threading

from django.db import close_old_connections, connection

from analytics.counting.sealer import seal
from analytics.counting.sweeper import sweep

logger = logging.getLogger(__name__)

SEAL_AFTER_VIEWS = 5_000
SEAL_AFTER_SECONDS = 60.0


class _Background:
    """A thread that seals after enough views or a minute, and sweeps once a day."""

    def __init__(self) -> None:
        self.views = 0
        self.due = threading.Event()
        self.thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread, unless it runs."""
        if self.thread is None:
            self.thread = threading.Thread(target=self._run, name="sealer", daemon=True)
            self.thread.start()

    def report_views(self, views: int) -> None:
        """Count views that this process has committed; wake the thread when there are enough."""
        self.views += views
        if self.views >= SEAL_AFTER_VIEWS:
            self.views = 0
            self.due.set()

    def _run(self) -> None:
        while True:
            self.due.wait(SEAL_AFTER_SECONDS)
            self.due.clear()
            close_old_connections()
            try:
                seal(timeout=3600)
                sweep()
            except Exception:  # the thread lives as long as the process
                logger.exception("Views could not be sealed.")
            connection.close()  # others may need it


_background = _Background()
start, report_views = _background.start, _background.report_views
