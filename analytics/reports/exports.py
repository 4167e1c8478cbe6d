"""Export reports: page by page from pinned rows, so that no row is repeated or missing, or as a whole."""

import logging
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from django.db import DatabaseError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from analytics.models import Snapshot
from analytics.reports.visitor_counts import NAMES, Counts
from docsite.core.access.authentication import Caller
from docsite.core.workspace.reports.downloads import CHUNK_ROWS, Format, format_table

logger = logging.getLogger(__name__)

PIN_LIFETIME = timedelta(minutes=10)
SITE = "(site)"  # the path of the line that holds the totals


def read_page(
    caller: Caller, dates: str, limit: int, offset: int, count: Callable[[], Counts]
) -> tuple[dict[str, int], list[dict[str, Any]], bool]:
    """Totals, one page of rows, and whether more follow.

    Offset 0 counts again. For ten minutes, later offsets of the same key, project and
    dates read the rows that offset 0 pinned, in any process.
    """
    now = timezone.now()
    snapshots = Snapshot.objects.filter(key=caller.key, project=caller.project, dates=dates)
    pinned = snapshots.filter(taken_at__gt=now - PIN_LIFETIME).first() if offset else None
    if pinned:
        counts = Counts.unpack(caller.project.pk, bytes(pinned.counts))
    else:
        counts = count()
        _pin(snapshots, now, caller, dates, counts if len(counts) > limit or offset else None)
    return counts.totals, counts.rows(offset, offset + limit), len(counts) > offset + limit


def _pin(snapshots: "QuerySet[Snapshot]", now: datetime, caller: Caller, dates: str, counts: Counts | None) -> None:
    """Pin the rows for the following pages. If this fails, pages may disagree with each other."""
    identity = {"key": caller.key, "project": caller.project, "dates": dates}
    try:
        with transaction.atomic():
            Snapshot.objects.filter(taken_at__lte=now - PIN_LIFETIME).delete()
            if counts:
                facts = {"taken_at": now, "counts": counts.pack()}
                snapshots.update_or_create(defaults=facts, create_defaults={**identity, **facts})
            else:
                snapshots.delete()
    except DatabaseError:
        logger.exception("The rows of an export could not be pinned.")


def format_report(counts: Counts, form: Format) -> Iterator[str]:
    """A whole report as a file: first the site, as path `(site)`, then every page."""
    starts = range(0, len(counts), CHUNK_ROWS)
    rows = (list(row.values()) for start in starts for row in counts.rows(start, start + CHUNK_ROWS))
    return format_table(("path", *NAMES), chain([[SITE, *counts.totals.values()]], rows), form)
