"""The section of the digest about visitors."""

from datetime import datetime

from django.urls import reverse

from docsite.core.http.dates import find_day
from docsite.core.notifications.email_content import Item, Section
from docsite.core.tenants.models import Project
from docsite.core.workspace.reports.report_state import previous_period
from docsite.core.workspace.reports.tables import Change


def count_visitors(project: Project, start: datetime, end: datetime) -> Section | None:
    """The unique visitors, people and AI clients, beside those of the week before."""
    from analytics.reports import visitor_counts  # imports numpy

    now, before = (
        visitor_counts.count_visitors(project, *window).totals
        for window in ((start, end), previous_period(start, end) or (start, start))
    )
    page = reverse("admin:analytics_visitors", args=[project.domain])
    path = f"{page}?from={find_day(start)}&to={find_day(end)}"
    items = []
    for name, label in (("human", "people read your pages"), ("ai", "AI clients read your pages")):
        change = Change(now[name], before[name])
        if change.now or change.before:
            items.append(Item(label, f"{change.before:,} in the week before", path, f"{change.now:,}"))
    return Section("Visitors", items) if items else None
