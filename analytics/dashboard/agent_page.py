"""The page of one agent in the admin: its course, the pages that it read, and the people who came."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, ClassVar
from urllib.parse import urlencode

from django.http import Http404, HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone

from analytics.counting import agent_views
from analytics.counting.agent_views import Agent
from analytics.dashboard import agent_table
from analytics.dashboard.agent_range import KEY, AgentRange, describe_range, list_files
from analytics.dashboard.agent_table import CLASSES, AgentState
from analytics.models import EPOCH, PageView
from analytics.reports import agent_report, visitor_counts
from analytics.reports.agent_report import AgentKey, PageCount
from analytics.reports.filtered_counts import kept_from
from docsite.core.http.dates import begin_day
from docsite.core.tenants.models import Project
from docsite.core.workspace import navigation
from docsite.core.workspace.reports import charts, links
from docsite.core.workspace.reports.formatting import visible
from docsite.core.workspace.reports.report_state import HOUR, Column, ReportState
from docsite.core.workspace.reports.tables import Change, Table, page_slice
from docsite.core.workspace.reports.time_steps import LABELS, build_points, choose_step, split


@dataclass(frozen=True)
class AgentPagesState(AgentState):
    """The state of the page of one agent: its class and its name, and the table of the pages that it read."""

    agent: str = ""

    table_columns = (Column("path", "Path", "text"), Column("views", "Views", "number"))
    choices: ClassVar = {"kind": PageView.Class.values}  # an agent is of one class: no choice of those that count as AI

    @property
    def key(self) -> AgentKey:
        """The agent."""
        return AgentKey(self.kind, self.agent)


def show_agent(request: HttpRequest, project: Project) -> HttpResponse:
    """Show one agent: its course, the pages that it read, and the people who came from its assistant."""
    state, window, errors = AgentPagesState.read(request.GET)
    if not state.kind:
        raise Http404
    context = {
        **links.range_picker(state, window, errors),
        "back": navigation.page_url(KEY, project) + state.keep_link(""),
    }
    label = visible(state.agent) or CLASSES[state.kind]
    if window:
        context["complete"] = visitor_counts.refresh(project, visitor_counts.PAGE_SECONDS)
        context |= describe_range(project, *window)
        context |= _build_agent(project, state, context["numbers"])
    title = f"{label}: {project.name}"
    return navigation.render(request, "admin/reports/agent.html", project, title, context, wrong=errors)


def agent_url(project: Project, state: ReportState, agent: Agent) -> str:
    """The address of the page of an agent, for the same range."""
    chosen = AgentPagesState(
        range=state.range, start=state.start, end=state.end, kind=agent.client_class, agent=agent.name
    )
    return navigation.page_url(KEY, project, name="agent") + chosen.link()


def select_pages(state: AgentPagesState, read: Sequence[PageCount]) -> list[PageCount]:
    """The pages that pass the filter, in the chosen order."""
    by, descending = state.sorted_by
    matching = sorted(row for row in read if state.q.casefold() in row.path.casefold())
    if (by, descending) != ("path", False):
        matching.sort(key=lambda row: row.path if by == "path" else row.views, reverse=descending)
    return matching


def _build_agent(project: Project, state: AgentPagesState, numbers: AgentRange) -> dict[str, Any]:
    start, end = numbers.start, numbers.end
    every = agent_views.list_agents(project, start, end)
    found = [agent for agent in every if (agent.client_class, agent.name) == state.key]  # by operator, mostly one
    earlier = numbers.count_earlier(project)
    rows = agent_table.build_rows(project, found, earlier)
    points, step = _build_points(project, state.key, start, min(end, begin_day(timezone.now(), 1)))
    read = agent_report.count_pages(project, state.key, start, end)
    matching = select_pages(state, read)
    page, part = page_slice(state, len(matching))
    table = Table(
        [(visible(row.path), row.views, row.path) for row in matching[part]],
        len(matching),
        len(read),
        page,
    )
    views = sum(agent.views for agent in found)
    before = None if earlier is None else sum(views for key, views in earlier.items() if key[:2] == state.key)
    kept = kept_from(project)
    people = agent_report.count_people(project, start, end)
    return {
        "rows": rows,
        "views": views,
        "change": None if before is None else Change(views, before),
        "pages_read": len(read),
        "people": [
            (assistant.name, sum(number for _, number in hosts), hosts)
            for assistant, hosts in people.items()
            if assistant.operator in {agent.operator for agent in found}
        ],
        "chart": charts.build_chart(points) if views else None,
        "step": LABELS[step],
        "table": table,
        "headings": links.table_headings(state),
        "pager": links.page_choices(state, table),
        "pages_since": kept if start < kept else None,
        "single_views": _single_views(project, state.key, found, numbers),
        "is_rest": state.agent == agent_views.OTHER,
        "exports": list_files(project, "pages", state.link()),
    }


def _build_points(project: Project, key: AgentKey, start: datetime, end: datetime) -> tuple[list[charts.Point], Any]:
    start = max(start, EPOCH)
    if start >= end:
        return [], HOUR
    step = choose_step(start, end)
    steps = list(split(start, end, step))
    counts = [(count, 0, count) for count in agent_report.count_steps(project, key, steps)]
    return build_points(steps, step, timezone.now(), counts), step


def _single_views(project: Project, key: AgentKey, found: list[Agent], numbers: AgentRange) -> str:
    """The address of the list of an agent's single views in a range, widened to whole hours."""
    start = numbers.start.replace(minute=0, second=0, microsecond=0)
    end = numbers.end + min(-(numbers.end - EPOCH) % HOUR, datetime.max.replace(tzinfo=UTC) - numbers.end)
    facts: dict[str, Any] = {
        **{"project": project.domain, "client_class__exact": key.client_class},
        **{"from": links.api_time(start), "to": links.api_time(end)},
    }
    if key.name != agent_views.OTHER:  # its clients have names of their own
        facts["agent"] = key.name
    if key.client_class == PageView.Class.HUMAN:  # only their Markdown views are of this agent
        facts["surface__exact"] = sorted({form for agent in found for form in agent.surfaces})
    return f"{reverse('admin:analytics_pageview_changelist')}?{urlencode(facts, doseq=True)}"
