"""Views of agents by hour and day: sums that the sealer keeps, so that reports need no raw views.

An agent is any client that is not a person. A row is one hour or day, client, rule, requested
format and verification. Clients choose their names freely, so each hour and day has at most 300
rows of clients without a known operator. The views of further clients are added up as `(other)`.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

from django.db.models import Count, Max, Q, QuerySet, Sum

from analytics import agents
from analytics.counting import cells, pages
from analytics.models import EPOCH, AgentViews, PageView
from docsite.core import sql
from docsite.core.db import insert
from docsite.core.tenants.models import Project

MAX_UNNAMED_ROWS = 300  # of clients without a known operator, in an hour or day of a project
SPANS = (24, 1)  # hours
OTHER = "(other)"
_HOUR = timedelta(hours=1)

_KEY = ("project_id", "span", "start", "client_class", "agent", "rule", "surface", "verified")
_COLUMNS = (*_KEY, "operator", "views", "last_at")
_TABLE = AgentViews._meta.db_table


class AgentSum(NamedTuple):
    """A row: the views of one agent in one hour or day. A negative number takes views back."""

    project_id: int
    span: int
    start: int
    client_class: str
    agent: str
    rule: str
    surface: str
    verified: str
    operator: str
    views: int
    last_at: int


def sum_views(project_id: int, after: int, up_to: int) -> list[AgentSum]:
    """Sum up by hour the views of a project with ids above `after` and up to `up_to`."""
    rows = sql.fetch_all(
        "SELECT project_id, 1, at / 3600000000, client_class, agent, rule, surface, verified, MAX(operator), "
        "COUNT(*), MAX(at) FROM analytics_pageview "
        "WHERE project_id = %s AND id > %s AND id <= %s "
        "AND NOT (client_class = 'human' AND surface = 'html') "
        "GROUP BY project_id, at / 3600000000, client_class, agent, rule, surface, verified",
        [project_id, after, up_to],
    )
    return [AgentSum(*row) for row in rows]


def add_sums(rows: Iterable[AgentSum]) -> None:
    """Add sums by hour to the stored sums of hours and days. Call it in the transaction that seals or changes views."""
    hours = _sum_by_key(rows)
    days = _sum_by_key(row._replace(span=24, start=row.start // 24 * 24) for row in hours)
    summed = _sum_by_key(_limit_rows([*hours, *days]))
    if summed:
        insert(
            _TABLE,
            _COLUMNS,
            summed,
            f"({', '.join(_KEY)}) DO UPDATE SET "
            f"views = {_TABLE}.views + excluded.views, last_at = CASE WHEN excluded.last_at > {_TABLE}.last_at "
            f"THEN excluded.last_at ELSE {_TABLE}.last_at END",
        )
    if any(row.views < 0 for row in summed):
        AgentViews.objects.filter(project__in={row.project_id for row in summed}, views__lte=0).delete()


def _sum_by_key(rows: Iterable[AgentSum]) -> list[AgentSum]:
    """One row for each key, without zeros."""
    found: dict[tuple[object, ...], AgentSum] = {}
    for row in rows:
        key = row[: len(_KEY)]
        known = found.get(key)
        if known:
            row = row._replace(views=known.views + row.views, last_at=max(known.last_at, row.last_at))
        found[key] = row
    return [row for row in found.values() if row.views]


@dataclass
class Agent:
    """An agent of a report: its class, and its views by requested format and by verification."""

    client_class: str
    name: str
    operator: str
    views: int = 0
    markdown_views: int = 0  # views that count as AI because they requested Markdown
    rules: list[str] = field(default_factory=list)
    surfaces: Counter[str] = field(default_factory=Counter)
    verified: Counter[str] = field(default_factory=Counter)
    last_seen: datetime = EPOCH


def list_agents(project: Project, start: datetime, end: datetime, path: str = "") -> list[Agent]:
    """The agents of a range, most views first. Counted in whole hours: both ends are rounded outwards.

    `path`: only their views of this page, which are counted from single views.
    """
    lo, hi = (start - EPOCH) // _HOUR, -((EPOCH - end) // _HOUR)
    rows: QuerySet[Any, Any]
    if path:
        rows = _views_of_page(project, lo, hi, path)
        counted: dict[str, Any] = {"sum": Count("pk"), "last": Max("at")}
    else:
        spans = cells.cover(lo, hi, hi, SPANS)
        buckets = [Q(span=span, start__gte=first, start__lt=last) for span, first, last in spans]
        rows = AgentViews.objects.filter(reduce(or_, buckets, Q(pk__in=[])), project=project)
        counted = {"sum": Sum("views"), "last": Max("last_at")}
    facts = rows.values_list("client_class", "agent", "operator", "rule", "surface", "verified").annotate(**counted)
    found: dict[tuple[str, str, str], Agent] = {}
    for client_class, name, operator, rule, surface, verified, views, last in facts.order_by("-sum"):
        agent = found.setdefault((client_class, name, operator), Agent(client_class, name, operator))
        agent.views += views
        agent.markdown_views += views * agents.is_markdown_fetch(client_class, surface)
        agent.surfaces[surface] += views
        agent.verified[verified] += views
        agent.last_seen = max(agent.last_seen, EPOCH + timedelta(microseconds=last))
        if rule not in agent.rules:
            agent.rules.append(rule)
    return sorted(found.values(), key=lambda agent: (-agent.views, agent.name, agent.client_class))


def _views_of_page(project: Project, lo: int, hi: int, path: str) -> "QuerySet[PageView]":
    """The single views of a page by agents, from hour `lo` to before hour `hi`."""
    known = pages.for_project(project.pk)
    known.load()
    views = PageView.objects.filter(project=project, page=known.numbers.get(path, -1))
    first, last = (hour * (_HOUR // _HOUR.resolution) for hour in (lo, hi))
    by_people = Q(client_class=PageView.Class.HUMAN, surface=PageView.Surface.HTML)
    return views.filter(at__gte=first, at__lt=last).exclude(by_people)


def _limit_rows(rows: Sequence[AgentSum]) -> list[AgentSum]:
    """Rename rows to `(other)` if their hour or day has too many rows.

    Views are taken back from the row of the client first, and from `(other)` when that holds fewer.
    """
    stored = AgentViews.objects.filter(
        project__in={row.project_id for row in rows}, start__in={row.start for row in rows}, operator=""
    ).exclude(agent=OTHER)
    counted = stored.values_list("project_id", "span", "start").annotate(rows=Count("pk"))
    used = Counter({tuple(bucket): count for *bucket, count in counted})
    needed = used + Counter(row[:3] for row in rows if not row.operator)
    if all(row.views > 0 for row in rows) and all(count <= MAX_UNNAMED_ROWS for count in needed.values()):
        return list(rows)
    known = {key[:-1]: key[-1] for key in stored.values_list(*_KEY, "views")}
    limited = []
    for row in sorted(rows, key=lambda row: (row.views > 0, -row.views)):  # first the rows that free room
        key = row[: len(_KEY)]
        if row.operator:
            limited.append(row)
        elif row.views < 0:
            own = min(known.get(key, 0), -row.views)
            known[key] = known.get(key, 0) - own
            used[row[:3]] -= own > 0 and not known[key]
            limited += [row._replace(views=-own), _fold(row)._replace(views=row.views + own)]
        elif known.get(key) or used[row[:3]] < MAX_UNNAMED_ROWS:
            used[row[:3]] += not known.get(key)
            known[key] = known.get(key, 0) + row.views
            limited.append(row)
        else:
            limited.append(_fold(row))
    return limited


def _fold(row: AgentSum) -> AgentSum:
    return row._replace(agent=OTHER, rule=OTHER)
