"""The thread that forgets old searches and their callers every hour, in each process that serves."""

import logging
import threading
import time

from django.db import close_old_connections

from search.query_log import recording

logger = logging.getLogger(__name__)

SWEEP_SECONDS = 3600.0


class _Sweeper:
    """A thread that sweeps when the process starts, and every hour from then on."""

    def __init__(self) -> None:
        self.thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin, unless it has begun."""
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
