"""How often a stored source is read again."""

from datetime import datetime, timedelta

from search.models import Source

_INTERVALS = {
    Source.Schedule.HOURLY: timedelta(hours=1),
    Source.Schedule.DAILY: timedelta(days=1),
    Source.Schedule.WEEKLY: timedelta(weeks=1),
}


def next_due_time(source: Source, since: datetime) -> datetime | None:
    """When the source is due next by its schedule; None without a schedule."""
    interval = _INTERVALS.get(Source.Schedule(source.schedule))
    return since + interval if interval else None
