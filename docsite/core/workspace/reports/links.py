"""The links of a report to other ranges, sort orders and pages. Each keeps the rest of the state."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from docsite.core.http import dates
from docsite.core.workspace.reports.formatting import visible
from docsite.core.workspace.reports.report_state import ENDS, RANGES, ReportState
from docsite.core.workspace.reports.tables import Table

TABLES = "#tables"  # where the tables begin: links that change only a table lead back to it


@dataclass(frozen=True)
class Choice:
    """A link to another state."""

    label: str
    link: str
    chosen: bool = False


@dataclass(frozen=True)
class Heading:
    """A heading of a table: its link, if the table can be sorted by it, and the current order as in `aria-sort`."""

    label: str
    link: str
    order: str
    is_number: bool


@dataclass(frozen=True)
class Field:
    """A field of a form, and the kind of input that can hold its value."""

    name: str
    label: str
    value: str
    kind: str
    wrong: bool


def range_picker(state: ReportState, window: tuple[datetime, datetime] | None, errors: Sequence[str]) -> dict[str, Any]:
    """The context of the form that chooses the range, and of the one that filters. `window`: None if it is wrong."""
    start, end = window or (None, None)
    return {
        "state": state,
        "wrong": errors,
        "window": window,
        "start": start,
        "end": end,
        "ranges": [
            Choice(label, state.link(range=key, start="", end=""), key == state.range and not state.custom)
            for key, label in RANGES.items()
        ],
        "fields": range_fields(state, start, end, errors),
        "range_fields": state.hidden("range", "from", "to"),
        "filter_fields": state.hidden("q"),
        "unfiltered": state.link(q="") + TABLES,
    }


def page_chip(state: ReportState) -> list[Choice]:
    """The page that a report is filtered by, with the link that removes the filter; empty if there is none."""
    return [Choice(f"Page: {visible(state.path)}", state.link(path=""))] if state.path else []


def compare_choice(state: ReportState) -> Choice:
    """The link that switches the comparison on or off. Switched off, the table cannot be sorted by change."""
    if not state.compare:
        return Choice("Compare with the period before", state.link(compare="1"))
    sort = "" if "change" in state.sort else state.sort
    return Choice("Compare with the period before", state.link(compare="", sort=sort), True)


def range_fields(state: ReportState, start: datetime | None, end: datetime | None, wrong: Sequence[str]) -> list[Field]:
    """The fields of a custom range. `wrong` holds sentences; one about a field begins with the field's label.

    A field keeps what was typed. An empty one shows the end of the range if that is a whole day.
    """
    ends = {"from": (state.start, start), "to": (state.end, end)}
    values = {name: typed or (_day(instant) if instant else "") for name, (typed, instant) in ends.items()}
    return [
        Field(
            *(name, ENDS[name] + (" (excluded)" if name == "to" else ""), value),
            "date" if _is_day(value) else "text",
            any(sentence.startswith(f"{ENDS[name]}:") for sentence in wrong),
        )
        for name, value in values.items()
    ]


def table_headings(state: ReportState, **labels_of: str) -> list[Heading]:
    """The headings of the chosen table. `labels_of`: other labels of some columns; an empty one hides the column."""
    by, descending = state.sorted_by
    order = "descending" if descending else "ascending"
    labels = {column: labels_of.get(column.key, column.label) for column in state.columns}
    return [
        Heading(
            label,
            state.sort_link(column.key) + TABLES if column.kind else "",
            order if column.key == by else "",
            column.kind == "number",
        )
        for column, label in labels.items()
        if label
    ]


def page_choices(state: ReportState, table: Table[Any]) -> list[Choice]:
    """Other pages of a table."""
    places = {
        "First": (1, table.page > 1),
        "Previous": (table.page - 1, table.page > 1),
        "Next": (table.page + 1, table.page < table.last_page),
        "Last": (table.last_page, table.page < table.last_page),
    }
    return [Choice(label, state.link(page=page) + TABLES) for label, (page, possible) in places.items() if possible]


def api_time(instant: datetime) -> str:
    """An instant in the format of the API."""
    return instant.isoformat().replace("+00:00", "Z")


def _is_day(text: str) -> bool:
    try:
        return not text or date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False


def _day(instant: datetime) -> str:
    """The day that an instant begins; empty when it begins none."""
    return dates.find_day(instant).isoformat() if instant == dates.begin_day(instant) else ""
