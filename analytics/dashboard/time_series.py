"""The points of the chart: choose the step, count each step, and name it."""

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import zip_longest

from analytics.models import EPOCH
from analytics.reports import visitor_counts
from docsite.core.workspace import charts
from docsite.core.workspace.report_state import DAY, HOUR

# The steps, each with the maximum number of steps in one chart.
STEPS = {HOUR: 48, DAY: 120, 7 * DAY: 120, 28 * DAY: 120, 364 * DAY: 10_000}


def build_points(
    count: Callable[[Sequence[tuple[datetime, datetime]]], list[visitor_counts.StepCounts]],
    start: datetime,
    end: datetime,
    earlier: datetime | None,
    metric: str,
    now: datetime,
) -> tuple[list[charts.Point], timedelta]:
    """The points of a chart, and their step. `count` counts steps of time; `earlier` is where the period before begins.

    The period before is split at the same positions, so that its views add up to those of the period.
    """
    start = max(start, EPOCH)
    if earlier is None:
        end = min(end, _midnight(now) + DAY)  # nothing is in the future, but maybe in the period before
    if start >= end:
        return [], HOUR
    step = next(step for step, limit in STEPS.items() if end - start <= limit * step)
    bins = count(list(split(start, end, step)))
    past: list[visitor_counts.StepCounts] = []
    if earlier is not None:
        ago = start - earlier
        past = count([(one.start - ago, one.end - ago) for one in bins])
    return list(_build(bins, past, metric, step, now)), step


def split(start: datetime, end: datetime, step: timedelta) -> Iterator[tuple[datetime, datetime]]:
    """A range in steps. Hours and days begin at whole ones, in UTC, longer steps where the range does."""
    while start < end:
        following = start + min(end - start, step - ((start - EPOCH) % step if step <= DAY else timedelta()))
        yield start, following
        start = following


def _build(
    bins: list[visitor_counts.StepCounts],
    past: list[visitor_counts.StepCounts],
    metric: str,
    step: timedelta,
    now: datetime,
) -> Iterator[charts.Point]:
    years = bool(bins) and bins[-1].end - bins[0].start > 300 * DAY
    for one, before in zip_longest(bins, past):
        counts = one.visitors if metric == "visitors" else one.views
        earlier = (before.visitors if metric == "visitors" else before.views)["total"] if before else None
        if step == HOUR:
            short = f"{one.start:%H:%M}"
        else:
            short = f"{one.start:%b %Y}" if years and step > DAY else f"{one.start.day} {one.start:%b}"
        is_open = one.start <= now < one.end
        full = name_step(one.start, one.end) + (" (not over yet)" if is_open else "")
        yield charts.Point(full, short, counts["human"], counts["ai"], counts["total"], earlier, is_open)


def name_step(start: datetime, end: datetime) -> str:
    """What a step covers: a whole day, a part of one, whole days, or from one time to another."""
    day = f"{start:%a} {start.day} {start:%b %Y}"
    passed = end - _midnight(start)
    if passed <= DAY:
        until = "24:00" if passed == DAY else f"{end:%H:%M}"
        return day if end - start == DAY else f"{day}, {start:%H:%M} to {until}"
    if (end - start) % DAY:
        return f"{_format_time(start)} to {_format_time(end)}"
    return f"{(end - start) // DAY} days from {_format_time(start)}"


def _format_time(instant: datetime) -> str:
    day = f"{instant.day} {instant:%b %Y}"
    return day if instant == _midnight(instant) else f"{day}, {instant:%H:%M}"


def _midnight(instant: datetime) -> datetime:
    return instant.replace(hour=0, minute=0, second=0, microsecond=0)
