"""A thread in each process that serves. Every hour it erases callers and deletes old searches."""

import logging
import threading
import time

from django.db import close_old_connections

from search.query_log import recording

logger = logging.getLogger(__name__)

SWEEP_SECONDS = 3600.0


class _Sweeper:
    """A thread that sweeps when the process starts, and then every hour."""

    def __init__(self) -> None:
        self.thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread, unless it runs."""
        if self.thread is None:
            self.thread = threading.Thread(target=self._run, name="search sweeper", daemon=True)
            self.thread.start()

    def _run(self) -> None:
        while True:
            try:
                close_old_connections()
                recording.sweep()
            except Exception:  # the thread lives as long as the process
                logger.exception("Old searches could not be removed.")
            close_old_connections()
            time.sleep(SWEEP_SECONDS)


_sweeper = _Sweeper()
start = _sweeper.start
