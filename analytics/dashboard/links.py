"""The links of a report: other ranges, orders and pages. Each keeps the rest of the state."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime

from analytics.dashboard.state import State
from analytics.dashboard.tables import Table

_RANGES = {"24h": "24 hours", "7d": "7 days", "30d": "30 days", "90d": "90 days"}
_NUMBERS = ("human", "ai", "total", "other", "change", "views")


@dataclass(frozen=True)
class Choice:
    """A link to another state."""

    label: str
    link: str
    chosen: bool = False


@dataclass(frozen=True)
class Column:
    """A heading of a table: what it sorts by, if it does, and how it sorts now, in the words of `aria-sort`."""

    label: str
    link: str
    order: str
    is_number: bool


def ranges(state: State) -> list[Choice]:
    """The ranges up to now."""
    return [
        Choice(label, state.link(range=key, start="", end=""), key == state.range and not state.custom)
        for key, label in _RANGES.items()
    ]


def compare(state: State) -> Choice:
    """The switch of the comparison. Without one, nothing can be sorted by its change."""
    if not state.compare:
        return Choice("Compare with the period before", state.link(compare="1"))
    sort = "" if "change" in state.sort else state.sort
    return Choice("Compare with the period before", state.link(compare="", sort=sort), True)


def fields(state: State, start: datetime | None, end: datetime | None) -> list[tuple[str, str, str, str]]:
    """The fields of a custom range: name, label, value, and the kind of input that can hold it.

    What was typed stays, and where nothing was, the ends of the range stand if they are days.
    """
    ends = (("from", "From", state.start, start), ("to", "to, exclusive", state.end, end))
    values = [(name, label, typed or (_day(instant) if instant else "")) for name, label, typed, instant in ends]
    return [(name, label, value, "date" if _is_day(value) else "text") for name, label, value in values]


def columns(state: State, keys: Sequence[tuple[str, str]]) -> list[Column]:
    """The headings of a table. Those without a key do not sort."""
    by, falling = state.sorted_by
    order = "descending" if falling else "ascending"
    return [
        Column(label, state.sort_link(key) if key else "", order if key == by else "", key in _NUMBERS)
        for key, label in keys
    ]


def pager(state: State, table: Table[object]) -> list[Choice]:
    """Other pages of a table."""
    places = {
        "First": (1, table.page > 1),
        "Previous": (table.page - 1, table.page > 1),
        "Next": (table.page + 1, table.page < table.last_page),
        "Last": (table.last_page, table.page < table.last_page),
    }
    return [Choice(label, state.link(page=page)) for label, (page, possible) in places.items() if possible]


def _is_day(text: str) -> bool:
    try:
        return not text or date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _day(instant: datetime) -> str:
    """The day that an instant begins; empty when it begins none."""
    midnight = instant.replace(hour=0, minute=0, second=0, microsecond=0)
    return instant.date().isoformat() if instant == midnight else ""
