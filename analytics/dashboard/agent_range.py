"""What the pages of agents share: the range with the period before, its links, and the files."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Min
from django.utils import timezone

from analytics.counting import agent_views, sweeper
from analytics.dashboard import coverage
from analytics.dashboard.agent_table import Earlier
from analytics.models import EPOCH, AgentViews
from analytics.reports.filtered_counts import kept_from
from docsite.core.tenants.models import Project
from docsite.core.workspace import navigation
from docsite.core.workspace.reports.downloads import list_choices
from docsite.core.workspace.reports.links import Choice
from docsite.core.workspace.reports.report_state import HOUR, previous_period

KEY = "agents"  # of the page in the navigation


@dataclass(frozen=True)
class AgentRange:
    """A range, and the period before if views were recorded then. `since`: the first hour, if after that start."""

    start: datetime
    end: datetime
    earlier: tuple[datetime, datetime] | None
    since: datetime | None
    path: str = ""

    @classmethod
    def load(cls, project: Project, start: datetime, end: datetime, path: str = "") -> "AgentRange":
        """Look up when recording began. `path`: only views of this page count, while single views are kept."""
        earlier = previous_period(start, end)
        hour = AgentViews.objects.filter(project=project, span=1).aggregate(first=Min("start"))["first"]
        first = min(
            filter(None, [coverage.first_hour(project), None if hour is None else EPOCH + HOUR * hour]), default=None
        )
        since = first if earlier and first and first > earlier[0] else None
        is_gone = path and earlier and earlier[0] < kept_from(project)
        if first is None or is_gone or (earlier and since and since >= earlier[1]):
            earlier = None
        return cls(start, end, earlier, since, path)

    def count_earlier(self, project: Project) -> Earlier:
        """The views of each agent in the period before."""
        if not self.earlier:
            return None
        found = agent_views.list_agents(project, *self.earlier, self.path)
        return {(agent.client_class, agent.name, agent.operator): agent.views for agent in found}


def describe_range(project: Project, start: datetime, end: datetime, path: str = "") -> dict[str, Any]:
    """The context of the range."""
    return {
        "numbers": AgentRange.load(project, start, end, path),
        "widened": any((instant - EPOCH) % HOUR for instant in (start, end)),
        "is_open": end > timezone.now(),
        "kept_days": sweeper.kept_days(project),
    }


def list_files(project: Project, what: str, query: str) -> list[Choice]:
    """The links to a table as files."""
    return list_choices(lambda form: navigation.page_url(KEY, project, f"{what}.{form}", name="file") + query)
