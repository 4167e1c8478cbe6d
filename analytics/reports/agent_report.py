"""What single agents read, and how many people came from the assistants of their operators."""

from collections import Counter, defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count

from analytics import agents
from analytics.agents.assistants import ASSISTANTS, Assistant
from analytics.counting import pages
from analytics.counting.agent_views import Agent
from analytics.models import EPOCH, AgentViews, PageView
from analytics.reports import audience_counts
from docsite.core import sql
from docsite.core.tenants.models import Project
from docsite.core.workspace.reports.report_state import DAY, HOUR

_HOUR = HOUR // HOUR.resolution  # microseconds


class AgentKey(NamedTuple):
    """The class and the name of an agent. The name of browsers that read Markdown is empty."""

    client_class: str
    name: str


class PageCount(NamedTuple):
    """A page, and how often an agent read it."""

    path: str
    views: int


@dataclass(frozen=True)
class AssistantCount:
    """What the clients of an assistant's operator read, and the people who came from the assistant.

    `pages` are different pages, counted from single views. `hosts`: the people who came from each host.
    """

    assistant: Assistant
    views: int
    pages: int
    hosts: list[tuple[str, int]]

    @property
    def people(self) -> int:
        """The people of all hosts. A person who came from two hosts counts twice."""
        return sum(people for _, people in self.hosts)


def count_people(project: Project, start: datetime, end: datetime) -> dict[Assistant, list[tuple[str, int]]]:
    """The people who came from each host of each assistant."""
    people = audience_counts.count(project, start, end, "visitors")
    came = {row.value: row.human for row in people.rows("source") if row.human}
    return {assistant: [(host, came[host]) for host in assistant.hosts if host in came] for assistant in ASSISTANTS}


def count_pages(project: Project, key: AgentKey, start: datetime, end: datetime) -> list[PageCount]:
    """The pages that an agent read, most views first. Counted from single views, as long as they are stored.

    Both ends are rounded outwards to the hour. Of people's browsers, only reads of Markdown and llms.txt count.
    """
    lo, hi = _whole_hours(start, end)
    views = PageView.objects.filter(project=project, at__gte=lo, at__lt=hi)
    views = views.filter(client_class=key.client_class, agent=key.name)
    if key.client_class == PageView.Class.HUMAN:
        views = views.exclude(surface=PageView.Surface.HTML)
    counted = list(views.values_list("page").annotate(views=Count("pk")))
    paths = pages.paths_of(project.pk, [number for number, _ in counted])
    found = [PageCount(path, views) for path, (_, views) in zip(paths, counted, strict=True)]
    return sorted(found, key=lambda row: (-row.views, row.path))


def count_steps(project: Project, key: AgentKey, steps: Sequence[tuple[datetime, datetime]]) -> list[int]:
    """The views of an agent in each of some steps that follow each other, in whole hours."""
    hours = [((start - EPOCH) // HOUR, -((EPOCH - end) // HOUR)) for start, end in steps]
    is_daily = all(not (hour % 24) for pair in hours for hour in pair)
    rows = AgentViews.objects.filter(
        **{"project": project, "span": DAY // HOUR if is_daily else 1, "client_class": key.client_class},
        **{"agent": key.name, "start__gte": hours[0][0], "start__lt": hours[-1][1]},
    )
    counts = [0] * len(steps)
    place = 0
    for hour, views in rows.order_by("start").values_list("start", "views"):
        while place + 1 < len(hours) and hours[place + 1][0] <= hour:
            place += 1
        counts[place] += views
    return counts


def count_assistants(
    project: Project, found: Sequence[Agent], start: datetime, end: datetime, kept: datetime
) -> list[AssistantCount]:
    """The assistants whose clients read something, or from which people came; the most views first.

    `found`: the agents of the range. `kept`: from then on single views are stored.
    """
    views: Counter[str] = Counter()
    operators: dict[str, str] = {}
    for agent in found:
        if agent.client_class in agents.AI_CLASSES and agent.operator:
            views[agent.operator] += agent.views
            operators[agent.name] = agent.operator
    read = _find_pages(project, operators, max(start, kept), end)
    counted = [
        AssistantCount(assistant, views[assistant.operator], len(read[assistant.operator]), hosts)
        for assistant, hosts in count_people(project, start, end).items()
    ]
    return sorted((row for row in counted if row.views or row.people), key=lambda row: (-row.views, -row.people))


def _find_pages(
    project: Project, operators: dict[str, str], start: datetime, end: datetime
) -> defaultdict[str, set[int]]:
    """The numbers of the pages that the clients of each operator read. `operators`: by agent."""
    read: defaultdict[str, set[int]] = defaultdict(set)
    for name, page in sql.fetch_all(
        "SELECT DISTINCT agent, page FROM analytics_pageview WHERE project_id = %s AND at >= %s AND at < %s "
        "AND agent <> '' AND client_class LIKE 'ai%%'",
        [project.pk, *_whole_hours(start, end)],
    ):
        if name in operators:
            read[operators[name]].add(page)
    return read


def _whole_hours(start: datetime, end: datetime) -> tuple[int, int]:
    """Both ends in microseconds, rounded outwards to the hour, as agents are counted."""
    lo, hi = ((instant - EPOCH) // HOUR.resolution for instant in (start, end))
    return lo - lo % _HOUR, hi + -hi % _HOUR


def build_agent_row(agent: Agent, ai_classes: Collection[str]) -> dict[str, Any]:
    """An agent as the API has it. `ai_classes`: those whose views all count as AI in the project."""
    return {
        "name": agent.name,
        "operator": agent.operator,
        "clientClass": agent.client_class,
        "views": agent.views,
        "countedAsAi": agent.views if agent.client_class in ai_classes else agent.markdown_views,
        **{form: agent.surfaces[form] for form in PageView.Surface.values},
        "verified": agent.verified[PageView.Verified.YES],
        "claimed": agent.verified[PageView.Verified.NO],
        "signed": agent.verified[PageView.Verified.SIGNED],
        "rules": agent.rules,
        "lastSeen": f"{agent.last_seen:%Y-%m-%dT%H:%M:%SZ}",
    }
