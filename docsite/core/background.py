"""A thread that repeats a step of background work for as long as the process serves."""

import logging
import threading
from collections.abc import Callable

from django.db import close_old_connections, connection

logger = logging.getLogger(__name__)

STOP_SECONDS = 10.0


class BackgroundThread:
    """Repeats a step, with a pause before each. An error is logged with the sentence `failure`, and the thread goes on.

    The step gets an event that is set when it should stop. It may wait for it between two pieces of its work.
    """

    def __init__(
        self,
        name: str,
        step: Callable[[threading.Event], None],
        *,
        pause_seconds: float,
        retry_seconds: float,
        failure: str,
    ) -> None:
        self._name, self._step, self._failure = name, step, failure
        self._pause_seconds, self._retry_seconds = pause_seconds, retry_seconds
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread, unless it runs."""
        if self._thread is None:
            self._stopping.clear()
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Stop the thread after its present step, for which it has `STOP_SECONDS`."""
        self._stopping.set()
        if self._thread:
            self._thread.join(STOP_SECONDS)
            if not self._thread.is_alive():
                self._thread = None

    def _run(self) -> None:
        pause = self._pause_seconds
        while not self._stopping.wait(pause):
            pause = self._pause_seconds
            close_old_connections()  # broken or expired ones
            try:
                self._step(self._stopping)
            except Exception:  # the thread lives as long as the process
                logger.exception(self._failure)
                pause = self._retry_seconds
            close_old_connections()
        connection.close()
