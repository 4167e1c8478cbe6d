"""Store raw views: each process commits the views of 5 ms together, then acknowledges them.

An acknowledged view is committed, and on SQLite synced to the disk. Requests
wait for a `Future`; under load one commit carries the views of many requests.
"""

import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import compress
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from django.db import connection, transaction

from analytics.audience import Dimensions
from analytics.collecting import view_keys
from analytics.counting import audiences, background, pages, unsealed
from analytics.models import PageView
from docsite.core import sql
from docsite.core.db import Row, Value, insert_groups
from docsite.core.group_commit import GroupCommit
from docsite.core.postgresql import primary

GROUP_SECONDS = 0.005
GROUP_VIEWS = 500  # if so many wait, they are stored without delay
MAX_VIEWS = 20_000  # of one commit
MAX_WAITING_VIEWS = 200_000


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


_SHARED_COLUMNS = ("project_id", "received", *Facts._fields)
_OWN_COLUMNS = ("key", "at", "page", "visitor", "audience")


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


class _Batch(NamedTuple):
    """The views of one request."""

    project_id: int
    views: Sequence[View]


def _store(group: list[_Batch]) -> list[Receipt]:
    """Store batches in one transaction. Of views with the same key, the first one is stored."""
    by_project: dict[int, list[View]] = defaultdict(list)
    parts = []  # of each batch: its place among the views of its project
    for project_id, views in group:
        own = by_project[project_id]
        parts.append(slice(len(own), len(own) + len(views)))
        own += views
    try:
        is_new = _insert(by_project)
    except primary.AnotherServer:  # what was remembered of the other one is forgotten now
        is_new = _insert(by_project)
    receipts = [
        _build_receipt(batch.views, is_new[batch.project_id][part]) for batch, part in zip(group, parts, strict=True)
    ]
    background.thread.report_views({project_id: int(new.sum()) for project_id, new in is_new.items()})
    return receipts


def _insert(by_project: Mapping[int, Sequence[View]]) -> dict[int, npt.NDArray[np.bool_]]:
    """Insert the views of projects, and tell which of them are new."""
    server = primary.remembered_server()
    numbers = {project_id: _assign_numbers(project_id, views) for project_id, views in by_project.items()}
    received = int(time.time()) // 3600
    if connection.vendor == "sqlite":
        sql.execute("PRAGMA synchronous=FULL")  # an acknowledged view also survives a power cut
    keys = {project_id: np.array([view.key for view in views], np.int64) for project_id, views in by_project.items()}
    known = {project_id: view_keys.load(project_id) for project_id in by_project}  # while others may still insert
    with transaction.atomic():
        unsealed.announce_insert(by_project, server)
        claims = view_keys.claim(known, keys)
        groups: dict[tuple[Value, ...], list[Row]] = {}
        for project_id, views in by_project.items():
            rows = compress(zip(views, *numbers[project_id], strict=True), claims[project_id].is_new.tolist())
            groups |= {(project_id, received, *facts): some for facts, some in _group_by_facts(rows).items()}
        runs = view_keys.store(claims, received)
        if groups:
            insert_groups(PageView._meta.db_table, _SHARED_COLUMNS, _OWN_COLUMNS, groups)
    view_keys.remember(claims, runs)
    return {project_id: claim.is_new for project_id, claim in claims.items()}


def _group_by_facts(views: Iterable[tuple[View, int, int]]) -> dict[Facts, list[Row]]:
    """The rows of views, each with the numbers of its page and audience. Most views have the facts of many others."""
    groups: dict[Facts, list[Row]] = defaultdict(list)
    for (key, at, _, _, visitor, facts, _, _), page, audience in views:
        groups[facts].append((key, at, page, visitor, audience))
    return groups


def _build_receipt(views: Sequence[View], is_new: npt.NDArray[np.bool_]) -> Receipt:
    new = int(is_new.sum())
    accepted = sum(view.counts for view, taken in zip(views, is_new.tolist(), strict=True) if taken)
    return Receipt(accepted, len(views) - new, new - accepted)


def _assign_numbers(project_id: int, views: Sequence[View]) -> tuple[list[int], list[int]]:
    """The numbers of page and audience of each view."""
    return (
        pages.for_project(project_id).assign_numbers(views),
        audiences.for_project(project_id).assign_numbers(views),
    )


_views = GroupCommit(
    "views",
    _store,
    delay=GROUP_SECONDS,
    min_group_weight=GROUP_VIEWS,
    max_group_weight=MAX_VIEWS,
    capacity=MAX_WAITING_VIEWS,
    weigh=lambda batch: len(batch.views),
)
flush = _views.flush  # returns when the waiting views are stored or have failed
