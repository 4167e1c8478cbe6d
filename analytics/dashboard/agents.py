"""The report of agents in the admin: all of them beside the period before, and the people who came from assistants."""

from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone

from analytics.counting import agent_views
from analytics.counting.agent_views import Agent
from analytics.dashboard import agent_table, coverage
from analytics.dashboard.agent_page import AgentPagesState, agent_url, select_pages
from analytics.dashboard.agent_range import AgentRange, describe_range, list_files
from analytics.dashboard.agent_table import AI, CLASSES, AgentState
from analytics.models import AnalyticsSettings, PageView
from analytics.reports import agent_report, visitor_counts
from analytics.reports.filtered_counts import kept_from
from docsite.core.base_path import service_url
from docsite.core.tenants.models import Project
from docsite.core.workspace import navigation
from docsite.core.workspace.reports import links
from docsite.core.workspace.reports.downloads import format_table, name_file, parse_format, refuse, send_file
from docsite.core.workspace.reports.links import TABLES, Choice
from docsite.core.workspace.reports.tables import Table, page_slice

_ASSISTANT_NAMES = ("assistant", "operator", "views", "pages", "people", "hosts")


def show_agents(request: HttpRequest, project: Project) -> HttpResponse:
    """Show the agents of a range, and the assistants from which people came."""
    state, window, errors = AgentState.read(request.GET)
    context = {**links.range_picker(state, window, errors), "chips": links.page_chip(state)}
    if window:
        start, end = window
        context["complete"] = visitor_counts.refresh(project, visitor_counts.PAGE_SECONDS)
        context |= describe_range(project, start, end, state.path)
        found = agent_views.list_agents(project, start, end, state.path)
        context |= _build_agents(project, state, found, context["numbers"])
        kept = kept_from(project)
        context |= {
            "assistants": [] if state.path else agent_report.count_assistants(project, found, start, end, kept),
            "pages_since": kept if start < kept else None,
            "never": not found and coverage.latest_hour(project) is None,
            "now": timezone.now(),
            "dates": [links.api_time(instant) for instant in window],
            "base_url": service_url(request),
        }
    return navigation.render(
        request, "admin/reports/agents.html", project, f"Agents: {project.name}", context, wrong=errors
    )


def download(request: HttpRequest, project: Project, name: str) -> HttpResponseBase:
    """A table as a file: agents, assistants, or the pages of one agent."""
    what, _, form = name.partition(".")
    if what not in ("agents", "assistants", "pages"):
        raise Http404
    kind = parse_format(form)
    state, window, errors = (AgentPagesState if what == "pages" else AgentState).read(request.GET)
    if errors or window is None:
        return refuse(errors)
    start, end = window
    visitor_counts.refresh(project)
    if isinstance(state, AgentPagesState):
        read = agent_report.count_pages(project, state.key, start, end)
        lines = format_table(("path", "views"), select_pages(state, read), kind)
    else:
        found = agent_views.list_agents(project, start, end, state.path)
        if what == "agents":
            earlier = AgentRange.load(project, start, end, state.path).count_earlier(project)
            lines = agent_table.format_agents(agent_table.select_rows(state, project, found, earlier), kind)
        else:
            counted = agent_report.count_assistants(project, found, start, end, kept_from(project))
            rows = (
                (
                    *(row.assistant.name, row.assistant.operator, row.views, row.pages, row.people),
                    [f"{host} {people}" for host, people in row.hosts],
                )
                for row in counted
            )
            lines = format_table(_ASSISTANT_NAMES, rows, kind)
    return send_file(lines, kind, name_file(f"{project.domain}-{name}", window))


def _build_agents(project: Project, state: AgentState, found: list[Agent], numbers: AgentRange) -> dict[str, Any]:
    rows = agent_table.select_rows(state, project, found, numbers.count_earlier(project))
    page, part = page_slice(state, len(rows))
    table = Table(rows[part], len(rows), len(found), page)
    checked = any(agent.verified[mark] for agent in found for mark in PageView.Verified if mark)
    counted = sum(bool(row.values["countedAsAi"]) for row in agent_table.build_rows(project, found, None))
    kinds = {kind: sum(agent.client_class == kind for agent in found) for kind in PageView.Class.values}
    kinds = {kind: count for kind, count in kinds.items() if count or kind == state.kind}
    hidden = {**({} if checked else {"address": ""}), **({} if numbers.earlier else {"change": ""})}
    return {
        "table": table,
        "linked_rows": [(row, agent_url(project, state, row.agent)) for row in table.rows],
        "checked": checked,
        "headings": links.table_headings(state, **hidden),
        "kinds": [
            Choice(f"All {len(found):,}", state.link(kind="") + TABLES, not state.kind),
            Choice(f"Counted as AI {counted:,}", state.link(kind=AI) + TABLES, state.kind == AI),
            *(
                Choice(f"{CLASSES[kind]} {count:,}", state.link(kind=kind) + TABLES, kind == state.kind)
                for kind, count in kinds.items()
            ),
        ],
        "agents_found": len(found),
        "everything": state.link(kind="", q="") + TABLES,
        "narrowed": AnalyticsSettings.for_project(project).ai_scope == AnalyticsSettings.AiScope.READERS,
        "pager": links.page_choices(state, table),
        "exports": list_files(project, "agents", state.link()),
        "assistant_exports": list_files(project, "assistants", state.dates_link),
    }
