"""Work beside the requests of a process: threads that repeat one piece of work each, and `leases` of that work."""

import logging
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from django.db import InterfaceError, OperationalError, close_old_connections, connection

logger = logging.getLogger(__name__)

STOP_SECONDS = 10.0  # for the present piece of work
LONG_PAUSE_SECONDS = 10.0  # from which on the thread gives its connection back

_running: "list[BackgroundThread]" = []


class BackgroundThread(ABC):
    """A thread that calls `work`, pauses, and calls it again. When `work` raises, the thread logs it and goes on."""

    name: str
    seconds: float  # between two calls
    retry_seconds = 60.0  # after a failure
    works_at_once = False
    may_be_cut = False  # whether its work may end anywhere, so that the end of a process need not wait for it

    def __init__(self) -> None:
        self.failures = 0
        self.succeeded_at = time.time()  # when the last piece of work ended, at first when the thread was made
        self.stopping = threading.Event()
        self._due = threading.Event()
        self._thread: threading.Thread | None = None

    @abstractmethod
    def work(self) -> None:
        """Do one piece of work. End soon when `stopping` is set."""

    @property
    def has_ended(self) -> bool:
        """Whether the thread is gone although nobody has stopped it."""
        return self._thread is not None and not self._thread.is_alive() and not self.stopping.is_set()

    def start(self) -> None:
        """Start the thread, unless it runs."""
        if self._thread is None:
            self.stopping.clear()
            self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
            self._thread.start()
            _running.append(self)

    def stop(self) -> None:
        """Stop the thread after its present piece of work."""
        self.stopping.set()
        self._due.set()
        if self._thread:
            self._thread.join(STOP_SECONDS)
            if not self._thread.is_alive():
                self._thread = None
                _running.remove(self)

    def wake(self) -> None:
        """End the pause now."""
        self._due.set()

    def _run(self) -> None:
        pause = 0.0 if self.works_at_once else self.seconds
        while not self._pause(pause):
            pause = self.seconds
            try:
                close_old_connections()
                self.work()
                self.succeeded_at = time.time()
            except Exception:  # the thread lives as long as the process
                pause = self.retry_seconds
                self.failures += 1
                logger.exception("The thread “%s” failed. It tries again in %d seconds.", self.name, pause)
            if pause > LONG_PAUSE_SECONDS:
                connection.close()  # others may need it
        connection.close()

    def _pause(self, seconds: float) -> bool:
        """Pause, unless there is work or the end is near. Returns whether to stop."""
        self._due.wait(seconds)
        self._due.clear()
        return self.stopping.is_set()


@contextmanager
def collect_failures() -> Iterator[Callable[[], AbstractContextManager[None]]]:
    """Let the failure of one part of the work stop no other part.

    Yields a function that makes a context for one part. It suppresses errors; the first one is raised at the end of the
    block, the others are dropped. InterfaceError and OperationalError are raised at once.
    """
    failures: list[Exception] = []

    @contextmanager
    def part() -> Iterator[None]:
        try:
            yield
        except (InterfaceError, OperationalError):
            raise
        except Exception as failure:
            failures.append(failure)

    yield part
    if failures:
        raise failures[0]


def list_running() -> list[BackgroundThread]:
    """The threads that this process has started and not stopped."""
    return list(_running)
