"""Feedback as work: numbers by status and source, a list with filters and bulk actions, ratings by page, downloads."""

from collections.abc import Iterator
from typing import Any

from django.contrib import messages
from django.db.models import F, QuerySet
from django.http import Http404, HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase

from analytics.admin.triage_state import TABS, TriageState
from analytics.feedback import triage
from analytics.feedback.triage import NOBODY, Totals
from analytics.models import Feedback
from docsite.core.base_path import service_url
from docsite.core.tenants.models import Project
from docsite.core.tenants.staff import find_assignees
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
from docsite.core.workspace.reports.report_state import previous_period
from docsite.core.workspace.reports.tables import PAGE_SIZE, Change, Table, page_slice
from search.models import Document

MAX_EXCERPT_LENGTH = 160
FILE_NAMES = (
    *("id", "createdAt", "path", "source", "status", "assignee", "helpful", "reason", "comment", "contact"),
    *("code", "filename", "lang", "messageId"),
)
PAGE_FILE_NAMES = ("path", "thumbsUp", "thumbsDown", "code", "total")  # as the API names them


def show_feedback(request: HttpRequest, project: Project) -> HttpResponseBase:
    """The page. A POST changes the selected feedback and comes back to the same list."""
    state, window, errors = TriageState.read(request.GET)
    if request.method == "POST":
        _change_selected(request, project)
        return HttpResponseRedirect(navigation.page_url("feedback", project) + state.link(page=state.page) + TABLES)
    context = {**links.range_picker(state, window, errors), "chips": links.page_chip(state)}
    if window:
        start, end = window
        context["period"] = period = previous_period(start, end) if state.compare else None
        totals = triage.count(project, start, end, state.selection)
        before = triage.count(project, period[0], period[1], state.selection) if period else None
        listed = _list_pages if state.tab == "pages" else _list_rows
        context |= {"totals": totals, **_build_tiles(state, totals, before), **listed(project, state, *window)}
        context["dates"] = [links.api_time(instant) for instant in window]
    context |= _build_choices(request, project, state)
    return navigation.render(request, "admin/feedback/list.html", project, "Feedback", context, wrong=errors)


def download_feedback(request: HttpRequest, project: Project, name: str, form: str) -> HttpResponseBase:
    """The list or the ratings by page as a file, with the range and the filters."""
    state, window, errors = TriageState.read(request.GET)
    if errors or window is None:
        return refuse(errors)
    start, end = window
    if name not in ("feedback", "pages"):
        raise Http404
    kind = parse_format(form)
    if name == "pages":
        pages = _sort_pages(project, state, start, end)
        rows = ([row[key] for key in ("path", "up", "down", "code", "total")] for row in pages.iterator(CHUNK_ROWS))
        lines = format_table(PAGE_FILE_NAMES, rows, kind)
    else:
        lines = format_table(FILE_NAMES, _file_rows(triage.select(project, start, end, state.selection)), kind)
    return send_file(lines, kind, name_file(f"{project.domain}-{name}.{form}", window))


def _change_selected(request: HttpRequest, project: Project) -> None:
    """Give the ticked feedback the chosen status and assignee."""
    status, assignee = request.POST.get("status") or None, request.POST.get("assignee") or None
    chosen = request.POST.getlist("chosen")[:PAGE_SIZE]
    if not chosen or not (status or assignee):
        messages.warning(request, "Tick some feedback, and choose a status or an assignee.")
        return
    try:
        number = triage.change(project, chosen, status=status, assignee=assignee)
    except ValueError as error:
        messages.error(request, str(error))
    else:
        messages.success(request, f"{number} changed.")


def _build_tiles(state: TriageState, totals: Totals, before: Totals | None) -> dict[str, Any]:
    """The numbers by status, by source and by thumb, each with the link that lists it."""

    def tile(label: str, name: str, value: str, number: int, earlier: int | None) -> dict[str, Any]:
        chosen = getattr(state, name) == value
        return {
            "label": label,
            "number": number,
            "change": None if earlier is None else Change(number, earlier),
            "link": state.link(**{name: "" if chosen else value}) + TABLES,
            "chosen": chosen,
        }

    return {
        "tiles": [
            tile(label, "status", value, totals.statuses[value], None if before is None else before.statuses[value])
            for value, label in Feedback.Status.choices
        ],
        "sources": [
            tile(label, "source", value, totals.sources[value], None) for value, label in Feedback.Source.choices
        ],
        "thumbs": [
            tile(label, "thumb", value, totals.thumbs[triage.THUMBS[value]], None)
            for value, label in (("up", "Helpful"), ("down", "Not helpful"), ("none", "No thumb"))
        ],
    }


def _list_rows(project: Project, state: TriageState, start: Any, end: Any) -> dict[str, Any]:
    """The context of the list."""
    selected = triage.select(project, start, end, state.selection)
    found = selected.count()
    page, part = page_slice(state, found)
    rows = list(selected.select_related("assignee")[part])
    for row in rows:
        row.project = project
    table: Table[Any] = Table([describe_row(project, row) for row in rows], found, found, page)
    return {"table": table, "pager": links.page_choices(state, table)}


def describe_row(project: Project, row: Feedback) -> dict[str, Any]:
    """A piece of feedback as a row: its beginning, its page, and the link to it."""
    text = visible(" ".join((row.comment or row.reason or row.code).split()))
    return {
        "row": row,
        "text": f"{text[:MAX_EXCERPT_LENGTH]}…" if len(text) > MAX_EXCERPT_LENGTH else text,
        "path": visible(row.path),
        "link": navigation.page_url("feedback", project, row.feedback_id, name="detail"),
    }


def _list_pages(project: Project, state: TriageState, start: Any, end: Any) -> dict[str, Any]:
    """The context of the table by page."""
    counted = _sort_pages(project, state, start, end)
    found = counted.count()
    page, part = page_slice(state, found)
    rows = list(counted[part])
    titles = dict(
        Document.objects.filter(project=project, path__in=[row["path"] for row in rows]).values_list("path", "title")
    )
    for row in rows:
        rated = row["up"] + row["down"]
        row["share"] = percent(row["up"], rated) if rated else ""
        row["title"] = visible(titles.get(row["path"], ""))
        row["changed"] = Change(row["down"], row["before"]) if "before" in row else None
        row["link"] = state.link(tab="list", sort="", path=row["path"]) + TABLES
        row["name"] = visible(row["path"])
    table: Table[Any] = Table(rows, found, found, page)
    headings = links.table_headings(state, **({} if any("before" in row for row in rows) else {"change": ""}))
    return {"table": table, "pager": links.page_choices(state, table), "headings": headings}


def _sort_pages(project: Project, state: TriageState, start: Any, end: Any) -> QuerySet[Any]:
    period = previous_period(start, end) if state.compare else None
    by, descending = state.sorted_by
    column = F(by if by != "change" or period else "down")
    counted = triage.count_pages(project, start, end, state.selection, period)
    return counted.order_by(column.desc() if descending else column.asc(), "-total", "path")


def _build_choices(request: HttpRequest, project: Project, state: TriageState) -> dict[str, Any]:
    """The context of the switches, the filters and the downloads."""
    name = "pages" if state.tab == "pages" else "feedback"
    return {
        "compare": links.compare_choice(state),
        "filter_fields": state.hidden("q", "status", "source", "thumb", "path", "assignee"),
        "unfiltered": state.link(q="", status="", source="", thumb="", path="", assignee="") + TABLES,
        "tabs": [Choice(label, state.link(tab=key, sort="") + TABLES, key == state.tab) for key, label in TABS.items()],
        "statuses": Feedback.Status.choices,
        "source_choices": Feedback.Source.choices,
        "thumb_choices": (("up", "Helpful"), ("down", "Not helpful"), ("none", "No thumb")),
        "assignees": [(NOBODY, "Nobody"), *((str(user.pk), user.get_username()) for user in find_assignees(project))],
        "here": state.link(page=state.page),
        "downloads": list_choices(
            lambda form: navigation.page_url("feedback", project, name, form, name="file") + state.link()
        ),
        "base_url": service_url(request),
    }


def _file_rows(selected: QuerySet[Feedback]) -> Iterator[list[Any]]:
    """Rows with the columns of `FILE_NAMES`."""
    for row in selected.select_related("message", "assignee").iterator(CHUNK_ROWS):
        yield [
            *(row.feedback_id, links.api_time(row.created_at), row.path, row.source, row.status),
            *(row.assignee.get_username() if row.assignee else None, row.helpful),
            *(value or None for value in (row.reason, row.comment, row.contact, row.code, row.filename, row.lang)),
            row.message.message_id if row.message else None,
        ]
