"""The gaps of a project in the admin: their list with its files, and the page of each group with its actions."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from assistant.admin import gap_group
from assistant.conversations.outcomes import WITHOUT_ANSWER
from assistant.improving.gaps import report
from assistant.improving.gaps.report import ALL, Problem, State
from assistant.improving.question_groups import grouping
from docsite.core.base_path import service_url
from docsite.core.tenants.models import Project, Role
from docsite.core.workspace import navigation
from docsite.core.workspace.reports import downloads, links, report_state
from docsite.core.workspace.reports.links import TABLES, Choice
from docsite.core.workspace.reports.report_state import Column, previous_period
from docsite.core.workspace.reports.tables import Table, page_slice

COLUMNS = (
    *(Column("question", "Question"), Column("count", "Gaps", "number"), Column("trend", "Change")),
    *(Column("latest", "Latest", "value"), Column("cause", "Likely cause"), Column("pages", "Nearest pages")),
    Column("work", "State"),
)
FILE_COLUMNS = (
    *("group", "question", "gaps", "gaps_before", "problems", "latest", "cause", "nearest_pages", "state", "assignee"),
    "answered_since",
)


_other_kinds: dict[str, str] = {}


def add_kind(page: str, label: str) -> None:
    """Add a kind of gap that has a page of its own (`navigation.add_page`), by the key of that page."""
    _other_kinds[page] = label


@dataclass(frozen=True)
class GapState(report_state.ReportState):
    """The state of the list of gaps."""

    state: str = "open"
    problem: str = ""

    table_columns = COLUMNS
    choices: ClassVar = {"state": (*State.values, ALL), "problem": (WITHOUT_ANSWER, *Problem.values)}


def show_gaps(request: HttpRequest, project: Project) -> HttpResponse:
    """The groups of questions that were not answered well, the most frequent first."""
    state, window, errors = GapState.read(request.GET)
    context = {**links.range_picker(state, window, errors), **_choices(project, state)}
    if window:
        start, end = window
        context["complete"] = grouping.catch_up(grouping.PAGE_SECONDS)
        counts = _count(project, state, start, end)
        page, rows = page_slice(state, len(counts))
        table = Table(report.describe(project, counts[rows], start, end, state.problem), len(counts), len(counts), page)
        context |= {
            "period": previous_period(start, end),
            "table": table,
            "rows": [
                (gap, navigation.page_url("gaps", project, gap.group.pk, name="group") + state.dates_link)
                for gap in table.rows
            ],
            "pager": links.page_choices(state, table),
            "headings": links.table_headings(state),
            "gaps": sum(count.total for count in counts),
            "effect": report.measure_effect(project),
            "exports": downloads.list_choices(
                lambda form: navigation.page_url("gaps", project, form, name="file") + state.link()
            ),
            "dates": (links.api_time(start), links.api_time(end)),
            "base_url": service_url(request),
        }
    return navigation.render(request, "admin/assistant/gaps/list.html", project, "Gaps", context, wrong=errors)


def send_gaps(request: HttpRequest, project: Project, form: str) -> HttpResponseBase:
    """All groups of the list as a file, with the filters of the address."""
    state, window, errors = GapState.read(request.GET)
    kind = downloads.parse_format(form)
    if errors or window is None:
        return downloads.refuse(errors)
    start, end = window
    grouping.catch_up()
    counts = _count(project, state, start, end)
    rows = (
        row
        for at in range(0, len(counts), downloads.CHUNK_ROWS)
        for row in map(
            _file_row, report.describe(project, counts[at : at + downloads.CHUNK_ROWS], start, end, state.problem)
        )
    )
    file = downloads.name_file(f"{project.domain}-gaps.{form}", window)
    return downloads.send_file(downloads.format_table(FILE_COLUMNS, rows, kind), kind, file)


def _count(project: Project, state: GapState, start: datetime, end: datetime) -> list[report.GapCount]:
    return report.count_gaps(project, start, end, state.state, state.problem, state.q, state.sort)


def _file_row(gap: report.Gap) -> list[Any]:
    group = gap.group
    return [
        *(group.pk, gap.text, gap.count.now, gap.count.before),
        "; ".join(f"{kind.label} {number}" for kind, number in gap.problems),
        *(gap.latest.isoformat(), gap.cause.value, "; ".join(group.nearest), group.state),
        group.assignee.get_username() if group.assignee else "",
        group.answered_since.isoformat() if group.answered_since else "",
    ]


def _choices(project: Project, state: GapState) -> dict[str, Any]:
    """The filters, each as links."""
    labels = {"open": "Open", "assigned": "Assigned", "fixed": "Fixed", "dismissed": "Dismissed", ALL: "All"}
    return {
        "states": [Choice(label, state.link(state=key) + TABLES, key == state.state) for key, label in labels.items()],
        "problems": [
            Choice("Every kind", state.link(problem="") + TABLES, not state.problem),
            Choice("Without an answer", state.link(problem=WITHOUT_ANSWER) + TABLES, state.problem == WITHOUT_ANSWER),
            *(Choice(label, state.link(problem=key) + TABLES, key == state.problem) for key, label in Problem.choices),
            *(Choice(label, navigation.page_url(page, project)) for page, label in _other_kinds.items()),
        ],
    }


navigation.add_page(
    "gaps",
    "Gaps",
    group="Questions",
    position=40,
    views=[
        ("", show_gaps, ""),
        ("file.<slug:form>", send_gaps, "file"),
        ("<int:pk>", gap_group.show_group, "group"),
        ("<int:pk>/<slug:action>", gap_group.act, "act"),
    ],
    reads=Role.VIEWER,
    acts=Role.WRITER,
)
