"""The state of a report, which is the query string of its address. Every link of the report contains it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import UTC, datetime, timedelta
from typing import ClassVar, NamedTuple, Self
from urllib.parse import urlencode

from django.http import QueryDict
from django.utils import timezone

from docsite.core.http import dates

HOUR, DAY = timedelta(hours=1), timedelta(days=1)
MAX_FILTER_LENGTH = 400  # characters: of the longest path

RANGES = {
    **{"24h": "24 hours", "7d": "7 days", "14d": "14 days", "30d": "30 days", "90d": "90 days"},
    **{"month": "This month", "last-month": "Last month"},
}
ENDS = {"from": "From", "to": "Until"}  # of a custom range, as its form names them

_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_SHOWN = datetime(1, 1, 3, tzinfo=UTC), datetime(9999, 12, 30, tzinfo=UTC)  # what has a date in every zone
_RANGE = ("range", "from", "to")
_NAMES = {"start": "from", "end": "to", "kind": "class"}  # in the address, where they differ


class Column(NamedTuple):
    """A column of a table. Texts sort from A to Z when they are first chosen, numbers and values from the largest."""

    key: str
    label: str
    kind: str = ""  # "text", "number" (right-aligned), "value"; empty if it cannot be sorted


@dataclass(frozen=True)
class ReportState:
    """The state of a report. `start` and `end` are a custom range as it was typed; one of them is enough.

    `path` is the page that a report with this filter is about. A report with more to choose adds fields, and their
    values to `choices`, or to `list_choices` if they depend on others.
    """

    range: str = "30d"
    start: str = ""
    end: str = ""
    compare: str = ""
    sort: str = ""
    q: str = ""
    page: int = 1
    path: str = ""

    table_columns: ClassVar[Sequence[Column]] = ()
    choices: ClassVar[Mapping[str, Iterable[str]]] = {}
    default_sort: ClassVar[str] = ""  # with a minus: the largest first
    max_days: ClassVar[int] = 3660  # of a custom range, whose days are counted one by one; 0: no limit

    @classmethod
    def list_columns(cls, typed: Mapping[str, str]) -> Sequence[Column]:
        """The columns of the report's table: `table_columns`, or by `typed`, the values in the address."""
        return cls.table_columns

    @classmethod
    def list_choices(cls, typed: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        """The values that a field may have, by the name of the field."""
        sorts = [column.key for column in cls.list_columns(typed) if column.kind]
        if typed.get("compare") != "1":
            sorts = [key for key in sorts if key != "change"]
        return {
            "range": tuple(RANGES),
            "compare": ("1",),
            "sort": tuple(sign + key for key in sorts for sign in ("", "-")),
            **{name: tuple(values) for name, values in cls.choices.items()},
        }

    @classmethod
    def accepts_path(cls, path: str) -> bool:
        """Whether the filter by page takes a text. It takes paths of pages only, unless a report adds others."""
        return path.startswith("/")

    @classmethod
    def parse(cls, query: QueryDict) -> tuple[Self, list[str]]:
        """Parse a query string. Returns the state, and a sentence for each invalid value.

        An invalid value gets its default. Dates are kept as typed; `window` checks them.
        """
        values = {field.name: query.getlist(_NAMES.get(field.name, field.name)) for field in fields(cls)}
        errors = [f"{_NAMES.get(name, name)}: was given twice." for name, values in values.items() if len(values) > 1]
        typed = {name: values[-1].replace("\0", "") for name, values in values.items() if values and values[-1]}
        for name, allowed in cls.list_choices(typed).items():
            if name in typed and typed[name] not in allowed:
                del typed[name]
                names = dict.fromkeys(choice.removeprefix("-") for choice in allowed)
                errors.append(f"{_NAMES.get(name, name)}: must be one of {', '.join(names)}.")
        number = typed.pop("page", "1")
        page = int(number) if number.isascii() and number.isdigit() and len(number) < 10 else 0
        if not page:
            errors.append("page: must be a whole number from 1.")
        for name in [name for name, value in typed.items() if len(value) > MAX_FILTER_LENGTH]:
            del typed[name]
            errors.append(f"{_NAMES.get(name, name)}: must have at most {MAX_FILTER_LENGTH} characters.")
        if "path" in typed and not cls.accepts_path(typed["path"]):
            del typed["path"]
            errors.append("path: must begin with “/”.")
        return cls(**typed, page=max(1, page)), errors

    def window(self, now: datetime) -> tuple[datetime, datetime]:
        """The half-open range. Days are those of the current time zone.

        Raises ValueError with a sentence for each date that is wrong.
        """
        if not self.custom:
            if self.range == "24h":  # agents are counted by the hour, so everything is
                end = _end_hour(now)
                return end - DAY, end
            end = dates.begin_day(now, 1)
            if self.range.endswith("d"):
                return dates.move_days(end, -int(self.range[:-1])), end
            this, last = (dates.parse(str(dates.first_of_month(dates.find_day(now), before))) for before in (0, 1))
            return (this, end) if self.range == "month" else (last, this)
        ends: dict[str, datetime] = {}
        errors = []
        for name, text in (("from", self.start), ("to", self.end)):
            try:
                if text:
                    ends[name] = dates.parse(text).replace(second=0, microsecond=0)  # pages show minutes
            except ValueError:
                forms = f"a day such as {(day := dates.find_day(now))}, or a time such as {day}T09:30"
                errors.append(f"{ENDS[name]}: this is not a date; write {forms}.")
        if errors:
            raise ValueError(*errors)
        try:
            start, end = dates.window(ends.get("from"), ends.get("to"), now)
        except ValueError:
            raise ValueError(f"{ENDS['from']}: must be before “{ENDS['to']}”.") from None
        if self.max_days and end > dates.move_days(start, self.max_days):
            raise ValueError(f"{ENDS['from']}: this report covers at most {self.max_days:,} days.")
        return min(max(start, _SHOWN[0]), _SHOWN[1]), min(max(end, _SHOWN[0]), _SHOWN[1])

    @classmethod
    def read(cls, query: QueryDict) -> tuple[Self, tuple[datetime, datetime] | None, list[str]]:
        """The state, its range, and a sentence for each invalid value. There is no range if a date is wrong."""
        state, errors = cls.parse(query)
        try:
            return state, state.window(timezone.now()), errors
        except ValueError as problem:
            return state, None, [*errors, *problem.args]

    @property
    def custom(self) -> bool:
        """Whether the range has its own ends instead of a length."""
        return bool(self.start or self.end)

    @property
    def sorted_by(self) -> tuple[str, bool]:
        """The column that the table is sorted by, and whether its largest comes first."""
        sort = self.sort or self.default_sort
        return sort.removeprefix("-"), sort.startswith("-")

    @property
    def columns(self) -> Sequence[Column]:
        """The columns of its table."""
        return self.list_columns(dict(self._query_pairs()))

    def link(self, **changes: str | int) -> str:
        """The query string of this state with changes. Whatever changes, its table begins at page 1."""
        changed = replace(self, **{"page": 1, **changes})  # type: ignore[arg-type]  # names and kinds of the fields
        return "?" + urlencode(changed._query_pairs())

    def sort_link(self, key: str) -> str:
        """The link that sorts by a column, or turns its order round."""
        by, descending = self.sorted_by
        kinds = {column.key: column.kind for column in self.columns}
        first = "" if kinds[key] == "text" else "-"
        return self.link(sort=f"{'' if descending else '-'}{key}" if key == by else f"{first}{key}")

    def hidden(self, *without: str) -> list[tuple[str, str]]:
        """Names and values of a form's hidden fields, so that it changes only the fields `without`."""
        return [(name, value) for name, value in replace(self, page=1)._query_pairs() if name not in without]

    @property
    def dates_link(self) -> str:
        """The query string of the range alone."""
        return "?" + urlencode([pair for pair in self._query_pairs(with_range=True) if pair[0] in _RANGE])

    @property
    def page_path(self) -> str:
        """The path of the page that the report is about; empty if its filter is another one."""
        return self.path if self.path.startswith("/") else ""

    def keep_link(self, path: str) -> str:
        """The query string of what holds in another report, too: the range, and a page. Empty for the defaults."""
        kept = [pair for pair in self._query_pairs() if pair[0] in _RANGE] + [("path", path)] * bool(path)
        return "?" + urlencode(kept) if kept else ""

    def _query_pairs(self, *, with_range: bool = False) -> list[tuple[str, str]]:
        """Query parameters of the report: fields that differ from their defaults, and the range if `with_range`."""
        values = []
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name == "range" and self.custom:
                continue
            if value != field.default or (with_range and field.name == "range"):
                values.append((_NAMES.get(field.name, field.name), str(value)))
        return values


def previous_period(start: datetime, end: datetime) -> tuple[datetime, datetime] | None:
    """What a range is compared with: the period of as many days before, or of the same length.

    While the range runs, the period ends where the range has come so far, with the present hour: alike parts are
    compared. None when the period would begin before 1970.
    """
    if start - _EARLIEST < end - start:
        return None
    now = timezone.now()
    until = min(end, _end_hour(now)) if now >= start else end
    return move_back(start, start, end), move_back(until, start, end)


def _end_hour(now: datetime) -> datetime:
    return now.astimezone(UTC).replace(minute=0, second=0, microsecond=0) + HOUR


def move_back(instant: datetime, start: datetime, end: datetime) -> datetime:
    """What an instant of a range compares with in the period before. Days compare with days, also if clocks change."""
    if dates.begin_day(start) == start and dates.begin_day(end) == end:
        return dates.move_days(instant, (dates.find_day(start) - dates.find_day(end)).days)
    return instant - (end - start)
