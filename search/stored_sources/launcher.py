"""A thread in each process that serves. It looks for due sources, and starts a process to read each."""

import subprocess
import sys
from contextlib import suppress

from django.conf import settings
from django.db import connection

from docsite.core.background import STOP_SECONDS, BackgroundThread
from search.models import Source
from search.stored_sources import queue
from search.stored_sources.worker import explain_end


class _Launcher(BackgroundThread):
    """A thread that claims one source after the other, and starts a worker process for each."""

    name = "scheduler"
    seconds = 2.0

    def __init__(self) -> None:
        super().__init__()
        self.worker: subprocess.Popen[bytes] | None = None

    def stop(self) -> None:
        """Stop the thread and the worker process, and put its source back into the queue."""
        self.stopping.set()
        if worker := self.worker:
            worker.terminate()
            with suppress(subprocess.TimeoutExpired):
                worker.wait(STOP_SECONDS)  # it cleans up
            worker.kill()
        super().stop()

    def work(self) -> None:
        """Read one source that is due."""
        source = queue.claim_next()
        connection.close()  # reading may take hours, and others may need it
        if source:
            self._run_worker(source)
            connection.close()

    def _run_worker(self, source: Source) -> None:
        command = [sys.executable, "-m", "search.stored_sources.worker", str(source.pk), source.holder]
        # Nothing is written to its standard input. It closes when this process dies, and then the worker ends, too.
        with subprocess.Popen(command, cwd=settings.BASE_DIR, stdin=subprocess.PIPE) as self.worker:
            if self.stopping.is_set():  # stopped since the claim
                self.worker.terminate()
            status = self.worker.wait()
        self.worker = None
        if self.stopping.is_set():
            queue.release(source)  # the worker may have ended before it could do this itself
        else:
            queue.fail(source, f"The process that read it {explain_end(status)}")


thread = _Launcher()
