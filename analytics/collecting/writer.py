"""Store raw views: each process commits the views of 5 ms together, then acknowledges them.

An acknowledged view is committed, and on SQLite synced to the disk. Requests
wait for a `Future`; under load one commit carries the views of many requests.
"""

import contextlib
import time
from collections import defaultdict
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import NamedTuple

from django.db import connection, transaction

from analytics.audience import Dimensions
from analytics.counting import audiences, background, pages, unsealed
from analytics.models import PageView
from docsite.core.db import Value, insert
from docsite.core.group_commit import GroupCommit

GROUP_SECONDS = 0.005
GROUP_VIEWS = 500  # if so many wait, they are stored without delay
MAX_VIEWS = 20_000  # of one commit
MAX_WAITING_VIEWS = 200_000
COLUMNS = tuple(field.column for field in PageView._meta.concrete_fields if not field.primary_key)


class Facts(NamedTuple):
    """What the views of equal clients have in common, as it is stored. See `PageView`."""

    client_class: str
    surface: str
    agent: str
    operator: str
    verified: str
    rule: str
    rules_version: int
    referrer: str
    user_agent: str
    sample: bool


class View(NamedTuple):
    """A view, ready to be stored."""

    key: int
    at: int  # microseconds since 1970
    path: str
    counts: bool
    visitor: int
    facts: Facts
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


class _Batch(NamedTuple):
    """The views of one request."""

    project_id: int
    views: Sequence[View]


_Row = tuple[Value, ...]


class _Rows(NamedTuple):
    """The rows of a batch: views that count, and views that do not."""

    counted: list[_Row]
    ignored: list[_Row]


class _Repeated(Exception):
    """A view of a group was stored before, or occurs in it twice."""


def _store(group: list[_Batch]) -> list[Receipt]:
    """Store batches in one transaction."""
    rows = _build_rows(group)
    if connection.vendor == "sqlite":
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA synchronous=FULL")  # an acknowledged view also survives a power cut
    counts = _insert_group({batch.project_id for batch in group}, rows)
    background.report_views(sum(accepted for accepted, _ in counts))
    return [
        Receipt(accepted, len(batch.views) - accepted - ignored, ignored)
        for batch, (accepted, ignored) in zip(group, counts, strict=True)
    ]


def _insert_group(project_ids: set[int], group: list[_Rows]) -> list[tuple[int, int]]:
    """Insert the rows of batches. Returns two numbers for each batch: new views that count, new views that do not.

    One statement inserts the rows of all batches, as nearly always all are new. Otherwise nobody would know
    whose rows were not, so each batch is inserted by itself.
    """
    every = [row for rows in group for part in rows for row in part]
    if sum(bool(part) for rows in group for part in rows) > 1:
        with contextlib.suppress(_Repeated), transaction.atomic():
            unsealed.announce_insert(project_ids)
            if _insert(every) < len(every):
                raise _Repeated
            return [(len(rows.counted), len(rows.ignored)) for rows in group]
    with transaction.atomic():
        unsealed.announce_insert(project_ids)
        return [(_insert(rows.counted), _insert(rows.ignored)) for rows in group]


def _insert(rows: list[_Row]) -> int:
    return insert(PageView._meta.db_table, COLUMNS, rows, "(project_id, key) DO NOTHING") if rows else 0


def _build_rows(group: list[_Batch]) -> list[_Rows]:
    """The rows of each batch. Of views with the same key, a batch has the first."""
    received = int(time.time()) // 3600
    built = []
    for (project_id, views), (pages_of_views, audiences_of_views) in zip(group, _assign_numbers(group), strict=True):
        rows, known = _Rows([], []), set()
        for view, page, audience in zip(views, pages_of_views, audiences_of_views, strict=True):
            key, at, _, counts, visitor, facts, _, _ = view
            if key not in known:
                known.add(key)
                row = (project_id, key, at, page, *facts[:2], visitor, *facts[2:], received, audience)
                (rows.counted if counts else rows.ignored).append(row)
        built.append(rows)
    return built


def _assign_numbers(group: list[_Batch]) -> list[tuple[list[int], list[int]]]:
    """The numbers of page and audience of the views of each batch, looked up once for each project."""
    by_project: dict[int, list[View]] = defaultdict(list)
    ends = []
    for project_id, views in group:
        by_project[project_id] += views
        ends.append(len(by_project[project_id]))
    found = {
        project_id: (
            pages.for_project(project_id).assign_numbers(views),
            audiences.for_project(project_id).assign_numbers(views),
        )
        for project_id, views in by_project.items()
    }
    parts = []
    for (project_id, views), end in zip(group, ends, strict=True):
        numbers, more = found[project_id]
        parts.append((numbers[end - len(views) : end], more[end - len(views) : end]))
    return parts


_views = GroupCommit(
    "views",
    _store,
    delay=GROUP_SECONDS,
    min_group_weight=GROUP_VIEWS,
    max_group_weight=MAX_VIEWS,
    capacity=MAX_WAITING_VIEWS,
    weigh=lambda batch: len(batch.views),
)
