"""One page of the documentation: who reads it, what is asked on it and answered with it, and what led to it."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any, NamedTuple
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, HttpResponseRedirect

from analytics.admin.triage import describe_row
from analytics.counting import agent_views
from analytics.dashboard import agent_table
from analytics.dashboard.agent_page import agent_url
from analytics.feedback import triage
from analytics.reports import audience_counts, visitor_counts
from analytics.reports.audience_counts import PAGE
from analytics.reports.audience_report import AudienceReport
from assistant.admin.conversations.list_page import build_rows
from assistant.admin.conversations.list_state import ListState
from assistant.admin.conversations.listing import Listing
from assistant.models import Message
from docsite.core.tenants.models import Project, Role
from docsite.core.workspace import navigation
from docsite.core.workspace.reports import links
from docsite.core.workspace.reports.formatting import visible
from docsite.core.workspace.reports.report_state import ReportState
from search.admin.searches_state import QueryState
from search.models import Document
from search.query_log import recording, totals
from search.retrieval.links import urls_of

ANSWERED = Message.Outcome.ANSWERED
MAX_ROWS = 5  # of each list


class Part(NamedTuple):
    """A number about the page, the report that it opens, and the first rows there: address, text and value."""

    label: str
    number: int
    url: str
    note: str
    rows: list[tuple[str, str, Any]]


def show_page(request: HttpRequest, project: Project) -> HttpResponse:
    """Show the page of a page. Without one, lead to the list of all, which also says what is wrong with a path."""
    state, window, errors = ReportState.read(request.GET)
    if not state.path:
        return HttpResponseRedirect(f"{navigation.find_url('visitors', project)}?{request.GET.urlencode()}")
    context = {
        **links.range_picker(state, window, errors),
        "document": Document.objects.filter(project=project, path=state.path).only("title").first(),
        "address": urls_of(project, [state.path])[state.path],
    }
    if window:
        context["complete"] = visitor_counts.refresh(project, visitor_counts.PAGE_SECONDS)
        recording.flush()
        builders = (_count_views, _count_questions, _count_queries_and_feedback)
        context["parts"] = [part for build in builders for part in build(project, state, *window)]
    title = f"Page {visible(state.path)}"
    return navigation.render(request, "admin/reports/page.html", project, title, context, wrong=errors)


def _count_views(project: Project, state: ReportState, start: datetime, end: datetime) -> Iterator[Part]:
    path, kept = state.path, state.keep_link(state.path)
    (counts,) = audience_counts.count_steps(project, [(start, end)], PAGE, path)
    came = AudienceReport.load(project, start, end, "visitors", {PAGE: path}, fresh=False).rows("source")[:MAX_ROWS]
    seen, url = counts.visitors, navigation.find_url("visitors", project) + kept
    note = f"{seen['human']:,} human, {seen['ai']:,} AI; views: {counts.views['total']:,}"
    rows = [(f"{url}&{urlencode({'source': row.value})}", f"from {visible(row.value)}", row.total) for row in came]
    yield Part("Visitors", seen["total"], url, note, rows)
    found = agent_views.list_agents(project, start, end, path)
    shown = agent_table.build_rows(project, found[:MAX_ROWS], None)
    rows = [(agent_url(project, state, row.agent), row.name, row.agent.views) for row in shown]
    note = f"views: {sum(agent.views for agent in found):,}"
    yield Part("Agents and bots", len(found), navigation.page_url("agents", project) + kept, note, rows)


def _count_questions(project: Project, state: ReportState, start: datetime, end: datetime) -> Iterator[Part]:
    for label, listed in (
        ("Questions asked on it", ListState(state.range, state.start, state.end, path=state.path)),
        ("Answers that cite it", ListState(state.range, state.start, state.end, cites=state.path)),
    ):
        listing = Listing(project, listed, start, end)
        outcomes = listing.count_outcomes()
        shown = build_rows(project, listed, listing.load_page(None, MAX_ROWS).entries)
        rows = [(row.url, row.question, row.answer.get_outcome_display()) for row in shown]
        url, note = navigation.page_url("conversations", project) + listed.link(), f"{outcomes[ANSWERED]:,} answered"
        yield Part(label, outcomes.total(), url, note, rows)


def _count_queries_and_feedback(project: Project, state: ReportState, start: datetime, end: datetime) -> Iterator[Part]:
    kept = state.keep_link(state.path)
    queries = totals.group_queries(project, start, end, path=state.path)
    first = list(queries.order_by("-searches", "folded")[:MAX_ROWS])
    texts = totals.find_spellings(project, start, end, [row["folded"] for row in first])
    url, page = (navigation.page_url("searches", project, name=name) for name in ("", "query"))
    named = [(texts.get(row["folded"], row["folded"]), row["searches"]) for row in first]
    query = QueryState(state.range, state.start, state.end)
    rows = [(page + query.link(text=text), visible(text), searches) for text, searches in named]
    note = f"searches: {totals.select_searches(project, start, end, path=state.path).count():,}"
    yield Part("Queries that led to it", queries.count(), url + kept, note, rows)
    chosen = triage.Selection(path=state.path)
    given = triage.count(project, start, end, chosen)
    shown = [describe_row(project, row) for row in triage.select(project, start, end, chosen)[:MAX_ROWS]]
    rows = [(item["link"], item["text"] or "(no text)", item["row"].get_status_display()) for item in shown]
    note = f"{given.thumbs[True]:,} thumbs up, {given.thumbs[False]:,} down"
    yield Part("Feedback", given.total, navigation.page_url("feedback", project) + kept, note, rows)


navigation.add_page_address("pages", "", show_page, "", reads=Role.VIEWER, acts=Role.VIEWER)
