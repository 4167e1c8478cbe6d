"""Group commit: what many callers submit within a few milliseconds is stored in one transaction."""

import atexit
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, Generic, NamedTuple, TypeVar

from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections, connection

from docsite.core import availability, context

Item = TypeVar("Item")
Result = TypeVar("Result")

logger = logging.getLogger(__name__)

IDLE_SECONDS = 0.5  # after which the thread gives its connection back
RESTART_SECONDS = 0.1  # after a mistake of ours
RETRY_SECONDS = 5.0  # between two attempts while the database cannot be reached


_queues: "list[GroupCommit[Any, Any]]" = []


class QueueFull(Exception):
    """Too many items wait for the database. This item was not queued."""


class _Entry(NamedTuple, Generic[Item, Result]):
    """A submitted item, its weight, and the future of its caller."""

    item: Item
    weight: int
    future: "Future[Result]"


class GroupCommit(Generic[Item, Result]):
    """A queue and one thread that stores what is in it, group by group.

    `store` stores a list of items in one transaction of its own, and returns one
    result for each item. It must store all of them or raise. It runs in the
    thread, or in the thread of whoever calls `flush`.

    The thread waits `delay` seconds for more items, unless the queue already
    weighs `min_group_weight`. A group ends with the item that brings it to
    `max_group_weight`. The queue holds items up to the weight `capacity`.

    When the database cannot be reached, the callers get its error; with
    `keep_waiting`, the items stay in the queue instead. After any other error
    each item of the group is stored by itself, so that no item fails because of
    another.
    """

    def __init__(
        self,
        name: str,
        store: Callable[[list[Item]], Sequence[Result]],
        *,
        delay: float,
        min_group_weight: int,
        max_group_weight: int,
        capacity: int,
        weigh: Callable[[Item], int] = lambda item: 1,
        keep_waiting: bool = False,
    ) -> None:
        self.name = name
        self.capacity = capacity
        self._run_store = store
        self._delay = delay
        self._min_group_weight = min_group_weight
        self._max_group_weight = max_group_weight
        self._weigh = weigh
        self._keep_waiting = keep_waiting
        self._queue: deque[_Entry[Item, Result]] = deque()
        self._weight = 0
        self._lock = threading.Lock()  # of the queue
        self._store_lock = threading.Lock()  # held while a group is stored
        self._due = threading.Event()
        self._thread: threading.Thread | None = None

    def submit(self, item: Item) -> "Future[Result]":
        """Queue an item. Its future gets the result after the commit, or the error.

        The error is `QueueFull` when the queue is full. Cancelling the future
        does not take the item back.
        """
        future: Future[Result] = Future()
        weight = self._weigh(item)
        with self._lock:
            if self._weight + weight > self.capacity:
                future.set_exception(QueueFull("The database does not keep up. Try again shortly."))
                return future
            self._weight += weight
            self._queue.append(_Entry(item, weight, future))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)
                self._thread.start()
                atexit.register(self.flush)
                _queues.append(self)
        self._due.set()
        return future

    def count_waiting(self) -> int:
        """How many items wait."""
        return len(self._queue)

    def flush(self) -> bool:
        """Store what waits, in this thread. Returns False when some still wait for the database."""
        with self._store_lock:
            while group := self._next_group():
                try:
                    left = self._store(group)
                except Exception as failure:  # a mistake of ours: callers must not wait for ever
                    left = []
                    self._fail([entry for entry in group if not entry.future.done()], failure)
                if left:
                    self._put_back(left)
                    return False
        return True

    def _run(self) -> None:
        while True:
            try:
                self._store_groups()
            except Exception:  # the thread lives as long as the process
                logger.exception("The thread that stores %s failed, and goes on.", self.name)
                time.sleep(RESTART_SECONDS)
                self._due.set()

    def _store_groups(self) -> None:
        while True:
            if not self._due.wait(IDLE_SECONDS):
                connection.close()  # others may need it
                self._due.wait()
            if self._weight < self._min_group_weight and self._delay:
                time.sleep(self._delay)
            self._due.clear()
            if not self.flush():
                time.sleep(RETRY_SECONDS)
                self._due.set()

    def _next_group(self) -> list[_Entry[Item, Result]]:
        group, weight = [], 0
        with self._lock:
            while self._queue and weight < self._max_group_weight:
                entry = self._queue.popleft()
                weight += entry.weight
                group.append(entry)
            self._weight -= weight
        return group

    def _take_all(self) -> list[_Entry[Item, Result]]:
        with self._lock:
            entries = list(self._queue)
            self._queue.clear()
            self._weight = 0
        return entries

    def _put_back(self, entries: list[_Entry[Item, Result]]) -> None:
        with self._lock:
            self._queue.extendleft(reversed(entries))
            self._weight += sum(entry.weight for entry in entries)

    def _store(self, group: list[_Entry[Item, Result]]) -> list[_Entry[Item, Result]]:
        """Store a group and answer its callers. Returns the entries that have to wait for the database."""
        try:
            results = self._commit(group)
        except (OperationalError, InterfaceError) as failure:  # the database cannot be reached, or is locked or full
            if self._keep_waiting:
                logger.warning("%d %s wait for the database: %s", len(group), self.name, failure)
                return group
            waiting = self._take_all() if connection.vendor == "postgresql" else []
            self._fail(group + waiting, failure)  # it was out of reach for as long as these may wait, too
        except Exception as failure:
            if len(group) == 1:
                self._fail(group, failure)
                return []
            for position, entry in enumerate(group):
                if self._store([entry]):
                    return group[position:]
        else:
            for entry, result in zip(group, results, strict=True):
                if entry.future.set_running_or_notify_cancel():
                    entry.future.set_result(result)
        return []

    def _commit(self, group: list[_Entry[Item, Result]]) -> Sequence[Result]:
        close_old_connections()
        try:
            with context.limit_database_time(2 * settings.ENV.database_seconds):  # callers wait for it
                results = self._run_store([entry.item for entry in group])
            availability.database.report_success()
            return results
        finally:
            close_old_connections()

    def _fail(self, group: list[_Entry[Item, Result]], failure: Exception) -> None:
        logger.warning("%d %s could not be stored: %r", len(group), self.name, failure)
        for entry in group:
            if entry.future.set_running_or_notify_cancel():
                entry.future.set_exception(failure)


def list_queues() -> list[GroupCommit[Any, Any]]:
    """The queues that this process has used."""
    return list(_queues)
