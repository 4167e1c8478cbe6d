"""The thread in which every process that serves looks for stored sources that are due, and has them read."""

import logging
import subprocess
import sys
import threading

from django.conf import settings
from django.db import connection

from search.models import Source
from search.stored import runs

logger = logging.getLogger(__name__)

LOOK_SECONDS = 2.0
FAILED_SECONDS = 60.0  # after an error, such as a database that is away
END_SECONDS = 10.0  # for a reader to clean up


class _Scheduler:
    """A thread that claims one source after the other, each for a process of its own to read."""

    def __init__(self) -> None:
        self.stopping = threading.Event()
        self.thread: threading.Thread | None = None
        self.reader: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Begin, unless it has begun."""
        if self.thread is None:
            self.stopping.clear()
            self.thread = threading.Thread(target=self._run, name="scheduler", daemon=True)
            self.thread.start()

    def stop(self) -> None:
        """End the running reader, whose source waits for another process then."""
        self.stopping.set()
        thread, reader = self.thread, self.reader
        if reader:
            reader.terminate()
        if thread:
            thread.join(END_SECONDS)
        if thread and reader and reader.poll() is None:
            reader.kill()
            thread.join(1)
        if thread and not thread.is_alive():
            self.thread = None

    def _run(self) -> None:
        pause = LOOK_SECONDS
        while not self.stopping.wait(pause):
            pause = LOOK_SECONDS
            try:
                source = runs.take()
                connection.close()  # reading may take hours
                if source:
                    self._read(source)
            except Exception:  # the thread lives as long as the process
                logger.exception("Sources could not be looked after.")
                pause = FAILED_SECONDS
            connection.close()

    def _read(self, source: Source) -> None:
        command = [sys.executable, "-m", "search.stored.worker", str(source.pk), source.runner]
        # Its standard input is never written to: it closes when this process is gone, so that the reader ends, too.
        with subprocess.Popen(command, cwd=settings.BASE_DIR, stdin=subprocess.PIPE) as self.reader:
            if self.stopping.is_set():  # since it was claimed
                self.reader.terminate()
            status = self.reader.wait()
        self.reader = None
        if self.stopping.is_set():
            runs.release(source)  # a reader that was ended before it had begun left it as it was
        else:
            runs.give_up(source, f"The process that read it ended without a word (status {status}).")


_scheduler = _Scheduler()
start, stop = _scheduler.start, _scheduler.stop
