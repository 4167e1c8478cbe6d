"""A thread in each process that serves. It looks for due sources, and starts a process to read each."""

import logging
import subprocess
import sys
import threading

from django.conf import settings
from django.db import connection

from search.models import Source
from search.stored_sources import queue

logger = logging.getLogger(__name__)

POLL_SECONDS = 2.0
RETRY_SECONDS = 60.0  # after an error, such as an unreachable database
STOP_SECONDS = 10.0  # for the worker to clean up


class _Scheduler:
    """A thread that claims one source after the other, and starts a worker process for each."""

    def __init__(self) -> None:
        self.stopping = threading.Event()
        self.thread: threading.Thread | None = None
        self.worker: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the thread, unless it runs."""
        if self.thread is None:
            self.stopping.clear()
            self.thread = threading.Thread(target=self._run, name="scheduler", daemon=True)
            self.thread.start()

    def stop(self) -> None:
        """Stop the thread and the worker process, and put its source back into the queue."""
        self.stopping.set()
        thread, worker = self.thread, self.worker
        if worker:
            worker.terminate()
        if thread:
            thread.join(STOP_SECONDS)
        if thread and worker and worker.poll() is None:
            worker.kill()
            thread.join(1)
        if thread and not thread.is_alive():
            self.thread = None

    def _run(self) -> None:
        pause = POLL_SECONDS
        while not self.stopping.wait(pause):
            pause = POLL_SECONDS
            try:
                source = queue.claim_next()
                connection.close()  # reading may take hours
                if source:
                    self._run_worker(source)
            except Exception:  # the thread lives as long as the process
                logger.exception("The scheduler could not look for due sources.")
                pause = RETRY_SECONDS
            connection.close()

    def _run_worker(self, source: Source) -> None:
        command = [sys.executable, "-m", "search.stored_sources.worker", str(source.pk), source.runner]
        # Nothing is written to its standard input. It closes when this process dies, and then the worker ends, too.
        with subprocess.Popen(command, cwd=settings.BASE_DIR, stdin=subprocess.PIPE) as self.worker:
            if self.stopping.is_set():  # stopped since the claim
                self.worker.terminate()
            status = self.worker.wait()
        self.worker = None
        if self.stopping.is_set():
            queue.release(source)  # the worker may have ended before it could do this itself
        else:
            queue.fail(source, f"The process that read it ended without a result (status {status}).")


_scheduler = _Scheduler()
start, stop = _scheduler.start, _scheduler.stop
