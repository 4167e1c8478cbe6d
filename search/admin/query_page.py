"""The page of one query, and the test of a query: what readers find now, and why."""

from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse

from docsite.core.access.readers import parse_groups, read_as
from docsite.core.tenants.models import Project
from docsite.core.workspace import navigation
from docsite.core.workspace.reports.formatting import percent, visible
from docsite.core.workspace.reports.links import Choice
from search.admin.searches import build_frame
from search.admin.searches_chart import build_totals
from search.admin.searches_state import QueryState
from search.hits import Filters
from search.models import Document
from search.query_log import recording, totals
from search.query_log.recording import MAX_LENGTH
from search.retrieval import ranking
from search.retrieval.explanation import explain

MAX_RESULTS = 10
MAX_FACET = 100  # characters of a filter
_CALLER_KINDS = {"web": "Widget or site", "api": "API", "mcp": "Coding agents (MCP)"}
MAX_GROUPS_TEXT = 1000  # characters
MIN_CONTRIBUTION = 0.05  # of a feature to log-odds, to be listed


def show_query(request: HttpRequest, project: Project) -> HttpResponse:
    """The page of one query: its numbers, what readers opened, its wordings, and what readers find now."""
    state, window, errors = QueryState.read(request.GET)
    text = state.text[:MAX_LENGTH]
    context = build_frame(request, state, window, errors)
    if window:
        recording.flush()
        context |= build_totals(project, state, window[0], window[1], text)
        context |= _describe_query(project, state, text, window, context["counts"].clicks)
    context |= {
        "text": visible(text),
        "query": text,
        "actions": _list_actions(project, text),
        "all_searches": navigation.page_url("searches", project) + state.link(text=""),
        "result": _explain(project, text, Filters()) if text.strip() else None,
    }
    return navigation.render(
        request, "admin/search/query.html", project, f"Search: {visible(text)}", context, wrong=errors
    )


def show_test(request: HttpRequest, project: Project) -> HttpResponse:
    """What a reader finds now with any query and filters, with scores and reasons. It records no search."""
    query = request.GET.get("query", "").replace("\0", "")[:MAX_LENGTH]
    filters = {
        name: request.GET.get(name, "").replace("\0", "").strip()[:MAX_FACET] for name in ("version", "language", "tag")
    }
    reader = request.GET.get("groups", "").replace("\0", "")[:MAX_GROUPS_TEXT]
    context: dict[str, Any] = {"query": query, "filters": filters, "reader": reader}
    try:
        groups = frozenset(parse_groups(reader)) if reader.strip() else None
    except ValueError as wrong:
        context["wrong"] = f"The reader {wrong}."
    if query.strip() and "wrong" not in context:
        wanted = Filters(**{name: value or None for name, value in filters.items()})
        page = QueryState(text=query).link()
        with read_as(groups):
            result = _explain(project, query, wanted)
        context |= {
            "result": result,
            "actions": _list_actions(project, query),
            "query_page": navigation.page_url("searches", project, name="query") + page,
        }
    return navigation.render(request, "admin/search/test.html", project, "Test a query", context)


def _describe_query(
    project: Project, state: QueryState, text: str, window: tuple[datetime, datetime], clicks: int
) -> dict[str, Any]:
    """What readers of a query opened, its spellings, and queries with the same words."""
    start, end = window
    opened = totals.list_clicks(project, start, end, text)
    titles = dict(
        Document.objects.filter(project=project, path__in=[path for path, *_ in opened]).values_list("path", "title")
    )
    page = navigation.page_url("searches", project, name="query")
    return {
        "opened": [
            (path, visible(path), visible(titles.get(path, "")), number, percent(number, clicks), place)
            for path, number, place in opened
        ],
        "spellings": [(visible(one), number) for one, number in totals.list_spellings(project, start, end, text)],
        "caller_kinds": [
            (_CALLER_KINDS.get(kind, "Not known"), number)
            for kind, number in totals.list_caller_kinds(project, start, end, text)
        ],
        "similar": [
            (Choice(visible(one), page + QueryState(state.range, state.start, state.end, text=one).link()), number)
            for one, number in totals.list_similar(project, start, end, text)
        ],
    }


def _list_actions(project: Project, text: str) -> list[Choice]:
    """What an owner may do about a query."""
    test = navigation.page_url("searches", project, name="test")
    words = urlencode({"words": text.strip()})
    return [
        Choice("Test with filters", f"{test}?{urlencode({'query': text})}"),
        Choice("Add a synonym", f"{navigation.page_url('synonyms', project)}?{words}"),
        Choice("Promote a page", f"{navigation.page_url('promotions', project)}?{words}"),
    ]


def _explain(project: Project, text: str, filters: Filters) -> dict[str, Any]:
    """The explanation of a search, with what matters most in the score of each result."""
    explained = explain(project, text, filters=filters, limit=MAX_RESULTS)
    for hit in explained["hits"]:
        reasons = sorted(hit["features"], key=lambda one: -abs(one["contribution"]))
        hit["reasons"] = [
            {**reason, "about": ranking.FEATURES[reason["name"]]}
            for reason in reasons
            if abs(reason["contribution"]) >= MIN_CONTRIBUTION
        ]
    return explained
