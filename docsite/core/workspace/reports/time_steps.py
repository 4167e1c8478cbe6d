"""Split the range of a report into the steps of its chart, and name them."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import zip_longest

from docsite.core.workspace.reports.charts import Point
from docsite.core.workspace.reports.report_state import DAY, HOUR

# The steps, each with the maximum number of steps in one chart.
STEPS = {HOUR: 48, DAY: 120, 7 * DAY: 120, 28 * DAY: 120, 364 * DAY: 10_000}
LABELS = {HOUR: "by hour", DAY: "by day", 7 * DAY: "by 7 days", 28 * DAY: "by 4 weeks", 364 * DAY: "by 52 weeks"}

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def choose_step(start: datetime, end: datetime) -> timedelta:
    """The shortest step that does not give a chart too many bars."""
    return next(step for step, limit in STEPS.items() if end - start <= limit * step)


def split(start: datetime, end: datetime, step: timedelta) -> Iterator[tuple[datetime, datetime]]:
    """A range in steps. Hours and days begin at whole ones, in UTC, longer steps where the range does."""
    while start < end:
        following = start + min(end - start, step - ((start - _EPOCH) % step if step <= DAY else timedelta()))
        yield start, following
        start = following


def build_points(
    bins: Sequence[tuple[datetime, datetime]],
    step: timedelta,
    now: datetime,
    counts: Iterable[tuple[int, int, int]],
    before: Iterable[int] = (),
    notes: Iterable[tuple[str, ...]] = (),
) -> list[Point]:
    """A point of a chart for each step of time. `counts`: both parts and their union; `before`: earlier totals."""
    years = bool(bins) and bins[-1][1] - bins[0][0] > 300 * DAY
    points = []
    for (start, end), numbers, earlier, happened in zip_longest(bins, counts, before, notes):
        is_open = start <= now < end
        name = name_step(start, end) + (" (not over yet)" if is_open else "")
        short = _name_step_briefly(start, step, years=years)
        first, second, total = numbers or (0, 0, 0)
        points.append(Point(name, short, first, second, total, earlier, is_open, happened or ()))
    return points


def name_step(start: datetime, end: datetime) -> str:
    """What a step covers: a whole day, a part of one, whole days, or from one time to another."""
    day = f"{start:%a} {start.day} {start:%b %Y}"
    passed = end - midnight(start)
    if passed <= DAY:
        until = "24:00" if passed == DAY else f"{end:%H:%M}"
        return day if end - start == DAY else f"{day}, {start:%H:%M} to {until}"
    if (end - start) % DAY:
        return f"{_format_time(start)} to {_format_time(end)}"
    return f"{(end - start) // DAY} days from {_format_time(start)}"


def _name_step_briefly(start: datetime, step: timedelta, *, years: bool) -> str:
    """The label of a step below a chart. `years`: whether the chart covers about a year or more."""
    if step == HOUR:
        return f"{start:%H:%M}"
    return f"{start:%b %Y}" if years and step > DAY else f"{start.day} {start:%b}"


def midnight(instant: datetime) -> datetime:
    """The beginning of an instant's day."""
    return instant.replace(hour=0, minute=0, second=0, microsecond=0)


def _format_time(instant: datetime) -> str:
    day = f"{instant.day} {instant:%b %Y}"
    return day if instant == midnight(instant) else f"{day}, {instant:%H:%M}"
