"""Days of a time zone, and the range of a report.

Functions take and return UTC. Python subtracts two times of one zone by their clocks, which is wrong by an hour when
clocks change; so only this module computes with local times (`time_steps` has them to name them). A function without a
zone uses the current one of Django: that of the project whose page is shown, else UTC.
"""

import re
import zoneinfo
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cache, lru_cache

from django.utils.timezone import get_current_timezone

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATE_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]{1,9})?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?",
    re.IGNORECASE,
)
_DATE_LENGTH = len("2026-01-01")
_FIRST, _LAST = (instant.replace(tzinfo=UTC) for instant in (datetime.min, datetime.max))


@cache
def list_zones() -> list[tuple[str, str]]:
    """The names of all time zones (IANA) as choices, from the system's `tzdata`, or the Python package of that name.

    It looks at 600 files in 0.1 s. Processes that serve do so when they start, since an event loop must not.
    """
    return [(name, name) for name in sorted(zoneinfo.available_timezones() - {"Factory", "localtime"} | {"UTC"})]


@lru_cache(maxsize=1_000)
def find_zone(name: str) -> tzinfo | None:
    """The time zone with a name; None if there is none. Its file of few kilobytes is read once."""
    if name == "UTC":
        return UTC
    return zoneinfo.ZoneInfo(name) if (name, name) in list_zones() else None


def parse(text: str, zone: tzinfo | None = None) -> datetime:
    """An instant: a date alone is the beginning of the day, a date-time without offset is a time of the zone.

    Of a time that occurs twice, the first is meant. Raises ValueError.
    """
    if not (_DATE_TIME if len(text) > _DATE_LENGTH else _DATE).fullmatch(text):
        raise ValueError("must be YYYY-MM-DD or an ISO 8601 date-time")
    try:
        instant = datetime.fromisoformat(text.upper())
        if instant.tzinfo is UTC:
            return instant
        return (instant if instant.tzinfo else instant.replace(tzinfo=zone or get_current_timezone())).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("is not a date that exists or can be converted to UTC") from None


def window(
    start: datetime | None, end: datetime | None, now: datetime, zone: tzinfo | None = None
) -> tuple[datetime, datetime]:
    """The half-open range: by default 30 days up to the end of today.

    Raises ValueError when both ends are given in the wrong order. A start in
    the future without an end is an empty range.
    """
    if start and end and start >= end:
        raise ValueError("must be before dateTo")
    if end is None:
        end = begin_day(now, 1, zone)
    if start is None:
        start = move_days(end, -30, zone)
    return min(start, end), end


def find_day(instant: datetime, zone: tzinfo | None = None) -> date:
    """The day to which an instant belongs."""
    try:
        return instant.astimezone(zone or get_current_timezone()).date()
    except OverflowError:  # at an end of the calendar
        return instant.date()


def begin_day(instant: datetime, days: int = 0, zone: tzinfo | None = None) -> datetime:
    """The beginning of the day of an instant, or of the day some days after it."""
    return _move(instant, days, zone or get_current_timezone(), time())


def first_of_month(day: date, months_before: int = 0) -> date:
    """The first day of the month of a day, or of an earlier month."""
    first = day.replace(day=1)
    for _ in range(months_before):
        first = (first - timedelta(days=1)).replace(day=1)
    return first


def move_days(instant: datetime, days: int, zone: tzinfo | None = None) -> datetime:
    """The instant some days later at which clocks show the same time. A day may have 23 or 25 hours.

    The beginning of a day leads to that of the other day, also where one of the two begins at 01:00.
    """
    begins_day = instant == begin_day(instant, 0, zone)
    return _move(instant, days, zone or get_current_timezone(), time() if begins_day else None)


def _move(instant: datetime, days: int, zone: tzinfo, clock: time | None = None) -> datetime:
    """A time that clocks skip is read by the clock before (PEP 495): of a skipped midnight, the first instant after."""
    try:
        local = instant.astimezone(zone)
        day = local.date() + timedelta(days)
        return datetime.combine(day, local.time() if clock is None else clock, zone).astimezone(UTC)
    except OverflowError:  # at an end of the calendar
        return _LAST if days > 0 else _FIRST if days < 0 else instant
