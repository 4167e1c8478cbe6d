"""Seal raw views: count them into cells.

Visitors are split into shards by their hash. A shard is sealed in steps. A step
acquires the lease of the shard, reads the views after its watermark, and changes cells,
visit histories and watermark in one transaction, which checks that the lease is still
held. After a crash the step is repeated; no view is skipped. If two sealers believe that
they hold the lease, one of them writes nothing.

Each process that serves seals in a background thread (`analytics.counting.background`).
A report seals the remaining views before it counts, so it includes every view that was
acknowledged before the request.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import Max, Min

from analytics import agents
from analytics.counting import agent_views, audiences, stored_cells, visit_history
from analytics.counting.cells import CRAWLER, FIRST_KEY, HUMAN, READER, Bucket, Ints, add_up
from analytics.counting.stored_cells import HourlyChanges
from analytics.models import PageView, Seal, Trail
from docsite.core.db import insert

logger = logging.getLogger(__name__)

STEP_SECONDS = 0.5  # duration of a step to aim at, well below that of a lease
LEASE_SECONDS = 3.0
REPORT_TIMEOUT_SECONDS = 5.0  # that a report waits while views are being sealed
HOUR = 3_600_000_000  # microseconds
_LOCK = 0x5EA1  # of PostgreSQL's advisory locks

NO_KIND = -1  # of a view that does not count
_KINDS = {"human": HUMAN, "ai_user": READER, "ai_agent": READER, "ai_search": CRAWLER, "ai_training": CRAWLER}

Progress = Callable[[int], None]


class LeaseLost(Exception):
    """Another process took over the lease; nothing was written."""


@dataclass(frozen=True)
class Lease:
    """The right to write a shard, and how far it is sealed."""

    shard: int
    shards: int
    token: int
    sealed_to: int
    closed: int


def kind_of(client_class: str, surface: str) -> int | None:
    """The kind of a view: human, reader or crawler; None if it does not count."""
    return READER if agents.is_markdown_fetch(client_class, surface) else _KINDS.get(client_class)


def announce_insert() -> None:
    """Announce that this transaction will insert views. Call it before the insert.

    PostgreSQL may commit ids in another order than it assigned them. A sealer waits
    for all announced transactions, so no lower id can be committed later.
    """
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_xact_lock_shared(%s)", [_LOCK])


def newest_view_id() -> int:
    """The highest id of a view. From now on no lower id can be committed."""
    if connection.vendor != "postgresql":
        return _highest_view_id()
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        return _highest_view_id()


def _highest_view_id() -> int:
    return PageView.objects.aggregate(highest=Max("pk"))["highest"] or 0


MAX_COUNTED = 10_000  # of waiting views, for reports
_sealing = threading.Lock()  # one thread of a process seals; the others wait for it


def seal(timeout: float = REPORT_TIMEOUT_SECONDS, progress: Progress | None = None) -> bool:
    """Seal all views that are committed now. Returns False when `timeout` (seconds) is over first.

    Waits for the steps of other threads and processes. `progress` is called after each step with
    the number of views that it sealed.
    """
    until = time.monotonic() + timeout
    if not _unsealed_shards(_highest_view_id()):
        return True
    up_to = newest_view_id()
    while shards := _unsealed_shards(up_to):
        if time.monotonic() > until:
            return False
        if _sealing.acquire(timeout=0.02):
            try:
                moved = any(_step(shard, up_to, progress) for shard in shards)
            finally:
                _sealing.release()
            if not moved:
                time.sleep(0.01)
    return True


def has_unsealed_views(project_id: int) -> bool:
    """Whether a project has views that are not sealed yet."""
    with connection.cursor() as cursor:
        cursor.execute(  # the + keeps the database from its index of projects: ids lead to the few new views
            "SELECT EXISTS (SELECT 1 FROM analytics_pageview "
            "WHERE id > (SELECT MIN(sealed_to) FROM analytics_seal) AND +project_id = %s)",
            [project_id],
        )
        return bool(cursor.fetchone()[0])


def count_unsealed_views(project_id: int) -> int:
    """How many views of a project are not sealed yet, up to `MAX_COUNTED`."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT COUNT(*) FROM (SELECT 1 FROM analytics_pageview "
            "WHERE id > (SELECT MIN(sealed_to) FROM analytics_seal) AND +project_id = %s LIMIT %s) AS waiting",
            [project_id, MAX_COUNTED],
        )
        return int(cursor.fetchone()[0])


def count_waiting_views() -> int:
    """How many stored views are not yet counted in every shard."""
    sealed_to = Seal.objects.aggregate(least=Min("sealed_to"))["least"] or 0
    return PageView.objects.filter(pk__gt=sealed_to).count()


def _unsealed_shards(up_to: int) -> list[int]:
    return list(Seal.objects.filter(sealed_to__lt=up_to).order_by("sealed_to").values_list("shard", flat=True))


def _step(shard: int, up_to: int, progress: Progress | None) -> bool:
    """Seal the next views of a shard. Returns False when another process holds its lease."""
    lease = acquire_lease(shard)
    if lease is None:
        return False
    try:
        views = seal_views(lease, up_to)
    except LeaseLost:
        step_size.adjust(LEASE_SECONDS)
        return False
    except IntegrityError as failure:  # a project and its views were deleted meanwhile
        logger.warning("A sealing step is repeated: %s", failure)
        return False
    if progress:
        progress(views)
    return True


class StepSize:
    """How many items a step takes, adjusted to the duration of the steps before.

    The duration depends on the lengths of the visit histories and on the hours that change. `min_size` and
    `max_size` limit the size; `seconds` is the duration to aim at.
    """

    def __init__(self, min_size: int = 100, max_size: int = 60_000, seconds: float = STEP_SECONDS) -> None:
        self.min_size, self.max_size, self.seconds = min_size, max_size, seconds
        self.size = max(min_size, min(max_size, 5_000))

    def adjust(self, seconds: float) -> None:
        """Adjust the size after a full step of that duration."""
        factor = max(0.25, min(2.0, self.seconds / seconds))
        self.size = max(self.min_size, min(self.max_size, int(self.size * factor)))


step_size = StepSize()


def acquire_lease(shard: int) -> Lease | None:
    """Acquire the lease of a shard for LEASE_SECONDS. Returns None while another process holds it."""
    now = time.time()
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE analytics_seal SET token = token + 1, leased_until = %s "
            "WHERE shard = %s AND (leased_until <= %s OR leased_until > %s) RETURNING token, sealed_to, closed",
            # The last condition ends a lease that a process with a wrong clock made too long.
            [now + LEASE_SECONDS, shard, now, now + 10 * LEASE_SECONDS],
        )
        row = cursor.fetchone()
    # Count the shards after the lease is acquired: a process that changes their number revokes it.
    return Lease(shard, Seal.objects.count(), *row) if row else None


def release_lease(lease: Lease, **facts: object) -> None:
    """Release the lease and store the changed facts. Call it in the transaction of the changes. Raises `LeaseLost`."""
    mine = Seal.objects.filter(shard=lease.shard, token=lease.token)
    if not mine.update(leased_until=0, **facts):
        raise LeaseLost


def seal_views(lease: Lease, up_to: int) -> int:
    """Seal the next views of a shard and release the lease. Returns the number of views.

    Everything is computed before the transaction: while the lease is held, nobody else changes the shard.
    """
    began, limit = time.monotonic(), step_size.size
    rows = _select_views(lease, up_to, limit)
    # Another process may have sealed beyond `up_to` already; the watermark never goes back.
    reached = rows[-1][0] if len(rows) == limit else max(up_to, lease.sealed_to)
    closed = max(lease.closed, int(time.time()) // 3600)
    changes = []
    for project_id, seen in _split_by_project(rows):
        added, histories = _compute_change(project_id, seen)
        changes.append((project_id, histories, stored_cells.update(project_id, lease.shard, lease.closed, added)))
    read = agent_views.sum_shard(lease.sealed_to, reached, lease.shard, lease.shards)
    with transaction.atomic():
        release_lease(lease, sealed_to=reached, closed=closed)
        for project_id, histories, buckets in changes:
            store_histories(project_id, histories)
            stored_cells.store(project_id, lease.shard, buckets)
        agent_views.add_sums(read)
        stored_cells.merge_ended_hours(lease.shard, lease.shards, lease.closed, closed)
    if len(rows) == limit:
        step_size.adjust(time.monotonic() - began)
    return len(rows)


_RawView = tuple[int, int, int, int, int, str, str, int]


def _select_views(lease: Lease, up_to: int, limit: int) -> list[_RawView]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, project_id, at, page, visitor, client_class, surface, audience FROM analytics_pageview "
            "WHERE id > %s AND id <= %s AND visitor & %s = %s ORDER BY id LIMIT %s",
            [lease.sealed_to, up_to, lease.shards - 1, lease.shard, limit],
        )
        return cast("list[_RawView]", cursor.fetchall())


def _split_by_project(rows: Sequence[_RawView]) -> list[tuple[int, Ints]]:
    """The views that count of each project: hour, page, visitor, kind and audience."""
    if not rows:
        return []
    _, project, at, page, visitor, client_class, surface, audience = zip(*rows, strict=True)
    pairs = list(zip(client_class, surface, strict=True))
    kinds = {pair: kind_of(*pair) for pair in set(pairs)}
    kind = np.array([NO_KIND if (found := kinds[pair]) is None else found for pair in pairs])
    hour = np.array(at, np.int64) // HOUR
    columns = [np.array(numbers, np.int64) for numbers in (project, page, visitor, audience)]
    views = np.stack([columns[0], hour, *columns[1:3], kind, columns[3]], axis=1)[kind != NO_KIND]
    views = views[np.argsort(views[:, 0], kind="stable")]
    projects, starts = np.unique(views[:, 0], return_index=True)
    ends = np.searchsorted(views[:, 0], projects, "right").tolist()
    return [
        (project_id, views[start:end, 1:])
        for project_id, start, end in zip(projects.tolist(), starts.tolist(), ends, strict=True)
    ]


@dataclass(frozen=True)
class VisitorHistories:
    """Visitors of one project and their packed visit histories."""

    visitors: list[int]
    trimmed: list[int]
    sightings: list[bytes]


def _compute_change(project_id: int, seen: Ints) -> tuple[HourlyChanges, VisitorHistories]:
    """How views (hour, page, visitor, kind, audience) change the hours, and the new visit histories."""
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
    starts = np.union1d(hour, change.hour)
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
    found: dict[int, tuple[int, int, bytes]] = {}
    with connection.cursor() as cursor:
        for start in range(0, len(visitors), 5000):
            some = visitors[start : start + 5000]
            marks = ", ".join(["%s"] * len(some))
            cursor.execute(
                "SELECT visitor, trimmed, sightings FROM analytics_trail "
                f"WHERE project_id = %s AND visitor IN ({marks})",
                [project_id, *some],
            )
            found.update((row[0], row) for row in cursor.fetchall())
    rows = [found.get(visitor, (visitor, 0, b"")) for visitor in visitors]
    return np.array([row[1] for row in rows], np.int64), [bytes(row[2]) for row in rows]


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
