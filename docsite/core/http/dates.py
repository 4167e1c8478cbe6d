"""Parse the range of a report. All times are UTC."""

import re
from datetime import UTC, datetime, time, timedelta

_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_DATE_TIME = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}(:[0-9]{2}([.,][0-9]{1,9})?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)?",
    re.IGNORECASE,
)
_DATE_LENGTH = len("2026-01-01")
DEFAULT_SPAN = timedelta(days=30)


def parse(text: str) -> datetime:
    """An instant: a date alone is 00:00 UTC, a date-time without offset is UTC. Raises ValueError."""
    if not (_DATE_TIME if len(text) > _DATE_LENGTH else _DATE).fullmatch(text):
        raise ValueError("must be YYYY-MM-DD or an ISO 8601 date-time")
    try:
        instant = datetime.fromisoformat(text.upper())
        if instant.tzinfo is UTC:
            return instant
        return (instant if instant.tzinfo else instant.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise ValueError("is not a date that exists or can be converted to UTC") from None


def window(start: datetime | None, end: datetime | None, now: datetime) -> tuple[datetime, datetime]:
    """The half-open range: by default 30 days up to tomorrow 00:00 UTC.

    Raises ValueError when both ends are given in the wrong order. A start in
    the future without an end is an empty range.
    """
    if start and end and start >= end:
        raise ValueError("must be before dateTo")
    if end is None:
        end = datetime.combine(now.astimezone(UTC).date() + timedelta(days=1), time(), UTC)
    if start is None:
        earliest = datetime.min.replace(tzinfo=UTC)
        start = end - DEFAULT_SPAN if end - earliest > DEFAULT_SPAN else earliest
    return min(start, end), end
