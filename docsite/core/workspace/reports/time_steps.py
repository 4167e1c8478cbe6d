"""Split the range of a report into the steps of its chart, count rows in them, and name them in the current zone."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from itertools import zip_longest
from typing import Any

from django.db.models import CharField, Func
from django.utils.timezone import localtime

from docsite.core.http.dates import begin_day, move_days
from docsite.core.workspace.reports.charts import Point
from docsite.core.workspace.reports.report_state import DAY, HOUR

# The steps, each with the maximum number of steps in one chart.
STEPS = {HOUR: 48, DAY: 120, 7 * DAY: 120, 28 * DAY: 120, 364 * DAY: 10_000}
LABELS = {HOUR: "by hour", DAY: "by day", 7 * DAY: "by 7 days", 28 * DAY: "by 4 weeks", 364 * DAY: "by 52 weeks"}

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MINUTE = timedelta(minutes=1)
_PREFIXES = {DAY: 10, HOUR: 13, 10 * _MINUTE: 15, _MINUTE: 16}  # characters of an ISO time that tell such times apart

Step = tuple[datetime, datetime]  # half-open


def choose_step(start: datetime, end: datetime) -> timedelta:
    """The shortest step that does not give a chart too many bars. When clocks change, a day has an hour more."""
    return next(step for step, limit in STEPS.items() if end - start <= limit * step + HOUR)


def split(start: datetime, end: datetime, step: timedelta) -> Iterator[Step]:
    """A range in steps: whole hours in UTC, as views are counted; days from midnight; longer steps from the start."""
    while start < end:
        if step < DAY:
            following = start + min(end - start, step - (start - _EPOCH) % step)
        else:
            following = min(end, begin_day(start, 1) if step == DAY else move_days(start, step.days))
        yield start, following
        start = following


class StepText(Func):
    """The beginning of an instant as ISO time in UTC, as long as some steps that follow each other need it.

    Rows are grouped by it: Django's own functions are in Python on SQLite. `find` is the place of a group's step.
    """

    output_field = CharField()

    def __init__(self, column: str, steps: Sequence[Step]) -> None:
        super().__init__(column)
        self._starts = [start for start, _ in steps[1:]]
        of_all = [size for step, size in _PREFIXES.items() if not any((at - _EPOCH) % step for at in self._starts)]
        self._size = of_all[0] if of_all else _PREFIXES[_MINUTE]

    def find(self, text: str) -> int:
        """The place of the step in which a group of rows lies."""
        at = datetime.fromisoformat(f"{text}0" if len(text) == _PREFIXES[10 * _MINUTE] else text)
        return bisect_right(self._starts, at.replace(tzinfo=UTC))

    def as_sqlite(self, compiler: Any, connection: Any, **more: Any) -> Any:
        """Cut the stored text."""
        return self.as_sql(compiler, connection, template=f"SUBSTR(%(expressions)s, 1, {self._size})", **more)

    def as_postgresql(self, compiler: Any, connection: Any, **more: Any) -> Any:
        """Format the stored time."""
        template = f"LEFT(TO_CHAR(%(expressions)s AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI'), {self._size})"
        return self.as_sql(compiler, connection, template=template, **more)


def build_points(
    bins: Sequence[Step],
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
    first, last, midnight = localtime(start), localtime(end), begin_day(start, 1)
    if end <= midnight:
        day = f"{first:%a} {first.day} {first:%b %Y}"
        clock = "%H:%M" if first.utcoffset() == last.utcoffset() else "%H:%M %Z"  # clocks change meanwhile
        until = "24:00" if end == midnight else f"{last:{clock}}"
        return day if (begin_day(start), midnight) == (start, end) else f"{day}, {first:{clock}} to {until}"
    days = (last.date() - first.date()).days
    if move_days(start, days) != end:
        return f"{_format_time(start)} to {_format_time(end)}"
    return f"{days} days from {_format_time(start)}"


def _name_step_briefly(start: datetime, step: timedelta, *, years: bool) -> str:
    """The label of a step below a chart. `years`: whether the chart covers about a year or more."""
    local = localtime(start)
    if step == HOUR:
        return f"{local:%H:%M}"
    return f"{local:%b %Y}" if years and step > DAY else f"{local.day} {local:%b}"


def _format_time(instant: datetime) -> str:
    local = localtime(instant)
    day = f"{local.day} {local:%b %Y}"
    return day if instant == begin_day(instant) else f"{day}, {local:%H:%M}"
