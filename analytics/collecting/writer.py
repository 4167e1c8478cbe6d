"""Raw views into the database: one writer for each process, which commits what gathers in 5 ms, then says so.

What it has acknowledged is committed, and on SQLite synced to the disk. Requests
wait for a `Future`; under load a commit carries the views of many.
"""

import atexit
import logging
import threading
import time
from collections import defaultdict, deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import NamedTuple

from django.db import InterfaceError, OperationalError, close_old_connections, connection, transaction

from analytics.counting import background, pages, sealer
from analytics.models import PageView
from docsite.core.db import Value, insert

logger = logging.getLogger(__name__)

GROUP_SECONDS = 0.005
GROUP_ROWS = 500  # when as many wait, they are not waited for
MOST_ROWS = 20_000  # of one commit
MOST_WAITING = 200_000
COLUMNS = tuple(field.column for field in PageView._meta.concrete_fields if not field.primary_key)


class View(NamedTuple):
    """A view that is ready to be stored. `facts` are the columns from `client_class` to `sample`."""

    key: int
    at: int  # microseconds since 1970
    path: str
    counts: bool
    facts: tuple[Value, ...]


@dataclass(frozen=True)
class Receipt:
    """What became of a batch: new views in the counts, views known already, and new ones outside the counts."""

    accepted: int
    duplicates: int
    ignored: int


class Full(Exception):
    """More views wait than the database takes; none of these were stored."""


def put(project_id: int, views: Sequence[View]) -> "Future[Receipt]":
    """Have views stored. The future ends when they are committed, or with what the database said.

    A view whose key is known is not stored again; within the batch the first one counts.
    """
    return _writer.put(_Batch(project_id, views))


def flush() -> None:
    """Return when what waits is stored, or could not be."""
    _writer.flush()


class _Batch:
    """The views of one request, and who waits for them."""

    def __init__(self, project_id: int, views: Sequence[View]) -> None:
        self.project_id = project_id
        self.views = views
        self.future: Future[Receipt] = Future()

    def store(self, numbers: Sequence[int]) -> Receipt:
        """Insert the views with the numbers of their pages."""
        first: dict[int, tuple[View, int]] = {}
        for view, number in zip(self.views, numbers, strict=True):
            first.setdefault(view.key, (view, number))
        rows: dict[bool, list[tuple[Value, ...]]] = {True: [], False: []}
        received = int(time.time()) // 3600
        for view, number in first.values():
            rows[view.counts].append((self.project_id, view.key, view.at, number, *view.facts, received))
        accepted, ignored = (_insert(rows[counted]) for counted in (True, False))
        return Receipt(accepted, len(self.views) - accepted - ignored, ignored)


def _insert(rows: list[tuple[Value, ...]]) -> int:
    return insert(PageView._meta.db_table, COLUMNS, rows, "(project_id, key) DO NOTHING") if rows else 0


class _Writer:
    """Holds batches until its thread, or whoever cannot wait for it, stores them."""

    def __init__(self) -> None:
        self.waiting: deque[_Batch] = deque()
        self.rows = 0
        self.lock = threading.Lock()
        self.due = threading.Event()
        self.turn = threading.Lock()
        self.thread: threading.Thread | None = None

    def put(self, batch: _Batch) -> "Future[Receipt]":
        """Queue a batch."""
        with self.lock:
            if self.rows + len(batch.views) > MOST_WAITING:
                batch.future.set_exception(Full("The database does not keep up. Try again shortly."))
                return batch.future
            self.rows += len(batch.views)
            self.waiting.append(batch)
            if self.thread is None:
                self.thread = threading.Thread(target=self._run, name="views", daemon=True)
                self.thread.start()
                atexit.register(self.flush)
        self.due.set()
        return batch.future

    def _run(self) -> None:
        while True:
            self.due.wait()
            if self.rows < GROUP_ROWS:
                time.sleep(GROUP_SECONDS)
            self.due.clear()
            self.flush()

    def flush(self) -> None:
        """Store what waits."""
        with self.turn:
            while group := self._group():
                _store(group)

    def _group(self) -> list[_Batch]:
        group, rows = [], 0
        with self.lock:
            while self.waiting and rows < MOST_ROWS:
                batch = self.waiting.popleft()
                rows += len(batch.views)
                group.append(batch)
            self.rows -= rows
        return group


def _store(group: list[_Batch]) -> None:
    """Store a group in one transaction; where that fails, each batch by itself, so that none suffers for another."""
    try:
        receipts = _commit(group)
    except (OperationalError, InterfaceError) as failure:  # the database is away, locked or full
        _fail(group, failure)
    except Exception as failure:
        if len(group) == 1:
            _fail(group, failure)
            return
        for batch in group:
            _store([batch])
    else:
        for batch, receipt in zip(group, receipts, strict=True):
            if batch.future.set_running_or_notify_cancel():
                batch.future.set_result(receipt)
        background.nudge(sum(receipt.accepted for receipt in receipts))


def _fail(group: list[_Batch], failure: Exception) -> None:
    logger.warning("%d batches of views could not be stored: %s", len(group), failure)
    for batch in group:
        if batch.future.set_running_or_notify_cancel():
            batch.future.set_exception(failure)


def _commit(group: list[_Batch]) -> list[Receipt]:
    close_old_connections()
    try:
        numbers = _numbers(group)
        if connection.vendor == "sqlite":
            with connection.cursor() as cursor:
                cursor.execute("PRAGMA synchronous=FULL")  # the acknowledgement outlives a power cut, too
        with transaction.atomic():
            sealer.announce()
            return [batch.store(found) for batch, found in zip(group, numbers, strict=True)]
    finally:
        close_old_connections()


def _numbers(group: list[_Batch]) -> list[list[int]]:
    """The page numbers of each batch's views; all of a project are asked for at once."""
    wanted: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for batch in group:
        wanted[batch.project_id] += [(view.path, view.at) for view in batch.views]
    found = {project_id: iter(pages.of(project_id).admit(views)) for project_id, views in wanted.items()}
    return [[next(found[batch.project_id]) for _ in batch.views] for batch in group]


_writer = _Writer()
