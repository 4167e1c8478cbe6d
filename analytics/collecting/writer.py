"""Store raw views: each process commits the views of 5 ms together, then acknowledges them.

An acknowledged view is committed, and on SQLite synced to the disk. Requests
wait for a `Future`; under load one commit carries the views of many requests.
"""

import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import NamedTuple

from django.db import connection, transaction

from analytics.audience import Dimensions
from analytics.counting import audiences, background, pages, sealer
from analytics.models import PageView
from docsite.core.db import Value, insert
from docsite.core.group_commit import GroupCommit

GROUP_SECONDS = 0.005
GROUP_VIEWS = 500  # if so many wait, they are stored without delay
MAX_VIEWS = 20_000  # of one commit
MAX_WAITING_VIEWS = 200_000
COLUMNS = tuple(field.column for field in PageView._meta.concrete_fields if not field.primary_key)


class View(NamedTuple):
    """A view, ready to be stored. `facts` are the columns from `client_class` to `sample`."""

    key: int
    at: int  # microseconds since 1970
    path: str
    counts: bool
    facts: tuple[Value, ...]
    dimensions: Dimensions = Dimensions()
    network: str = ""  # of a reader that reports its own views; it is not stored


@dataclass(frozen=True)
class Receipt:
    """The result of a batch: new views that count, views that were stored before, and new views that do not count."""

    accepted: int
    duplicates: int
    ignored: int


def submit(project_id: int, views: Sequence[View]) -> "Future[Receipt]":
    """Have views stored. The future ends when they are committed, or with `QueueFull` or the database's error.

    A view whose key is stored already is not stored again; within the batch the first one counts.
    """
    return _views.submit(_Batch(project_id, views))


def flush() -> None:
    """Return when the waiting views are stored or have failed."""
    _views.flush()


class _Batch:
    """The views of one request."""

    def __init__(self, project_id: int, views: Sequence[View]) -> None:
        self.project_id = project_id
        self.views = views

    def store(self, numbers: Sequence[tuple[int, int]]) -> Receipt:
        """Insert the views, whose pages and audiences have these numbers."""
        first: dict[int, tuple[View, int, int]] = {}
        for view, (page, audience) in zip(self.views, numbers, strict=True):
            first.setdefault(view.key, (view, page, audience))
        rows: dict[bool, list[tuple[Value, ...]]] = {True: [], False: []}
        received = int(time.time()) // 3600
        for view, page, audience in first.values():
            rows[view.counts].append((self.project_id, view.key, view.at, page, *view.facts, received, audience))
        accepted, ignored = (_insert(rows[counted]) for counted in (True, False))
        return Receipt(accepted, len(self.views) - accepted - ignored, ignored)


def _insert(rows: list[tuple[Value, ...]]) -> int:
    return insert(PageView._meta.db_table, COLUMNS, rows, "(project_id, key) DO NOTHING") if rows else 0


def _store(group: list[_Batch]) -> list[Receipt]:
    """Store batches in one transaction."""
    numbers = _assign_numbers(group)
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA synchronous=FULL")  # an acknowledged view also survives a power cut
    with transaction.atomic():
        sealer.announce_insert()
        receipts = [batch.store(found) for batch, found in zip(group, numbers, strict=True)]
    background.report_views(sum(receipt.accepted for receipt in receipts))
    return receipts


def _assign_numbers(group: list[_Batch]) -> list[list[tuple[int, int]]]:
    """The numbers of page and audience of the views of each batch, looked up once for each project."""
    views_by_project: dict[int, list[View]] = defaultdict(list)
    for batch in group:
        views_by_project[batch.project_id] += batch.views
    found = {
        project_id: zip(
            pages.for_project(project_id).assign_numbers((view.path, view.at, view.network) for view in views),
            audiences.for_project(project_id).assign_numbers(views),
            strict=True,
        )
        for project_id, views in views_by_project.items()
    }
    return [[next(found[batch.project_id]) for _ in batch.views] for batch in group]


_views = GroupCommit(
    "views",
    _store,
    delay=GROUP_SECONDS,
    min_group_weight=GROUP_VIEWS,
    max_group_weight=MAX_VIEWS,
    capacity=MAX_WAITING_VIEWS,
    weigh=lambda batch: len(batch.views),
)
