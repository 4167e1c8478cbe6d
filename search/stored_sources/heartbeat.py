"""Signs of life of the process that reads a source. The run stops when another process takes over, or after 4 hours."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta

from django.db import Error, connection

from docsite.core.background import leases
from search.indexing.storable import clean_text
from search.models import Source

LEASE = timedelta(seconds=60)  # of a run whose process gives no sign of life
BEAT_SECONDS = 10.0  # between signs of life without progress
WRITE_SECONDS = 1.0  # between lines of progress that are stored
MAX_SECONDS = 4 * 3600.0  # for one run; other projects' sources wait for it
GRACE_SECONDS = 30.0  # for a run to stop by itself


class RunStopped(ValueError):
    """A run has to stop. The message is a sentence that says why."""


class Heartbeat:
    """A thread that stores signs of life of a run, and its progress: the text in `line`.

    Only the end of `with` waits for it.

    When another process took over or time is up, `check` raises in the run. If the run does not end within
    GRACE_SECONDS then, the thread calls `abort` with the reason.
    """

    def __init__(self, source: Source, abort: Callable[[str], None] = lambda reason: None) -> None:
        self.line = ""
        self._source = source
        self._abort = abort
        self._reason = ""
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def __enter__(self) -> "Heartbeat":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()

    def check(self) -> None:
        """Return, or raise RunStopped when the run has to stop."""
        if self._reason:
            raise RunStopped(self._reason)

    def _run(self) -> None:
        try:
            self._reason = self._beat()
        finally:
            connection.close()
        if self._reason and not self._ended.wait(GRACE_SECONDS):
            self._abort(self._reason)

    def _beat(self) -> str:
        """Store signs of life until the run ends. Returns why it has to stop, or an empty text when it ended."""
        until = time.monotonic() + MAX_SECONDS
        stored, stored_at = "", time.monotonic()
        while not self._ended.wait(WRITE_SECONDS):
            if time.monotonic() > until:
                return f"It took longer than {MAX_SECONDS / 3600:g} hours."
            line = clean_text(self.line)[:200]
            if line == stored and time.monotonic() - stored_at < BEAT_SECONDS:
                continue
            try:
                if not leases.extend(self._source, LEASE, progress=line):
                    return "Its source was deleted, or another process reads it now."
            except Error:  # another writer is slow, or the connection was cut: try again in a second
                connection.close()
                continue
            stored, stored_at = line, time.monotonic()
        return ""
