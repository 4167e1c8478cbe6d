"""The points of the chart: choose the step, count each step, and name it."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from analytics.models import EPOCH
from analytics.reports import visitor_counts
from analytics.reports.annotations import Mark
from docsite.core.http.dates import begin_day
from docsite.core.workspace.reports import charts, time_steps
from docsite.core.workspace.reports.formatting import visible
from docsite.core.workspace.reports.report_state import HOUR, move_back
from docsite.core.workspace.reports.time_steps import choose_step, split


def build_points(
    count: Callable[[Sequence[tuple[datetime, datetime]]], list[visitor_counts.StepCounts]],
    start: datetime,
    end: datetime,
    earlier: bool,
    metric: str,
    now: datetime,
    marks: Sequence[Mark] = (),
) -> tuple[list[charts.Point], timedelta]:
    """The points of a chart, and their step. `count` counts steps of time; `earlier`: whether to compare.

    The period before is split at the same positions, so that its views add up to those of the period. `marks` belong
    to the points in which they lie.
    """
    start = max(start, EPOCH)
    if not earlier:
        end = min(end, begin_day(now, 1))  # nothing is in the future, but maybe in the period before
    if start >= end:
        return [], HOUR
    step = choose_step(start, end)
    bins = count(list(split(start, end, step)))
    past: list[visitor_counts.StepCounts] = []
    if earlier:
        past = count([(move_back(span.start, start, end), move_back(span.end, start, end)) for span in bins])
    steps = [(span.start, span.end) for span in bins]
    counts = [tuple(getattr(span, metric)[name] for name in visitor_counts.NAMES) for span in bins]
    before = [getattr(span, metric)["total"] for span in past]
    notes = [tuple(visible(mark.text) for mark in marks if first <= mark.at < last) for first, last in steps]
    return time_steps.build_points(steps, step, now, counts, before, notes), step
