"""Record what readers search for, and the result that they open.

A search does not wait for the database: searches gather in memory, and a thread
stores them together.
"""

import atexit
import hashlib
import logging
import re
import threading
import time
from collections import deque
from collections.abc import Sequence
from datetime import datetime, timedelta

from django.conf import settings
from django.db import InterfaceError, OperationalError, close_old_connections, transaction
from django.utils import timezone

from docsite.core.http.client_address import Address, network_of
from docsite.core.tenants.models import Project
from search.models import Document, SearchQuery
from search.query_log.settling import SETTLED, AnsweredSearch, continues_typing, lock_callers, store

logger = logging.getLogger(__name__)

CLICKABLE = timedelta(hours=1)  # a click finds its search for so long; then the caller is forgotten
MAX_LENGTH = 400
MAX_WAITING = 10_000
BATCH = 500
FLUSH_SECONDS = 0.3
RETRY_SECONDS = 5.0
SWEEP_SECONDS = 3600.0

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def clean(text: str) -> str:
    """A query as it is stored: single spaces, no control characters, at most 400 characters."""
    return " ".join(_CONTROL.sub(" ", text).split())[:MAX_LENGTH].rstrip()


def hash_caller(project: Project, address: Address, user_agent: str) -> int:
    """A keyed hash of the reader. It cannot be reversed, nor joined with the visitors of the same site."""
    identity = f"{network_of(address)}\n{user_agent}".encode("utf-8", "replace")
    key = bytes.fromhex(project.visitor_secret)
    return int.from_bytes(
        hashlib.blake2b(identity, key=key, digest_size=8, person=b"search").digest(), "big", signed=True
    )


def record(project: Project, caller: int, query: str, result_count: int) -> None:
    """Record a search that was answered, unless it is empty. Returns at once, and never fails."""
    if text := clean(query):
        _writer.add(AnsweredSearch(project.pk, caller, text, result_count, timezone.now()))


def flush() -> None:
    """Store the searches that wait in this process, and return then."""
    _writer.flush()


def record_click(project: Project, caller: int, query: str, path: str, position: int) -> None:
    """Store the result that the caller opened with the caller's search. It is committed when this returns.

    The latest click of a search counts, and the same click counts once. A path
    that is no page of the project is ignored.
    """
    flush()
    text, now = clean(query), timezone.now()
    if not text or not Document.objects.filter(project=project, path=path).exists():
        return
    with transaction.atomic():
        lock_callers([caller])
        row = _find_clicked_row(project, caller, text, now)
        if (row.clicked_path, row.position) != (path, position):
            row.clicked_path, row.position, row.clicked_at = path, position, now
            row.save()


def _find_clicked_row(project: Project, caller: int, text: str, now: datetime) -> SearchQuery:
    """The caller's latest search for that text, else the one being typed, else a new one."""
    rows = list(SearchQuery.objects.filter(project=project, caller=caller, at__gte=now - CLICKABLE)[:50])
    for row in rows:
        if row.text.casefold() == text.casefold():
            return row
    for row in rows:
        if not row.clicked_path and now - row.at <= SETTLED and continues_typing(row.text, text):
            row.text, row.at, row.result_count = text, now, None  # the search itself has not arrived yet
            return row
    return SearchQuery(project=project, caller=caller, text=text, at=now)


def sweep() -> None:
    """Forget the callers of searches older than an hour, and delete searches after the retention time."""
    now = timezone.now()
    SearchQuery.objects.filter(caller__isnull=False, at__lt=now - CLICKABLE).update(caller=None)
    SearchQuery.objects.filter(at__lt=now - timedelta(days=settings.ENV.search_retention_days)).delete()


class _Writer:
    """Holds searches until its thread, or whoever cannot wait for it, stores them."""

    def __init__(self) -> None:
        self.waiting: deque[AnsweredSearch] = deque()
        self.due = threading.Event()
        self.turn = threading.Lock()
        self.starting = threading.Lock()
        self.thread: threading.Thread | None = None

    def add(self, search: AnsweredSearch) -> None:
        """Take a search. Beyond the 10,000th that waits they are lost: the database has been away for long."""
        if len(self.waiting) >= MAX_WAITING:
            return
        self.waiting.append(search)
        self.due.set()
        if self.thread is None:
            self._start()

    def _start(self) -> None:
        with self.starting:
            if self.thread is None:
                self.thread = threading.Thread(target=self._run, name="searches", daemon=True)
                self.thread.start()
                atexit.register(self.flush)

    def _run(self) -> None:
        swept = 0.0
        while True:
            self.due.wait(SWEEP_SECONDS)
            time.sleep(FLUSH_SECONDS)
            self.due.clear()
            try:
                if not self.flush():
                    time.sleep(RETRY_SECONDS)
                    self.due.set()
                elif not swept or time.monotonic() - swept > SWEEP_SECONDS:
                    sweep()
                    swept = time.monotonic()
            except Exception:  # the thread lives as long as the process
                logger.exception("Searches could not be kept.")

    def flush(self) -> bool:
        """Store what waits. Returns False when the database is away: then it goes on waiting."""
        with self.turn:
            close_old_connections()
            while batch := [self.waiting.popleft() for _ in range(min(BATCH, len(self.waiting)))]:
                try:
                    _store_all(batch)
                except (OperationalError, InterfaceError):
                    logger.warning("Searches wait for the database.", exc_info=True)
                    self.waiting.extendleft(reversed(batch))
                    return False
            return True


def _store_all(batch: Sequence[AnsweredSearch]) -> None:
    """Store all at once; where that fails, each by itself, so that none suffers for another."""
    try:
        store(batch)
    except (OperationalError, InterfaceError):
        raise
    except Exception:
        if len(batch) == 1:  # its project is gone, say
            logger.warning("A search could not be kept.", exc_info=True)
            return
        for search in batch:
            _store_all([search])


_writer = _Writer()
