"""The tiles and the chart of the searches report, for all searches or for one query."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone

from docsite.core.http.dates import begin_day
from docsite.core.tenants.models import Project
from docsite.core.workspace.reports import charts, time_steps
from docsite.core.workspace.reports.formatting import percent
from docsite.core.workspace.reports.report_state import ReportState, move_back, previous_period
from docsite.core.workspace.reports.tables import Change
from docsite.core.workspace.reports.tiles import Tile
from search.query_log import totals
from search.query_log.totals import Counts


def build_totals(
    project: Project, state: ReportState, start: datetime, end: datetime, query: str | None = None, path: str = ""
) -> dict[str, Any]:
    """The context of the tiles and the chart. `query` and `path` are as in `totals.select_searches`."""
    period = previous_period(start, end) if state.compare else None
    step = time_steps.choose_step(start, end)
    steps = list(time_steps.split(start, end, step)) or [(start, end)]
    counted = totals.count_steps(project, steps, query, path)
    earlier = []
    if period:
        moved = [(move_back(first, start, end), move_back(last, start, end)) for first, last in steps]
        earlier = totals.count_steps(project, moved, query, path)
    counts = sum(counted, Counts())
    before = sum(totals.count_steps(project, [period], query, path), Counts()) if period else None
    return {
        "counts": counts,
        "period": period,
        "tiles": _build_tiles(counts, before),
        "chart": charts.build_chart(_build_points(steps, step, counted, earlier)) if counts.searches else None,
        "step": time_steps.LABELS[step],
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


def _build_points(
    steps: Sequence[time_steps.Step], step: timedelta, counted: Sequence[Counts], before: Sequence[Counts]
) -> list[charts.Point]:
    """The bars: searches with results below, those without above. Nothing is in the future, but maybe before it."""
    now = timezone.now()
    shown = steps if before else [one for one in steps if one[0] < begin_day(now, 1)]
    counts = [(count.searches - count.without_result, count.without_result, count.searches) for count in counted]
    return time_steps.build_points(shown, step, now, counts[: len(shown)], [count.searches for count in before])
