"""Raw views and the visitors report in the admin."""

from datetime import datetime, timedelta
from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils import timezone

from analytics import dates, exports, reports, sealer
from analytics.models import EPOCH, Page, PageView
from docsite.projects.admin import ScopedAdmin, project_of
from docsite.projects.models import Project

RANGES = {"24h": "24 hours", "7d": "7 days", "30d": "30 days", "90d": "90 days"}
MOST_ROWS = 100
REPORTS = {"visitors": reports.visitors, "views": reports.views}
FORMATS = {"csv": "text/csv; charset=utf-8", "jsonl": "application/jsonl; charset=utf-8"}


@admin.register(PageView)
class PageViewAdmin(ScopedAdmin):
    """Single views, and the reports over all of them."""

    organization = "project__organization"
    list_display = ("seen_at", "path", "project", "client_class", "agent", "rule", "sample")
    list_filter = ("client_class", "sample")
    list_select_related = ("project",)
    show_full_result_count = False

    def get_queryset(self, request: HttpRequest) -> "QuerySet[PageView]":
        """The views with their pages' paths."""
        page = Page.objects.filter(project=OuterRef("project"), number=OuterRef("page"))
        views: QuerySet[PageView] = super().get_queryset(request)
        return views.annotate(path=Subquery(page.values("path")))

    @admin.display(ordering="at", description="At (UTC)")
    def seen_at(self, view: PageView) -> datetime:
        """When it was."""
        return view.seen_at

    @admin.display
    def path(self, view: PageView) -> str:
        """The page's path."""
        return str(view.path)  # type: ignore[attr-defined]  # annotated

    def get_urls(self) -> list[Any]:
        """The report of each project."""
        page = self.admin_site.admin_view(self.visitors_report)
        rows = self.admin_site.admin_view(self.export)
        return [
            path("visitors/<slug:domain>", page, name="analytics_visitors"),
            path("visitors/<slug:domain>/<str:name>", rows, name="analytics_export"),
            *super().get_urls(),
        ]

    def visitors_report(self, request: HttpRequest, domain: str) -> HttpResponse:
        """Unique visitors of a range: human, AI and both, by page, and who the agents were."""
        project = project_of(request, domain)
        chosen, start, end = _range(request)
        found = reports.visitors(project, start, end)
        kept_from = EPOCH + timedelta(hours=sealer.boundary())
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
            "rows": found.rows(0, MOST_ROWS),
            "more": max(0, len(found) - MOST_ROWS),
            "exports": [
                (
                    f"{what}.{form}",
                    f"{reverse('admin:analytics_export', args=[domain, f'{what}.{form}'])}?range={chosen}",
                )
                for what in REPORTS
                for form in FORMATS
            ],
            "kept_from": kept_from if start < kept_from else None,
            "agents": _labelled(project, reports.agents(project, start, end)),
            "sample": project.views.filter(sample=True).exists(),
            "base_url": f"{request.scheme}://{request.get_host()}",
        }
        return TemplateResponse(request, "admin/reports/visitors.html", context)

    def export(self, request: HttpRequest, domain: str, name: str) -> StreamingHttpResponse:
        """A report as a file: `visitors.csv`, `views.jsonl` and so on."""
        project = project_of(request, domain)
        what, _, form = name.partition(".")
        if what not in REPORTS or form not in FORMATS:
            raise Http404
        _, start, end = _range(request)
        counts = REPORTS[what](project, start, end)
        return StreamingHttpResponse(
            exports.lines(counts, "csv" if form == "csv" else "jsonl"),
            content_type=FORMATS[form],
            headers={"Content-Disposition": f'attachment; filename="{domain}-{name}"'},
        )


def _range(request: HttpRequest) -> tuple[str, datetime, datetime]:
    """The range that was chosen, by its name and in UTC."""
    chosen = request.GET.get("range", "30d")
    if chosen not in RANGES:
        chosen = "30d"
    now = timezone.now()
    if chosen == "24h":
        return chosen, now - timedelta(hours=24), now
    _, end = dates.window(None, None, now)
    return chosen, end - timedelta(days=int(chosen.removesuffix("d"))), end


def _labelled(project: Project, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Agents with the label of their class, and whether they count as AI here."""
    classes = reports.ai_classes(project)
    for row in rows:
        row["class_label"] = PageView.Class(row["client_class"]).label
        row["counts"] = row["markdown"] or row["client_class"] in classes
    return rows
