"""Raw views and the visitors report in the admin."""

from collections.abc import AsyncIterator, Iterator
from datetime import datetime, timedelta
from typing import Any, ClassVar

from django.conf import settings
from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.template.response import TemplateResponse
from django.urls import path, reverse
from django.utils import timezone

from analytics import dates, exports, reports, sweeper
from analytics.models import EPOCH, Page, PageView
from analytics.reports import Counts
from docsite.db import in_db
from docsite.projects.admin import ScopedAdmin, project_of
from docsite.projects.models import Project

RANGES = {"24h": "24 hours", "7d": "7 days", "30d": "30 days", "90d": "90 days"}
MOST_ROWS = 100
REPORTS = {"visitors": reports.visitors, "views": reports.views}
FORMATS = {"csv": ("CSV", "text/csv; charset=utf-8"), "jsonl": ("JSON lines", "application/jsonl; charset=utf-8")}


@admin.register(PageView)
class PageViewAdmin(ScopedAdmin):
    """Single views, and the reports over all of them."""

    organization = "project__organization"
    list_display = ("seen_at", "path", "project", "client_class", "agent", "counts_as")
    list_filter = ("client_class", "sample")
    list_select_related = ("project",)
    fields = (
        *("seen_at", "path", "project", "client_class", "markdown", "counts_as", "agent", "operator"),
        *("rule", "rules_version", "referrer", "user_agent", "sample"),
    )
    readonly_fields = ("seen_at", "path", "counts_as")
    show_full_result_count = False

    class Media:
        """The look of the list."""

        css: ClassVar = {"all": ("admin/reports.css",)}

    def get_queryset(self, request: HttpRequest) -> "QuerySet[PageView]":
        """The views with their pages' paths."""
        page = Page.objects.filter(project=OuterRef("project"), number=OuterRef("page"))
        views: QuerySet[PageView] = super().get_queryset(request)
        return views.annotate(path=Subquery(page.values("path")))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """The list, latest first, with a word on how far back it goes."""
        days = settings.ENV.raw_view_days
        titles = {"title": "Page views", "subtitle": f"Single views are kept for {days} days"}
        return super().changelist_view(request, {**titles, **(extra_context or {})})

    @admin.display(ordering="at", description="At (UTC)")
    def seen_at(self, view: PageView) -> str:
        """When it was."""
        return f"{view.seen_at:%Y-%m-%d %H:%M:%S}"

    @admin.display
    def path(self, view: PageView) -> str:
        """The page's path."""
        return str(view.path)  # type: ignore[attr-defined]  # annotated

    @admin.display(description="Counts as")
    def counts_as(self, view: PageView) -> str:
        """Which of the numbers it is in, as the project's owner has it."""
        if view.markdown or view.client_class in reports.ai_classes(view.project):
            return "AI"
        return "human" if view.client_class == PageView.Class.HUMAN else "–"

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
        visitors, views = (report(project, start, end) for report in REPORTS.values())
        kept_from = EPOCH + timedelta(hours=sweeper.boundary())
        context = {
            **self.admin_site.each_context(request),
            "title": f"Visitors of {project.name}",
            "opts": self.opts,
            "project": project,
            "ranges": RANGES.items(),
            "chosen": chosen,
            "start": start,
            "end": end,
            "visitors": visitors.totals,
            "views": views.totals,
            "overlap": visitors.totals["human"] + visitors.totals["ai"] - visitors.totals["total"],
            "rows": _with_views(visitors, views),
            "more": max(0, len(visitors) - MOST_ROWS),
            "exports": _exports(domain, chosen),
            "kept_from": kept_from if start < kept_from else None,
            "kept_days": settings.ENV.raw_view_days,
            "agents": _labelled(project, reports.agents(project, start, end)),
            "sample": project.views.order_by("at").values_list("sample", flat=True).first(),  # they are the oldest
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
            _streamed(exports.lines(counts, "csv" if form == "csv" else "jsonl")),
            content_type=FORMATS[form][1],
            headers={"Content-Disposition": f'attachment; filename="{domain}-{name}"'},
        )


async def _streamed(chunks: Iterator[str]) -> AsyncIterator[str]:
    """Chunk by chunk; of a plain iterator Django would gather them all before it sends the first."""
    take = in_db(lambda: next(chunks, None))
    while (chunk := await take()) is not None:
        yield chunk


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


def _with_views(visitors: Counts, views: Counts) -> list[dict[str, Any]]:
    """The first rows of pages by visitors, each with its views."""
    viewed = dict(views.table[1:, [0, 3]].tolist())
    numbers = visitors.table[1 : MOST_ROWS + 1, 0].tolist()
    rows = visitors.rows(0, MOST_ROWS)
    return [{**row, "views": viewed.get(number, 0)} for row, number in zip(rows, numbers, strict=True)]


def _exports(domain: str, chosen: str) -> list[tuple[str, str]]:
    """What can be downloaded: labels and links."""
    return [
        (
            f"{what.capitalize()}, {label}",
            f"{reverse('admin:analytics_export', args=[domain, f'{what}.{form}'])}?range={chosen}",
        )
        for what in REPORTS
        for form, (label, _) in FORMATS.items()
    ]


def _labelled(project: Project, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Agents with the label of their class, and whether they count as AI here."""
    classes = reports.ai_classes(project)
    for row in rows:
        row["class_label"] = PageView.Class(row["client_class"]).label
        row["counts"] = row["markdown"] or row["client_class"] in classes
    return rows
