"""The points of the chart: choose the step, count each step, and name it."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import zip_longest

from analytics.models import EPOCH
from analytics.reports import visitor_counts
from analytics.reports.annotations import Mark
from docsite.core.workspace.reports import charts
from docsite.core.workspace.reports.formatting import visible
from docsite.core.workspace.reports.report_state import DAY, HOUR
from docsite.core.workspace.reports.time_steps import choose_step, midnight, name_step, name_step_briefly, split


def build_points(
    count: Callable[[Sequence[tuple[datetime, datetime]]], list[visitor_counts.StepCounts]],
    start: datetime,
    end: datetime,
    earlier: datetime | None,
    metric: str,
    now: datetime,
    marks: Sequence[Mark] = (),
) -> tuple[list[charts.Point], timedelta]:
    """The points of a chart, and their step. `count` counts steps of time; `earlier` is where the period before begins.

    The period before is split at the same positions, so that its views add up to those of the period. `marks` belong
    to the points in which they lie.
    """
    start = max(start, EPOCH)
    if earlier is None:
        end = min(end, midnight(now) + DAY)  # nothing is in the future, but maybe in the period before
    if start >= end:
        return [], HOUR
    step = choose_step(start, end)
    bins = count(list(split(start, end, step)))
    past: list[visitor_counts.StepCounts] = []
    if earlier is not None:
        ago = start - earlier
        past = count([(one.start - ago, one.end - ago) for one in bins])
    return list(_build(bins, past, metric, step, now, marks)), step


def _build(
    bins: list[visitor_counts.StepCounts],
    past: list[visitor_counts.StepCounts],
    metric: str,
    step: timedelta,
    now: datetime,
    marks: Sequence[Mark],
) -> Iterator[charts.Point]:
    years = bool(bins) and bins[-1].end - bins[0].start > 300 * DAY
    for one, before in zip_longest(bins, past):
        counts = one.visitors if metric == "visitors" else one.views
        earlier = (before.visitors if metric == "visitors" else before.views)["total"] if before else None
        short = name_step_briefly(one.start, step, years=years)
        is_open = one.start <= now < one.end
        full = name_step(one.start, one.end) + (" (not over yet)" if is_open else "")
        notes = tuple(visible(mark.text) for mark in marks if one.start <= mark.at < one.end)
        yield charts.Point(full, short, counts["human"], counts["ai"], counts["total"], earlier, is_open, notes)
