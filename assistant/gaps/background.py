"""A thread in each process that serves. It groups new questions, and asks again what owners have marked as fixed."""

import logging
import threading

from django.db import close_old_connections, connection

from assistant.gaps import nearest, repetition
from assistant.question_groups import grouping

logger = logging.getLogger(__name__)

POLL_SECONDS = 2.0
RETRY_SECONDS = 60.0  # after an error
STOP_SECONDS = 10.0
REST_SECONDS = 0.02


class _Background:
    def __init__(self) -> None:
        self.stopping = threading.Event()
        self.thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread, unless it runs."""
        if self.thread is None:
            self.stopping.clear()
            self.thread = threading.Thread(target=self._run, name="question groups", daemon=True)
            self.thread.start()

    def stop(self) -> None:
        """Stop the thread after its present step."""
        self.stopping.set()
        if self.thread:
            self.thread.join(STOP_SECONDS)
            if not self.thread.is_alive():
                self.thread = None

    def _run(self) -> None:
        pause = POLL_SECONDS
        while not self.stopping.wait(pause):
            pause = POLL_SECONDS
            close_old_connections()
            try:
                while not grouping.catch_up(POLL_SECONDS) and not self.stopping.is_set():
                    pass
                repetition.ask_due(self._rest)
                nearest.find_due(self._rest)
            except Exception:  # the thread lives as long as the process
                logger.exception("Questions could not be grouped or asked again.")
                pause = RETRY_SECONDS
            close_old_connections()
        connection.close()

    def _rest(self) -> bool:
        """Pause between two searches, so that readers go first. Returns whether to stop."""
        return self.stopping.wait(REST_SECONDS)


_background = _Background()
start, stop = _background.start, _background.stop
