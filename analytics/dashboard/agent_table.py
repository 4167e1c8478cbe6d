"""The table of agents: its state, its rows, and both as files."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from analytics.counting.agent_views import Agent
from analytics.models import PageView
from analytics.reports import visitor_counts
from analytics.reports.agent_report import build_agent_row
from docsite.core.tenants.models import Project
from docsite.core.workspace.reports import report_state
from docsite.core.workspace.reports.downloads import Format, format_table
from docsite.core.workspace.reports.formatting import visible
from docsite.core.workspace.reports.report_state import Column
from docsite.core.workspace.reports.tables import Change

CLASSES = {**dict(PageView.Class.choices), "human": "Browser, as Markdown"}  # as agents are listed
AI = "ai"  # the kind of those that count as AI
Earlier = Mapping[tuple[str, str, str], int] | None  # views before by class, name and operator, if they were recorded

_COLUMNS = (
    *(Column("name", "Agent", "text"), Column("views", "Views", "number"), Column("change", "Change", "number")),
    *(Column("class", "Class", "text"), Column("counted", "Counts as AI"), Column("forms", "Read as")),
    *(Column("address", "Address"), Column("seen", "Last seen", "value"), Column("rules", "Decided by")),
)
_NAMES = (
    *("name", "operator", "class", "views", "previousViews", "countedAsAi", "html", "md", "llms"),
    *("verified", "claimed", "signed", "rules", "lastSeen"),
)


@dataclass(frozen=True)
class AgentState(report_state.ReportState):
    """The state of the report of agents, with filters by class and by page."""

    kind: str = ""

    table_columns: ClassVar[Sequence[Column]] = _COLUMNS
    choices: ClassVar = {"kind": (*PageView.Class.values, AI)}
    default_sort = "-views"
    max_days = 0

    @classmethod
    def list_choices(cls, typed: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        """The change is always shown."""
        return super().list_choices({**typed, "compare": "1"})


@dataclass(frozen=True)
class AgentRow:
    """An agent, or a browser that reads Markdown, as a row of the table."""

    agent: Agent
    label: str  # of its class
    values: dict[str, Any]  # as the API has them
    forms: list[tuple[str, int]]  # formats of its views, and the number of views of each
    change: Change | None  # None if the period before was not recorded

    @property
    def name(self) -> str:
        """Its name, or a description, without invisible characters."""
        if self.agent.name:
            return visible(self.agent.name)
        return "(a browser reading Markdown)" if self.agent.client_class == PageView.Class.HUMAN else "(no name)"

    @property
    def operator(self) -> str:
        """Its operator; empty if unknown."""
        return visible(self.agent.operator)

    @property
    def rules(self) -> list[str]:
        """The rules that decided its class."""
        return ["its name" if rule == f"name: {self.agent.name}" else visible(rule) for rule in self.agent.rules]


def select_rows(state: AgentState, project: Project, found: Sequence[Agent], earlier: Earlier) -> list[AgentRow]:
    """The agents that pass the filters, in the chosen order."""
    needle = state.q.casefold()
    rows = build_rows(
        project,
        [
            agent
            for agent in found
            if state.kind in ("", AI, agent.client_class)
            and (needle in agent.name.casefold() or needle in agent.operator.casefold())
        ],
        earlier,
    )
    if state.kind == AI:
        rows = [row for row in rows if row.values["countedAsAi"]]
    keys: dict[str, Callable[[AgentRow], Any]] = {
        "name": lambda row: (row.agent.name.casefold(), row.agent.name),
        "class": lambda row: row.label,
        "views": lambda row: row.agent.views,
        "change": lambda row: row.change.now - row.change.before if row.change else row.agent.views,
        "seen": lambda row: row.agent.last_seen,
    }
    by, descending = state.sorted_by
    rows.sort(key=keys["name"])
    rows.sort(key=keys[by], reverse=descending)
    return rows


def build_rows(project: Project, found: Sequence[Agent], earlier: Earlier) -> list[AgentRow]:
    """Agents as rows, with the views that count as AI in the project."""
    classes = visitor_counts.ai_classes(project)
    forms = dict(PageView.Surface.choices)
    return [
        AgentRow(
            agent,
            CLASSES[agent.client_class],
            build_agent_row(agent, classes),
            [(label, agent.surfaces[form]) for form, label in forms.items() if agent.surfaces[form]],
            None
            if earlier is None
            else Change(agent.views, earlier.get((agent.client_class, agent.name, agent.operator), 0)),
        )
        for agent in found
    ]


def format_agents(rows: Sequence[AgentRow], form: Format) -> Iterator[str]:
    """Agents as a file."""
    more = {"class": "clientClass"}  # names of the API that differ
    known = ({**row.values, "previousViews": row.change.before if row.change else None} for row in rows)
    return format_table(_NAMES, ([values[more.get(name, name)] for name in _NAMES] for values in known), form)
