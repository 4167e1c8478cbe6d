"""Signs of life of who reads a source, and the end of those who have no right or no time to go on."""

import threading
import time
from collections.abc import Callable
from datetime import timedelta

from django.db import Error, connection
from django.utils import timezone

from search.indexing.storable import clean_text
from search.models import Source

SILENCE = timedelta(seconds=60)  # after which a runner is taken for dead
BEAT_SECONDS = 10.0  # between signs of life where nothing goes on
WRITE_SECONDS = 1.0  # between progress that is stored
MOST_SECONDS = 4 * 3600.0  # for one run; other projects' sources wait for it
GRACE_SECONDS = 30.0  # for a run to notice that it has to stop


class Stopped(ValueError):
    """A run was told to stop. As text it is a sentence."""


class Heartbeat:
    """The thread that stores how far a run came, and that it goes on. The run itself never waits for it.

    It ends with the runner's right to the source, or with its time. `check` then raises in the run; where the run does
    not come to that, stuck as it is, `abort` is called with the reason.
    """

    def __init__(self, source: Source, abort: Callable[[str], None] = lambda reason: None) -> None:
        self.line = ""
        self._mine = Source.objects.filter(pk=source.pk, runner=source.runner)
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
        """Go on, or raise Stopped."""
        if self._reason:
            raise Stopped(self._reason)

    def _run(self) -> None:
        try:
            self._reason = self._beat()
        finally:
            connection.close()
        if self._reason and not self._ended.wait(GRACE_SECONDS):
            self._abort(self._reason)

    def _beat(self) -> str:
        """Tell as long as there is somebody to tell of; gives why there is not, empty when the run is over."""
        until = time.monotonic() + MOST_SECONDS
        told, told_at = "", time.monotonic()
        while not self._ended.wait(WRITE_SECONDS):
            if time.monotonic() > until:
                return f"It took longer than {MOST_SECONDS / 3600:g} hours."
            line = clean_text(self.line)[:200]
            if line == told and time.monotonic() - told_at < BEAT_SECONDS:
                continue
            try:
                if not self._mine.update(progress=line, seen_at=timezone.now()):
                    return "Its source was deleted, or is read by somebody else."
            except Error:  # somebody else writes for long, or the connection was cut; the next second is another chance
                connection.close()
                continue
            told, told_at = line, time.monotonic()
        return ""
