"""A limit on the CPU time of one page, so that no page keeps the others out of the index."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

MAX_PAGE_SECONDS = 20.0  # of CPU time, to read a page, and the same again to cut it into sections


class PageTimeout(Exception):
    """Reading a page took more CPU time than it may."""


@contextmanager
def limit_cpu_time(seconds: float) -> Iterator[None]:
    """Raise PageTimeout when the block has used that much CPU time. Only the main thread of a process has this limit.

    Sources are read in the main thread: of a command, or of a worker process.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    previous = signal.signal(signal.SIGPROF, _raise_timeout)
    signal.setitimer(signal.ITIMER_PROF, seconds, seconds / 10)  # again, since a parser may catch the exception
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)


def _raise_timeout(number: int, frame: FrameType | None) -> None:
    raise PageTimeout
