"""Rows read page by page: pinned when the first page is read, so that none repeats and none is missed."""

import logging
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db import DatabaseError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from analytics.models import Snapshot
from analytics.reports import Visitors
from docsite.projects.auth import Caller

logger = logging.getLogger(__name__)

PINNED = timedelta(minutes=10)


def page(
    caller: Caller, dates: str, limit: int, offset: int, count: Callable[[], Visitors]
) -> tuple[dict[str, int], list[dict[str, Any]], bool]:
    """Totals, one page of rows, and whether more follow.

    Offset 0 counts afresh. Later offsets of the same key, project and dates read
    what the first page pinned, for ten minutes, in any process.
    """
    now = timezone.now()
    mine = Snapshot.objects.filter(key=caller.key, project=caller.project, dates=dates)
    pinned = mine.filter(taken_at__gt=now - PINNED).first() if offset else None
    if pinned:
        totals, rows = pinned.totals, pinned.rows
    else:
        counted = count()
        totals, rows = counted.totals, counted.rows
        _pin(mine, now, caller, dates, totals, rows if len(rows) > limit or offset else [])
    return totals, rows[offset : offset + limit], len(rows) > offset + limit


def _pin(
    mine: "QuerySet[Snapshot]",
    now: datetime,
    caller: Caller,
    dates: str,
    totals: dict[str, int],
    rows: list[dict[str, Any]],
) -> None:
    """Keep the rows for the pages after this one; a disk that is full costs only that."""
    facts = {"taken_at": now, "totals": totals, "rows": rows}
    identity = {"key": caller.key, "project": caller.project, "dates": dates}
    try:
        with transaction.atomic():
            Snapshot.objects.filter(taken_at__lte=now - PINNED).delete()
            if rows:
                mine.update_or_create(defaults=facts, create_defaults={**identity, **facts})
            else:
                mine.delete()
    except DatabaseError:
        logger.exception("The rows of an export could not be kept.")
