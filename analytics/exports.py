"""Rows read page by page: pinned when the first page is read, so that none repeats and none is missed."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from django.utils import timezone

from analytics.models import Snapshot
from analytics.reports import Visitors
from docsite.projects.auth import Caller

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
        Snapshot.objects.filter(taken_at__lte=now - PINNED).delete()
        if len(rows) > limit or offset:
            mine.update_or_create(
                defaults={"taken_at": now, "totals": totals, "rows": rows},
                create_defaults={
                    "key": caller.key, "project": caller.project, "dates": dates,
                    "taken_at": now, "totals": totals, "rows": rows,
                },
            )  # fmt: skip
        else:
            mine.delete()
    return totals, rows[offset : offset + limit], len(rows) > offset + limit
