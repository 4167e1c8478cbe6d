"""Once a day, trim the visit histories and remove old raw views."""

import contextlib
import time
from collections import defaultdict
from datetime import timedelta
from typing import cast

import numpy as np
from django.conf import settings
from django.db import connection, transaction
from django.db.models import Min
from django.utils import timezone

from analytics.counting import visit_history
from analytics.counting.sealer import (
    HOUR,
    LeaseLost,
    VisitorHistories,
    acquire_lease,
    load_histories,
    release_lease,
    store_histories,
)
from analytics.identity import key_rotation
from analytics.models import AnalyticsSettings, Seal, Trail
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


def sweep(*, force: bool = False) -> int:
    """Trim the visit histories and remove old raw views that are sealed, at most once a day.

    Returns the number of removed views.
    """
    now = timezone.now()
    # The first sweep waits a day: while histories are untrimmed, old logs can be imported in any order.
    Seal.objects.filter(swept_at=None).update(swept_at=now)
    due = [row.shard for row in Seal.objects.all() if force or now - (row.swept_at or now) >= EVERY]
    for shard in due:
        _trim_shard(shard)
    removed = _remove_old() if due else 0
    key_rotation.sweep()
    Seal.objects.filter(shard__in=due).update(swept_at=now)
    return removed


def _remove_old() -> int:
    """Remove old views. Sample views stay, because removing them from the counts needs them."""
    sealed_to = Seal.objects.aggregate(least=Min("sealed_to"))["least"] or 0
    removed = _remove_older(settings.ENV.raw_view_days, sealed_to)
    return removed + sum(_remove_older(days, sealed_to, project_id) for project_id, days in _own_days().items())


def _remove_older(days: int, sealed_to: int, project_id: int | None = None) -> int:
    oldest = _first_hour(days) - 24  # a day later, since a report may be reading them now
    of_project, project = ("", []) if project_id is None else ("AND project_id = %s ", [project_id])
    removed = 0
    with connection.cursor() as cursor:
        while True:
            began = time.monotonic()
            cursor.execute(
                "DELETE FROM analytics_pageview WHERE id IN (SELECT id FROM analytics_pageview "
                f"WHERE at < %s AND received < %s AND id <= %s AND NOT sample {of_project}LIMIT %s)",
                [oldest * HOUR, oldest, sealed_to, *project, REMOVE_VIEWS],
            )
            if not cursor.rowcount:
                return removed
            removed += cursor.rowcount
            time.sleep(REST * (time.monotonic() - began))


def _trim_shard(shard: int) -> None:
    days, own_days, horizon = settings.ENV.raw_view_days, _own_days(), settings.ENV.visitor_horizon_days * 24
    last = (0, -(1 << 63))
    while rows := _next_visitors(last):
        last = rows[-1]
        while (lease := acquire_lease(shard)) is None:
            if not Seal.objects.filter(shard=shard).exists():
                return  # the shard was removed
            time.sleep(0.05)
        by_project = defaultdict(list)
        for project_id, visitor in rows:
            if visitor & (lease.shards - 1) == shard:
                by_project[project_id].append(visitor)
        trimmed = [
            (project_id, *_trim(project_id, visitors, _first_hour(own_days.get(project_id, days)) - 24, horizon))
            for project_id, visitors in by_project.items()
        ]
        with contextlib.suppress(LeaseLost), transaction.atomic():  # if the lease is lost, the next sweep trims
            release_lease(lease)
            for project_id, histories, removed in trimmed:
                Trail.objects.filter(project=project_id, visitor__in=removed).delete()
                store_histories(project_id, histories)


def _next_visitors(last: tuple[int, int]) -> list[tuple[int, int]]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT project_id, visitor FROM analytics_trail WHERE (project_id, visitor) > (%s, %s) "
            "ORDER BY project_id, visitor LIMIT %s",
            [*last, TRIM_VISITORS],
        )
        return cast("list[tuple[int, int]]", cursor.fetchall())


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
