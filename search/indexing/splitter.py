"""Cut pages into sections. A second process helps with a large source: parsing Markdown takes half of an ingest.

python -m search.indexing.splitter FD
    the second process: reads pages from a connection and writes their sections to it
"""

import gc
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

from search.indexing import time_limit
from search.indexing.time_limit import PageTimeout, limit_cpu_time
from search.text import sections

Key = TypeVar("Key")
Sections = list[sections.Part] | str  # or why a page has none

MIN_CHARACTERS = 250_000  # of Markdown, before a second process starts
MAX_SENT = 4  # pages that the second process has at once; this one cuts the others meanwhile
MAX_WAITING = 200  # pages that wait for one before them
GARBAGE_THRESHOLD = 50_000  # objects, as of `gc.set_threshold`
_BASE = Path(__file__).resolve().parents[2]


@dataclass(eq=False)
class _Page(Generic[Key]):
    key: Key
    markdown: str
    title: str
    found: Sections | None = None


class Splitter(Generic[Key]):
    """Takes pages, and gives the sections of each in the same order. A context manager."""

    def __init__(self) -> None:
        self._pages: deque[_Page[Key]] = deque()  # that were not taken yet
        self._sent: deque[_Page[Key]] = deque()  # those of them that the second process has
        self._characters = 0  # so far
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None

    def add(self, key: Key, markdown: str, title: str) -> None:
        """Cut a page, or have it cut."""
        page = _Page(key, markdown, title)
        self._pages.append(page)
        self._characters += len(markdown)
        if self._process is None and self._characters > MIN_CHARACTERS and count_cores() > 1:
            self._start()
        self._receive()
        if not self._send(page):
            page.found = split(markdown, title)

    def take(self, *, all: bool = False) -> Iterator[tuple[Key, Sections]]:
        """The first pages as far as they are done; with `all`, each as soon as it is done."""
        while self._pages:
            page = self._pages[0]
            while page.found is None and (all or len(self._pages) > MAX_WAITING):
                self._receive(wait=True)
            if page.found is None:
                return
            self._pages.popleft()
            yield page.key, page.found

    def __enter__(self) -> "Splitter[Key]":
        return self

    def __exit__(self, *exception: object) -> None:
        """End the second process. It also ends by itself when this process is killed."""
        if self._connection:
            self._connection.close()
        if self._process:
            self._process.wait()

    def _start(self) -> None:
        self._connection, other = Pipe()
        command = [sys.executable, "-m", "search.indexing.splitter", str(other.fileno())]
        # It reads foreign pages: it gets no secrets, and an error of it shows no page.
        self._process = subprocess.Popen(
            command,
            cwd=_BASE,
            env={name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LANG") if name in os.environ},
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            pass_fds=[other.fileno()],
        )
        other.close()

    def _send(self, page: _Page[Key]) -> bool:
        if self._connection is None or len(self._sent) >= MAX_SENT:
            return False
        self._sent.append(page)
        with suppress(OSError):  # it was killed: the next read says so
            self._connection.send((page.markdown, page.title))
        return True

    def _receive(self, *, wait: bool = False) -> None:
        """Read what the second process has done; with `wait`, at least one page."""
        while self._connection and self._sent and (wait or self._connection.poll()):
            wait = False
            try:
                found = self._connection.recv()
            except (EOFError, OSError):  # it was killed, perhaps for want of memory
                self._connection = None
                for page in self._sent:
                    page.found = split(page.markdown, page.title)
                self._sent.clear()
            else:
                self._sent.popleft().found = found


def count_cores() -> int:
    """The cores that this process may use; those of the machine where the system does not tell, as on macOS."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def split(markdown: str, title: str) -> Sections:
    """The sections of a page, or why it has none."""
    try:
        with limit_cpu_time(time_limit.MAX_PAGE_SECONDS):
            return sections.split(markdown, title)
    except (RecursionError, PageTimeout) as error:
        return explain(error)


def explain(error: RecursionError | PageTimeout) -> str:
    """What an error says about a page."""
    return "takes too long to read" if isinstance(error, PageTimeout) else "is nested too deeply"


def _serve(connection: Connection) -> None:
    """Cut pages until the other process ends."""
    gc.set_threshold(GARBAGE_THRESHOLD)
    pages: SimpleQueue[Any] = SimpleQueue()

    def receive() -> None:  # in a thread, so that the other process never waits here while this one waits there
        with suppress(EOFError, OSError):
            while True:
                pages.put(connection.recv())
        os._exit(0)

    threading.Thread(target=receive, daemon=True).start()
    while True:
        connection.send(split(*pages.get()))


if __name__ == "__main__":
    _serve(Connection(int(sys.argv[1])))
