"""Seal raw views: count them into cells.

Each project is sealed by itself, in steps. A step acquires the lease of the project, reads the views after its
watermark, and changes cells, visit histories and watermark in one transaction, which checks that the lease is still
held. After a crash the step is repeated; no view is skipped. If two sealers believe that they hold the lease, one of
them writes nothing.

Each process that serves seals in a background thread (`analytics.counting.background`), a step of each project in
turn. A report seals the remaining views of its project before it counts, so it includes every view that was
acknowledged before the request.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, product
from typing import NamedTuple

import numpy as np
from django.conf import settings
from django.db import IntegrityError, InterfaceError, OperationalError, transaction
from django.utils import timezone

from analytics import agents
from analytics.counting import agent_views, audiences, stored_cells, unsealed, visit_history
from analytics.counting.cells import CRAWLER, FIRST_KEY, HUMAN, READER, Bucket, Ints, add_up, sort_unique
from analytics.counting.stored_cells import HourlyChanges
from analytics.models import PageView, Seal, Trail
from docsite.core import sql
from docsite.core.db import insert, is_one_of
from docsite.core.postgresql import primary

logger = logging.getLogger(__name__)

STEP_VIEWS = 50_000  # of one step: 0.5 s of CPU with SQLite, about 1.3 s with PostgreSQL and its server
LEASE_SECONDS = 3.0
REPORT_TIMEOUT_SECONDS = 5.0  # that a report waits while views are being sealed
HOUR = 3_600_000_000  # microseconds
WAIT_SECONDS = 0.02  # for another thread or process that seals the same project

NO_KIND = -1  # of a view that does not count
_CLASSES, _SURFACES = PageView.Class.values, PageView.Surface.values
_KINDS = {"human": HUMAN, "ai_user": READER, "ai_agent": READER, "ai_search": CRAWLER, "ai_training": CRAWLER}

Progress = Callable[[int], None]


class LeaseLost(Exception):
    """Another process took over the lease; nothing was written."""


@dataclass(frozen=True)
class Lease:
    """The right to write the counts of a project, and how far it is sealed."""

    project_id: int
    token: int
    sealed_to: int
    closed: int
    server: str = ""  # the database server that gave the lease


def kind_of(client_class: str, surface: str) -> int | None:
    """The kind of a view: human, reader or crawler; None if it does not count."""
    return READER if agents.is_markdown_fetch(client_class, surface) else _KINDS.get(client_class)


_sealing = [threading.Lock() for _ in range(64)]  # one thread of a process seals a project; the others wait for it


def seal(timeout: float = REPORT_TIMEOUT_SECONDS, progress: Progress | None = None) -> bool:
    """Seal the views of all projects that are committed now: a step of each project, then the next step of each.

    Returns False when `timeout` (seconds) is over first. Waits for the steps of other threads and processes.
    `progress` is called after each step with the number of views that it sealed.
    """
    return _seal_projects(unsealed.list_marked(), timeout, progress)


def seal_project(project_id: int, timeout: float = REPORT_TIMEOUT_SECONDS) -> bool:
    """Seal the views of one project that are committed now. Returns False when `timeout` (seconds) is over first."""
    return not unsealed.has_unsealed_views(project_id) or _seal_projects([project_id], timeout)


def _seal_projects(project_ids: Iterable[int], timeout: float, progress: Progress | None = None) -> bool:
    until = time.monotonic() + timeout
    turns = deque(map(_seal_in_steps, project_ids))
    busy = 0  # projects in a row that others were sealing
    failure: Exception | None = None
    while turns:
        if time.monotonic() > until:
            return False
        steps = turns.popleft()
        try:
            views = next(steps)
        except StopIteration:
            continue
        except (InterfaceError, OperationalError):  # the database does not answer
            raise
        except Exception as error:  # of one project, such as a damaged row; the others go on
            failure = failure or error
            continue
        turns.append(steps)
        if views is None:
            busy += 1
            if busy >= len(turns):
                busy = 0
                time.sleep(WAIT_SECONDS)
        else:
            busy = 0
            if progress:
                progress(views)
    if failure:
        raise failure
    return True


def _seal_in_steps(project_id: int) -> Iterator[int | None]:
    """Seal the views of a project that are committed now.

    Yields after each step the number of views, or None if another thread or process was sealing.
    """
    up_to = unsealed.newest_view_id(project_id)
    server, sealed_to = primary.remembered_server(), -1
    while sealed_to < up_to:
        step = _step(project_id, up_to, server)
        yield step and step.views
        if step:
            sealed_to = step.sealed_to
            continue
        try:
            add_seal(project_id)
        except IntegrityError:  # the project was deleted meanwhile
            return
        sealed_to = next(iter(Seal.objects.filter(project=project_id).values_list("sealed_to", flat=True)), up_to)
    unsealed.remove_mark(project_id)


def add_seal(project_id: int) -> None:
    """Let a project have its seal, if it has none. Raises IntegrityError if there is no such project."""
    own = Seal.objects.filter(project=project_id)
    if not own.exists():
        now = timezone.now()
        seal = Seal(project_id=project_id, closed=int(now.timestamp()) // 3600, swept_at=now)
        Seal.objects.bulk_create([seal], ignore_conflicts=True)  # another process may have added it meanwhile


class Step(NamedTuple):
    """What a step has sealed: how many views, and up to which id."""

    views: int
    sealed_to: int


def _step(project_id: int, up_to: int, server: str) -> Step | None:
    """Seal the next views of a project. Returns None when another thread or process holds it, or it has no seal."""
    lock = _sealing[project_id % len(_sealing)]
    if not lock.acquire(timeout=WAIT_SECONDS):
        return None
    try:
        lease = acquire_lease(project_id)
        if lease is None:
            return None
        primary.check_answer(lease.server, server)
        return seal_views(lease, up_to)
    except LeaseLost:
        step_size.shrink()
        return None
    except IntegrityError as failure:  # a project and its views were deleted meanwhile
        logger.warning("A sealing step is repeated: %s", failure)
        return None
    finally:
        lock.release()


class StepSize:
    """How many views one sealing step takes. It is halved when a step outlasts its lease, and then grows back."""

    def __init__(self, views: int = STEP_VIEWS) -> None:
        self.views = self.size = views

    def shrink(self) -> None:
        """Halve it, after a lost lease."""
        self.size = max(1, self.size // 2)

    def grow(self) -> None:
        """Let it grow by an eighth, after a step that was stored."""
        self.size = min(self.views, self.size + self.size // 8 + 1)


step_size = StepSize()


def acquire_lease(project_id: int) -> Lease | None:
    """Acquire the lease of a project for LEASE_SECONDS. Returns None while another process holds it."""
    now = time.time()
    row = sql.fetch_one(
        "UPDATE analytics_projectseal SET token = token + 1, leased_until = %s "
        "WHERE project_id = %s AND (leased_until <= %s OR leased_until > %s) "
        f"RETURNING token, sealed_to, closed, {primary.server_column()}",
        # The last condition ends a lease that a process with a wrong clock made too long.
        [now + LEASE_SECONDS, project_id, now, now + 10 * LEASE_SECONDS],
    )
    if row is None:
        return None
    token, sealed_to, closed, server = row
    primary.check_answer(server)
    return Lease(project_id, token, sealed_to, closed, server)


def release_lease(lease: Lease, **facts: int) -> None:
    """Release the lease and store the changed facts. Call it in the transaction of the changes.

    Raises `LeaseLost`, and OperationalError if another database server answers than the one that gave the lease.
    """
    changes = "".join(f", {name} = %s" for name in facts)
    row = sql.fetch_one(
        f"UPDATE analytics_projectseal SET leased_until = 0{changes} WHERE project_id = %s AND token = %s "
        f"RETURNING {primary.server_column()}",
        [*facts.values(), lease.project_id, lease.token],
    )
    if row is None:
        raise LeaseLost
    primary.check_answer(row[0], lease.server)


def seal_views(lease: Lease, up_to: int) -> Step:
    """Seal the next views of a project and release the lease.

    Everything is computed before the transaction: while the lease is held, nobody else changes the counts.
    """
    limit, project_id = step_size.size, lease.project_id
    rows = _select_views(lease, up_to, limit)
    # Another process may have sealed beyond `up_to` already; the watermark never goes back.
    reached = int(rows[-1, 0]) if len(rows) == limit else max(up_to, lease.sealed_to)
    closed = max(lease.closed, int(time.time()) // 3600)
    added, histories = _compute_change(project_id, rows[rows[:, 4] != NO_KIND, 1:])
    buckets = stored_cells.update(project_id, lease.closed, added)
    read = agent_views.sum_views(project_id, lease.sealed_to, reached)
    with transaction.atomic():
        release_lease(lease, sealed_to=reached, closed=closed)
        store_histories(project_id, histories)
        stored_cells.store(project_id, buckets)
        agent_views.add_sums(read)
        stored_cells.merge_ended_hours(project_id, lease.closed, closed)
    step_size.grow()
    return Step(len(rows), reached)


def _select_views(lease: Lease, up_to: int, limit: int) -> Ints:
    """The next views of a project: id, hour, page, visitor, kind or `NO_KIND`, and audience."""
    counted = [(*pair, kind) for pair in product(_CLASSES, _SURFACES) if (kind := kind_of(*pair)) is not None]
    cases = "WHEN client_class = %s AND surface = %s THEN %s " * len(counted)
    rows = sql.fetch_all(
        f"SELECT id, at / {HOUR}, page, visitor, CASE {cases}ELSE {NO_KIND} END, audience FROM analytics_pageview "
        "WHERE project_id = %s AND id > %s AND id <= %s ORDER BY id LIMIT %s",
        [*chain.from_iterable(counted), lease.project_id, lease.sealed_to, up_to, limit],
    )
    return np.fromiter(chain.from_iterable(rows), np.int64, 6 * len(rows)).reshape(-1, 6)


@dataclass(frozen=True)
class VisitorHistories:
    """Visitors of one project and their packed visit histories."""

    visitors: list[int]
    trimmed: list[int]
    sightings: list[bytes]


def _compute_change(project_id: int, seen: Ints) -> tuple[HourlyChanges, VisitorHistories]:
    """How views (hour, page, visitor, kind, audience) change the hours, and the new visit histories."""
    if not len(seen):
        return HourlyChanges([], []), VisitorHistories([], [], [])
    hour, page, visitor, kind, audience = seen.T
    keys = audiences.for_project(project_id).keys_of(audience, page)
    visitors, who = np.unique(visitor, return_inverse=True)
    trimmed, blobs = load_histories(project_id, visitors.tolist())
    horizon = settings.ENV.visitor_horizon_days * 24
    change = visit_history.add_visits(
        visit_history.decode(blobs), visit_history.from_views(who, page, kind, hour, keys), trimmed, horizon
    )
    long = visit_history.hours_to_trim_before(change.histories, len(visitors))
    histories = visit_history.trim(change.histories, long, horizon) if long.any() else change.histories
    trimmed = np.maximum(trimmed, long)
    packed = visit_history.encode(histories, len(visitors))
    return (
        hourly_changes(change, hour, page, kind, keys),
        VisitorHistories(visitors.tolist(), trimmed.tolist(), packed),
    )


def hourly_changes(
    change: visit_history.Change, hour: Ints, page: Ints, kind: Ints, keys: tuple[Ints, Ints], sign: Ints | None = None
) -> HourlyChanges:
    """The buckets to add to each hour, of pages and of audiences: cells of visitors, and views.

    `keys` are the audiences' keys of the views, as in `visit_history.from_views`. `sign` is 1 for a new view,
    which is the default, and -1 for one that is taken back.
    """
    n = np.ones(len(hour), np.int64) if sign is None else sign
    view, key = keys
    return HourlyChanges(
        _build_buckets(change.of_pages(), hour, page << 3 | kind, n),
        _build_buckets(change.of_audiences(), hour[view], (key - FIRST_KEY) << 3 | kind[view], n[view]),
    )


def _build_buckets(change: visit_history.Change, hour: Ints, slot: Ints, n: Ints) -> list[Bucket]:
    hour, viewed, views = add_up(hour, slot, n=n)
    starts = sort_unique(hour, change.hour)
    return [
        Bucket.build(
            start, change.prev[cells], change.slot[cells], change.n[cells], viewed[hour_views], views[hour_views]
        )
        for start, cells, hour_views in zip(
            starts.tolist(), _slices_of(change.hour, starts), _slices_of(hour, starts), strict=True
        )
    ]


def _slices_of(values: Ints, wanted: Ints) -> list[slice]:
    """For each of some numbers, the slice of sorted values that are equal to it."""
    ends = (np.searchsorted(values, wanted, side).tolist() for side in ("left", "right"))
    return [slice(*pair) for pair in zip(*ends, strict=True)]


def load_histories(project_id: int, visitors: Sequence[int]) -> tuple[Ints, list[bytes]]:
    """The visit histories of visitors, in their order: the hour before which each is trimmed, and the packed visits."""
    trimmed, blobs = np.zeros(len(visitors), np.int64), [b""] * len(visitors)
    places = {visitor: place for place, visitor in enumerate(visitors)}
    for start in range(0, len(visitors), 5000):
        some = visitors[start : start + 5000]
        is_wanted, values = is_one_of("visitor", some)
        query = f"SELECT visitor, trimmed, sightings FROM analytics_trail WHERE project_id = %s AND {is_wanted}"
        for visitor, hour, sightings in sql.fetch_all(query, [project_id, *values]):
            place = places[visitor]
            blobs[place] = sightings
            trimmed[place] = hour
    return trimmed, blobs


def store_histories(project_id: int, histories: VisitorHistories) -> None:
    """Store visit histories. Call it in the transaction that releases the lease."""
    project = [project_id] * len(histories.visitors)
    rows = zip(project, histories.visitors, histories.trimmed, histories.sightings, strict=True)
    if histories.visitors:
        insert(
            Trail._meta.db_table,
            ("project_id", "visitor", "trimmed", "sightings"),
            list(rows),
            "(project_id, visitor) DO UPDATE SET trimmed = excluded.trimmed, sightings = excluded.sightings",
        )
