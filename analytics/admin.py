"""Raw views and the visitors report in the admin."""

from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import path
from django.utils import timezone

from analytics import dates, reports
from analytics.models import PageView
from docsite.projects.admin import ScopedAdmin, project_of
from docsite.projects.models import Project

RANGES = {"24h": "24 hours", "7d": "7 days", "30d": "30 days", "90d": "90 days"}
MOST_ROWS = 100


@admin.register(PageView)
class PageViewAdmin(ScopedAdmin):
    """Single views, and the report over all of them."""

    organization = "project__organization"
    list_display = ("at", "path", "project", "client_class", "agent", "rule", "sample")
    list_filter = ("client_class", "sample")
    list_select_related = ("project",)
    date_hierarchy = "at"
    show_full_result_count = False

    def get_urls(self) -> list[Any]:
        """The report of each project."""
        page = self.admin_site.admin_view(self.visitors_report)
        return [path("visitors/<slug:domain>", page, name="analytics_visitors"), *super().get_urls()]

    def visitors_report(self, request: HttpRequest, domain: str) -> HttpResponse:
        """Unique visitors of a range: human, AI and both, by page, and who the agents were."""
        project = project_of(request, domain)
        chosen = request.GET.get("range", "30d")
        if chosen not in RANGES:
            chosen = "30d"
        start, end = dates.window(None, None, timezone.now())
        if chosen == "24h":
            end = timezone.now()
            start = end - timedelta(hours=24)
        else:
            start = end - timedelta(days=int(chosen.removesuffix("d")))
        found = reports.visitors(project, start, end)
        context = {
            **self.admin_site.each_context(request),
            "title": f"Visitors of {project.name}",
            "opts": self.opts,
            "project": project,
            "ranges": RANGES.items(),
            "chosen": chosen,
            "start": start,
            "end": end,
            "totals": found.totals,
            "overlap": found.totals["human"] + found.totals["ai"] - found.totals["total"],
            "rows": found.rows[:MOST_ROWS],
            "more": max(0, len(found.rows) - MOST_ROWS),
            "agents": _labelled(project, reports.agents(project, start, end)),
            "sample": project.views.filter(sample=True, at__gte=start, at__lt=end).exists(),
            "base_url": f"{request.scheme}://{request.get_host()}",
        }
        return TemplateResponse(request, "admin/reports/visitors.html", context)


def _labelled(project: Project, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Agents with the label of their class, and whether they count as AI here."""
    classes = reports.ai_classes(project)
    for row in rows:
        row["class_label"] = PageView.Class(row["client_class"]).label
        row["counts"] = row["markdown"] or row["client_class"] in classes
    return rows
