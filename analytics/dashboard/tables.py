"""Build the tables of reports: sorted, filtered, one page of rows. Fast for the largest number of pages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from analytics.counting import pages
from analytics.counting.agent_views import Agent
from analytics.counting.cells import Ints
from analytics.dashboard.report_state import ReportState
from analytics.models import PageView
from analytics.reports import visitor_counts
from analytics.reports.visitor_counts import Counts
from docsite.core.tenants.models import Project
from docsite.core.workspace.reports.formatting import percent, visible
from docsite.core.workspace.reports.tables import Change, Table, page_slice
from search.models import Document

CLASSES = {**dict(PageView.Class.choices), "human": "Browser, as Markdown"}  # as agents are listed
_NUMBER, _HUMAN, _AI, _TOTAL = range(4)  # the columns of `Counts.table`


@dataclass(frozen=True)
class PageRow:
    """A page: its counts in the chosen metric, its total in the other metric, and the share of AI."""

    path: str
    title: str
    human: int
    ai: int
    total: int
    other: int
    share: int  # percent
    change: Change | None

    @property
    def share_in_words(self) -> str:
        """The share in percent: never 0% of some, never 100% of less than all."""
        return percent(self.ai, self.total)


@dataclass(frozen=True)
class AgentRow:
    """An agent, or a browser that reads Markdown, as a row of the table."""

    agent: Agent
    label: str  # of its class
    counted: int  # views that count as AI
    forms: list[tuple[str, int]]  # formats of its views, and the number of views of each

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

    @property
    def verified(self) -> int:
        """Views from an address that its operator publishes."""
        return self.agent.verified[PageView.Verified.YES]

    @property
    def claimed(self) -> int:
        """Views from other addresses, though its operator publishes some."""
        return self.agent.verified[PageView.Verified.NO]


def build_page_table(
    state: ReportState, project: Project, counts: Counts, other: Counts, earlier: Counts | None
) -> Table[PageRow]:
    """The table of pages, including pages that were read only in the period before."""
    known = pages.for_project(project.pk)
    tables = [table.table[1:] for table in (counts, other, earlier) if table is not None]
    numbers = np.unique(np.concatenate([table[:, _NUMBER] for table in tables]))
    human, ai, total = (_column(counts, column, numbers) for column in (_HUMAN, _AI, _TOTAL))
    columns = {
        "path": known.rank()[numbers],
        "human": human,
        "ai": ai,
        "total": total,
        "other": _column(other, _TOTAL, numbers),
        "change": total - _column(earlier, _TOTAL, numbers) if earlier is not None else total,
        "share": ai / np.maximum(total, 1),
    }
    order = _sort_rows(state, columns)
    if state.q:
        needle = state.q.casefold()
        order = order[[needle in known.paths[number].casefold() for number in numbers[order].tolist()]]
    page, part = page_slice(state, len(order))
    chosen = order[part]
    paths = [known.paths[number] for number in numbers[chosen].tolist()]
    titles = dict(Document.objects.filter(project=project, path__in=paths).values_list("path", "title"))
    picked = (columns[name][chosen].tolist() for name in ("human", "ai", "total", "other", "share", "change"))
    rows = [
        PageRow(
            *(visible(path), visible(titles.get(path, "")), human, ai, total, other, round(100 * share)),
            Change(total, total - change) if earlier is not None else None,
        )
        for path, human, ai, total, other, share, change in zip(paths, *picked, strict=True)
    ]
    return Table(rows, len(order), len(numbers), page)


def build_agent_table(state: ReportState, project: Project, found: Sequence[Agent]) -> Table[AgentRow]:
    """The table of agents."""
    needle = state.q.casefold()
    filtered = [
        agent
        for agent in found
        if state.kind in ("", agent.client_class)
        and (needle in agent.name.casefold() or needle in agent.operator.casefold())
    ]
    keys: dict[str, Callable[[Agent], Any]] = {
        "name": lambda agent: (agent.name.casefold(), agent.name),
        "class": lambda agent: CLASSES[agent.client_class],
        "views": lambda agent: agent.views,
        "seen": lambda agent: agent.last_seen,
    }
    by, descending = state.sorted_by
    filtered.sort(key=keys["name"])
    filtered.sort(key=keys[by], reverse=descending)
    page, part = page_slice(state, len(filtered))
    return Table(build_agent_rows(project, filtered[part]), len(filtered), len(found), page)


def build_agent_rows(project: Project, found: Sequence[Agent]) -> list[AgentRow]:
    """Agents as rows, with the views that count as AI in the project."""
    classes = visitor_counts.ai_classes(project)
    forms = dict(PageView.Surface.choices)
    return [
        AgentRow(
            agent,
            CLASSES[agent.client_class],
            agent.views if agent.client_class in classes else agent.markdown_views,
            [(label, agent.surfaces[form]) for form, label in forms.items() if agent.surfaces[form]],
        )
        for agent in found
    ]


def _column(counts: Counts, column: int, numbers: Ints) -> Ints:
    """A column of counts for the pages with these numbers, in their order."""
    table = counts.table[1:]
    values = np.zeros(max(numbers.max(initial=0), table[:, _NUMBER].max(initial=0)) + 1, np.int64)
    values[table[:, _NUMBER]] = table[:, column]
    return values[numbers]


def _sort_rows(state: ReportState, columns: dict[str, Any]) -> Ints:
    """The places of the rows in the order of a column; ties by path."""
    by, descending = state.sorted_by
    key = -columns[by] if descending else columns[by]
    return np.lexsort((columns["path"], key))
