"""Questions about the views of a project, over a half-open range of time."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import Count, Max, Q, QuerySet

from analytics.models import PageView
from docsite.db import snapshot
from docsite.projects.models import Project

HUMAN = Q(client_class="human", markdown=False)


def ai_classes(project: Project) -> list[str]:
    """The classes that count as AI, as the project's owner has it."""
    readers = ["ai_user", "ai_agent"]
    return readers if project.ai_scope == Project.AiScope.READERS else [*readers, "ai_search", "ai_training"]


def ai(project: Project) -> Q:
    """The views that count as AI: those classes, and Markdown fetches always."""
    return Q(markdown=True) | Q(client_class__in=ai_classes(project))


@dataclass(frozen=True)
class Visitors:
    """Unique visitors: `totals` of the whole site, and a row for each page, by total descending, then path."""

    totals: dict[str, int]
    rows: list[dict[str, Any]]


def visitors(project: Project, start: datetime, end: datetime) -> Visitors:
    """Unique visitors with `start <= view < end`; `total` counts one seen as both human and AI once."""
    views = _views(project, start, end)
    counts = _distinct(ai(project))
    with snapshot():
        totals = views.aggregate(**counts)
        rows = list(views.values("path").annotate(**counts).order_by("-total", "path"))
    return Visitors(totals, [row for row in rows if row["total"]])


def agents(project: Project, start: datetime, end: datetime) -> list[dict[str, Any]]:
    """The 100 clients that are no people and read most, by name and class, with the rule that decided."""
    views = _views(project, start, end).exclude(HUMAN)
    return list(
        views.values("agent", "operator", "client_class", "markdown", "rule")
        .annotate(views=Count("pk"), visitors=Count("visitor", distinct=True), last_seen=Max("at"))
        .order_by("-views", "agent", "rule")[:100]
    )


def _views(project: Project, start: datetime, end: datetime) -> "QuerySet[PageView]":
    return PageView.objects.filter(project=project, at__gte=start, at__lt=end)


def _distinct(is_ai: Q) -> dict[str, Count]:
    return {
        "human": Count("visitor", distinct=True, filter=HUMAN),
        "ai": Count("visitor", distinct=True, filter=is_ai),
        "total": Count("visitor", distinct=True, filter=HUMAN | is_ai),
    }
