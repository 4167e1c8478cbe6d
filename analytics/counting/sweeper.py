"""Once a day, trim the visit histories and remove old raw views."""

import time
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta

import numpy as np
from django.conf import settings
from django.db import transaction
from django.utils import timezone

from analytics.counting import partitions, visit_history
from analytics.counting.partitions import Removable
from analytics.counting.sealer import (
    HOUR,
    Lease,
    LeaseLost,
    VisitorHistories,
    acquire_lease,
    load_histories,
    release_lease,
    seal_views,
    store_histories,
)
from analytics.identity import key_rotation
from analytics.models import AnalyticsSettings, Seal, Trail, ViewKeys
from docsite.core import sql
from docsite.core.background import collect_failures
from docsite.core.tenants.models import Project

EVERY = timedelta(days=1)
TRIM_VISITORS = 5_000  # of one transaction
REMOVE_VIEWS = 2_000  # of one transaction, for which writers of SQLite wait
REST = 1.0  # of the time of a transaction: others write in it, and SQLite empties its log


def first_kept_hour(project: Project) -> int:
    """The first hour whose raw views are kept. From then on, counts are exact to the instant."""
    return _first_hour(kept_days(project))


def kept_days(project: Project) -> int:
    """The number of days for which raw views of a project are kept."""
    return _limit_days(AnalyticsSettings.for_project(project).view_days)


def _limit_days(own: int | None) -> int:
    """`RAW_VIEW_DAYS`, or the project's own number if it is less."""
    return min(own or settings.ENV.raw_view_days, settings.ENV.raw_view_days)


def _first_hour(days: int) -> int:
    return int((timezone.now() - timedelta(days=days)).timestamp()) // 3600


def _own_days() -> dict[int, int]:
    """The days of raw views of each project that has a number of its own."""
    rows = AnalyticsSettings.objects.filter(view_days__isnull=False).values_list("project_id", "view_days")
    return {project_id: _limit_days(own) for project_id, own in rows}


def sweep(*, force: bool = False, go_on: Callable[[], object] = bool) -> int:
    """Trim the visit histories and remove old raw views that are sealed, of each project at most once a day.

    The first sweep of a project waits a day: while histories are untrimmed, old logs can be imported in any order.
    Returns the number of removed views. `go_on` is called after each project and partition. Raises the first failure
    of a project after the others.
    """
    now = timezone.now()
    due = Seal.objects.all() if force else Seal.objects.filter(swept_at__lte=now - EVERY)
    days, removable, removed = _own_days(), [], 0
    due_ids = list(due.order_by("project_id").values_list("project_id", flat=True))
    with collect_failures() as part:
        for project_id in due_ids:
            with part():
                _trim_histories(project_id, _limit_days(days.get(project_id)))
                _merge_ended_hours(project_id)
                removable.append(_find_removable(project_id, days.get(project_id)))
            go_on()
        if removable and (old := partitions.list_old()):
            every = [*removable, *_list_swept_before(due_ids, days)]
            for partition in old:
                with part():
                    removed += partitions.drop(partition, every)
                go_on()
        for views in removable:
            with part():
                removed += _remove_older(views)
                Seal.objects.filter(project=views.project_id).update(swept_at=now)
            go_on()
        key_rotation.sweep()
    return removed


def _find_removable(project_id: int, own_days: int | None, earlier: int = 0) -> Removable:
    """Which views of a project may be removed, or could be so many hours earlier."""
    done_to = Seal.objects.filter(project=project_id).values_list("sealed_to", flat=True).first() or 0
    before = _first_hour(_limit_days(own_days)) - 24  # a day later: a report may be reading them now
    return Removable(project_id, before - earlier, done_to)


def _list_swept_before(due_ids: list[int], days: dict[int, int]) -> list[Removable]:
    """What may be removed of projects that are not due: their last sweep was less than a day ago, and trimmed up to it.

    A project that waits for its first sweep has no views that arrived so long ago.
    """
    every = Seal.objects.order_by("project_id").values_list("project_id", flat=True)
    return [
        _find_removable(project_id, days.get(project_id), earlier=24) for project_id in set(every).difference(due_ids)
    ]


def _remove_older(views: Removable) -> int:
    """Remove old views and keys. Sample views stay, because removing them from the counts needs them."""
    project_id, oldest, done_to = views
    ViewKeys.objects.filter(project=project_id, day__lt=oldest // 24).delete()
    removed = 0
    while True:
        began = time.monotonic()
        gone = sql.execute(
            "DELETE FROM analytics_pageview WHERE id IN (SELECT id FROM analytics_pageview "
            "WHERE project_id = %s AND at < %s AND received < %s AND id <= %s AND NOT sample LIMIT %s)",
            [project_id, oldest * HOUR, oldest, done_to, REMOVE_VIEWS],
        )
        if not gone:
            return removed
        removed += gone
        time.sleep(REST * (time.monotonic() - began))


def _trim_histories(project_id: int, days: int) -> None:
    before, horizon = _first_hour(days) - 24, settings.ENV.visitor_horizon_days * 24
    last = -(1 << 63)
    while visitors := _next_visitors(project_id, last):
        last = visitors[-1]
        lease = _wait_for_lease(project_id)
        if lease is None:
            return
        histories, removed = _trim(project_id, visitors, before, horizon)
        with suppress(LeaseLost), transaction.atomic():  # if the lease is lost, the next sweep trims
            release_lease(lease)
            Trail.objects.filter(project=project_id, visitor__in=removed).delete()
            store_histories(project_id, histories)


def _merge_ended_hours(project_id: int) -> None:
    """Merge the hours of a project without new views; with new ones, sealing does it."""
    lease = _wait_for_lease(project_id)
    if lease:
        with suppress(LeaseLost):
            seal_views(lease, lease.sealed_to)


def _wait_for_lease(project_id: int) -> Lease | None:
    """Acquire a lease as soon as nobody holds it. Returns None if the project was deleted."""
    while (lease := acquire_lease(project_id)) is None:
        if not Seal.objects.filter(project=project_id).exists():
            return None
        time.sleep(0.05)
    return lease


def _next_visitors(project_id: int, last: int) -> list[int]:
    query = "SELECT visitor FROM analytics_trail WHERE project_id = %s AND visitor > %s ORDER BY visitor LIMIT %s"
    return [visitor for (visitor,) in sql.fetch_all(query, [project_id, last, TRIM_VISITORS])]


def _trim(project_id: int, visitors: list[int], before: int, horizon: int) -> tuple[VisitorHistories, list[int]]:
    """The histories that get shorter without visits that no count needs, and visitors with none left."""
    trimmed, blobs = load_histories(project_id, visitors)
    limit = np.maximum(trimmed, before)
    packed = visit_history.encode(visit_history.trim(visit_history.decode(blobs), limit, horizon), len(blobs))
    removed = [visitor for visitor, blob in zip(visitors, packed, strict=True) if not blob]
    left = [n for n, blob in enumerate(blobs) if packed[n] and len(packed[n]) != len(blob)]
    return VisitorHistories(
        [visitors[n] for n in left], [int(limit[n]) for n in left], [packed[n] for n in left]
    ), removed
