"""The numbers of a report over time: which steps, what they are called, and the period before beside them."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import zip_longest

from analytics import reports
from analytics.dashboard import charts
from analytics.dashboard.state import DAY, HOUR
from analytics.models import EPOCH
from docsite.projects.models import Project

STEPS = {HOUR: 48, DAY: 120, 7 * DAY: 120, 28 * DAY: 120, 364 * DAY: 10_000}  # and how many of each are readable


def points(
    project: Project, start: datetime, end: datetime, earlier: datetime | None, metric: str, now: datetime
) -> tuple[list[charts.Point], timedelta]:
    """The points of a chart, and their step. `earlier` is where the period before begins."""
    start, end = max(start, EPOCH), min(end, _midnight_after(now))  # nothing is in the future
    if start >= end:
        return [], HOUR
    step = next(step for step, most in STEPS.items() if end - start <= most * step)
    hours = step // HOUR
    bins = reports.series(project, start, end, hours)
    past: list[reports.Bin] = []
    if earlier is not None:
        past = reports.series(project, earlier, earlier + (end - start), hours)
    return list(_named(bins, past, metric, step, now)), step


def _named(
    bins: list[reports.Bin], past: list[reports.Bin], metric: str, step: timedelta, now: datetime
) -> Iterator[charts.Point]:
    years = bool(bins) and bins[-1].end - bins[0].start > 300 * DAY
    for one, before in zip_longest(bins, past[: len(bins)]):
        counts = one.visitors if metric == "visitors" else one.views
        earlier = (before.visitors if metric == "visitors" else before.views)["total"] if before else None
        day = f"{one.start.day} {one.start:%b}"
        if step == HOUR:
            name, short = f"{one.start:%a} {day}, {one.start:%H:%M} to {one.end:%H:%M}", f"{one.start:%H:%M}"
        elif step == DAY:
            name, short = f"{one.start:%a} {day} {one.start:%Y}", day
        else:
            days = -((one.start - one.end) // DAY)
            name = f"{days} day{'' if days == 1 else 's'} from {day} {one.start:%Y}"
            short = f"{one.start:%b %Y}" if years else day
        if one.start <= now < one.end:
            name += " (not over yet)"
        yield charts.Point(name, short, counts["human"], counts["ai"], counts["total"], earlier)


def _midnight_after(now: datetime) -> datetime:
    return now.replace(hour=0, minute=0, second=0, microsecond=0) + DAY
