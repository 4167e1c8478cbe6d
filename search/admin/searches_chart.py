"""The tiles and the chart of the searches report, for all searches or for one query."""

from bisect import bisect_right
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from docsite.core.tenants.models import Project
from docsite.core.workspace.reports import charts, time_steps
from docsite.core.workspace.reports.formatting import percent
from docsite.core.workspace.reports.report_state import DAY, ReportState, previous_period
from docsite.core.workspace.reports.tables import Change
from docsite.core.workspace.reports.tiles import Tile
from search.query_log import totals
from search.query_log.totals import Counts

Hours = list[tuple[datetime, Counts]]
Range = tuple[datetime, datetime]


def build_totals(
    project: Project, state: ReportState, start: datetime, end: datetime, query: str | None = None
) -> dict[str, Any]:
    """The context of the tiles and the chart. `query`: only the searches for that query."""
    period = previous_period(start, end) if state.compare else None
    hours = totals.count_hours(project, start, end, query)
    hours_before = totals.count_hours(project, *period, query) if period else None
    counts = sum((one for _, one in hours), Counts())
    before = None if hours_before is None else sum((one for _, one in hours_before), Counts())
    return {
        "counts": counts,
        "period": period,
        "tiles": _build_tiles(counts, before),
        "chart": charts.build_chart(_build_points(hours, hours_before, start, end)) if counts.searches else None,
        "step": time_steps.LABELS[time_steps.choose_step(start, end)],
    }


def _build_tiles(counts: Counts, before: Counts | None) -> list[Tile]:
    def change(name: str) -> Change | None:
        return None if before is None else Change(getattr(counts, name), getattr(before, name))

    place = counts.mean_position
    return [
        Tile("Searches", f"{counts.searches:,}", change=change("searches")),
        Tile(
            "Clicked",
            percent(counts.clicks, counts.searches),
            note=f"{counts.clicks:,} searches led to a page"
            + (f"; before: {percent(before.clicks, before.searches)}" if before and before.searches else ""),
        ),
        Tile("Mean position clicked", "–" if place is None else f"{place:.1f}", note="the first result is 1"),
        Tile("Without result", f"{counts.without_result:,}", change=change("without_result"), more_is="bad"),
        Tile(
            "Without click",
            f"{counts.without_click:,}",
            note="though there were results",
            change=change("without_click"),
            more_is="bad",
        ),
    ]


def _build_points(hours: Hours, hours_before: Hours | None, start: datetime, end: datetime) -> list[charts.Point]:
    """The bars: searches with results below, those without above."""
    now = timezone.now()
    step = time_steps.choose_step(start, end)
    last = end if hours_before is not None else min(end, max(start, time_steps.midnight(now) + DAY))
    bins = list(time_steps.split(start, last, step))
    counted = _sum_bins(hours, bins, timedelta())
    before = [] if hours_before is None else _sum_bins(hours_before, bins, end - start)
    counts = [(one.searches - one.without_result, one.without_result, one.searches) for one in counted]
    return time_steps.build_points(bins, step, now, counts, [one.searches for one in before])


def _sum_bins(hours: Hours, bins: Sequence[Range], moved_by: timedelta) -> list[Counts]:
    """The counts of each bin, which are hours that begin in it. `moved_by`: how much earlier the hours are."""
    sums = [Counts() for _ in bins]
    begins = [begin for begin, _ in bins]
    for hour, counts in hours:
        number = max(0, bisect_right(begins, hour + moved_by) - 1)
        if sums:
            sums[number] += counts
    return sums
