"""The searches report of a project: totals, over time, and the queries with what readers opened."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any

from django.db.models import F, QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone

from docsite.core.base_path import service_url
from docsite.core.tenants.models import Project
from docsite.core.workspace import navigation
from docsite.core.workspace.reports import links
from docsite.core.workspace.reports.downloads import (
    CHUNK_ROWS,
    format_table,
    list_choices,
    name_file,
    parse_format,
    refuse,
    send_file,
)
from docsite.core.workspace.reports.formatting import percent, visible
from docsite.core.workspace.reports.links import TABLES, Choice
from docsite.core.workspace.reports.report_state import ReportState, previous_period
from docsite.core.workspace.reports.tables import Change, Table, page_slice
from search.admin.searches_chart import build_totals
from search.admin.searches_state import ORDERS, TABS, QueryState, SearchesState
from search.query_log import recording, totals

FILE_NAMES = (
    *("query", "searches", "searchesBefore", "results", "clicks", "ctr", "position"),
    *("withoutResult", "withoutClick", "lastSearchedAt"),
)


@dataclass(frozen=True)
class Row:
    """A query in the table. `link` leads to its page."""

    text: str
    link: str
    numbers: dict[str, Any]
    change: Change | None

    @property
    def clicked(self) -> str:
        """The share of its searches with a click."""
        return percent(self.numbers["clicks"], self.numbers["searches"])


def show_searches(request: HttpRequest, project: Project) -> HttpResponse:
    """The report."""
    state, window, errors = SearchesState.read(request.GET)
    context = {**build_frame(request, state, window, errors), "chips": links.page_chip(state)}
    if window:
        recording.flush()
        context |= build_totals(project, state, *window, path=state.path) | _list_queries(project, state, *window)
        context["downloads"] = list_choices(
            lambda form: navigation.page_url("searches", project, form, name="file") + state.link()
        )
    context["tabs"] = [
        Choice(label, state.link(tab=key, sort="") + TABLES, key == state.tab) for key, label in TABS.items()
    ]
    return navigation.render(request, "admin/search/searches.html", project, "Searches", context, wrong=errors)


def download_searches(request: HttpRequest, project: Project, form: str) -> HttpResponseBase:
    """The queries of the report as a file, with its range, its list and its filter."""
    state, window, errors = SearchesState.read(request.GET)
    if errors or window is None:
        return refuse(errors)
    kind = parse_format(form)
    recording.flush()
    lines = format_table(FILE_NAMES, _file_rows(project, state, *window), kind)
    return send_file(lines, kind, name_file(f"{project.domain}-searches.{form}", window))


def build_frame(
    request: HttpRequest, state: ReportState, window: tuple[datetime, datetime] | None, errors: list[str]
) -> dict[str, Any]:
    """The context of the range picker. `window`: the range; None if it is wrong."""
    return {
        **links.range_picker(state, window, errors),
        "compare": links.compare_choice(state),
        "base_url": service_url(request),
        "dates": [links.api_time(instant) for instant in window or ()],
        "is_open": bool(window and window[1] > timezone.now()),
    }


def _list_queries(project: Project, state: SearchesState, start: datetime, end: datetime) -> dict[str, Any]:
    """The context of the table."""
    grouped, order = _select_queries(project, state, start, end)
    found = grouped.count()
    page, part = page_slice(state, found)
    numbers = list(grouped.order_by(*order)[part])
    spellings = totals.find_spellings(project, start, end, [row["folded"] for row in numbers])
    table: Table[Any] = Table([_build_row(project, state, row, spellings) for row in numbers], found, found, page)
    return {
        "table": table,
        "headings": links.table_headings(state, **({} if state.compare else {"change": ""})),
        "pager": links.page_choices(state, table),
    }


def _build_row(project: Project, state: SearchesState, row: dict[str, Any], spellings: dict[str, str]) -> Row:
    text = spellings.get(row["folded"], row["folded"])
    page = QueryState(state.range, state.start, state.end, state.compare, text=text).link()
    change = Change(row["searches"], row["before"]) if "before" in row else None
    return Row(visible(text), navigation.page_url("searches", project, name="query") + page, row, change)


def _select_queries(
    project: Project, state: SearchesState, start: datetime, end: datetime
) -> tuple[QuerySet[Any], list[Any]]:
    """The queries of the chosen list, not yet sorted, and their order."""
    period = previous_period(start, end) if state.compare else None
    grouped = totals.group_queries(
        project, start, end, earlier=period, kind=state.tab, containing=state.q, path=state.path
    )
    by, descending = state.sorted_by
    column = F(ORDERS[by] if by != "change" or period else "searches")
    order = column.desc(nulls_last=True) if descending else column.asc(nulls_last=True)
    return grouped, [order, "folded"]


def _file_rows(project: Project, state: SearchesState, start: datetime, end: datetime) -> Iterator[list[Any]]:
    """Rows with the columns of `FILE_NAMES`."""
    grouped, order = _select_queries(project, state, start, end)
    rows = grouped.order_by(*order).iterator(CHUNK_ROWS)
    while chunk := list(islice(rows, CHUNK_ROWS)):
        spellings = totals.find_spellings(project, start, end, [row["folded"] for row in chunk])
        for row in chunk:
            position, results = row["mean_position"], row["results"]
            yield [
                *(spellings.get(row["folded"], row["folded"]), row["searches"], row.get("before")),
                *(None if results is None else round(results, 2), row["clicks"], round(row["ctr"], 4)),
                *(None if position is None else round(position, 2), row["without_result"], row["without_click"]),
                links.api_time(row["latest"]),
            ]
