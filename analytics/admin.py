"""Single page views in the admin, and the way to the reports over all of them."""

from typing import Any, ClassVar

from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import path

from analytics import agents, reports
from analytics.counting import pages
from analytics.dashboard import visitors
from analytics.models import PageView
from docsite.projects.admin import ScopedAdmin, organizations_of
from docsite.projects.models import Project


class ProjectFilter(admin.SimpleListFilter):
    """Projects that the user may see, by domain."""

    title = parameter_name = "project"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Up to fifty of them."""
        mine = Project.objects.filter(organization__in=organizations_of(request))
        return [(project.domain, project.name) for project in mine[:50]]

    def queryset(self, request: HttpRequest, queryset: "QuerySet[PageView]") -> "QuerySet[PageView]":
        """The views of the chosen one."""
        domain = self.value()
        return queryset.filter(project__domain=domain.replace("\0", "")) if domain else queryset


class AgentFilter(admin.SimpleListFilter):
    """One agent by its name: the report of visitors links to its views. There are too many names to offer."""

    title = parameter_name = "agent"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The chosen one, so that the list says that it is filtered."""
        chosen = request.GET.get("agent")
        return [] if chosen is None else [(chosen, chosen[:80] or "(no name)")]

    def queryset(self, request: HttpRequest, queryset: "QuerySet[PageView]") -> "QuerySet[PageView]":
        """Its views."""
        name = self.value()
        return queryset if name is None else queryset.filter(agent=name.replace("\0", ""))


@admin.register(PageView)
class PageViewAdmin(ScopedAdmin):
    """Single views, and the reports over all of them."""

    organization = "project__organization"
    list_display = ("seen_at", "path", "project", "client_class", "agent", "surface", "counts_as")
    list_filter = (ProjectFilter, AgentFilter, "client_class", "surface", "verified", "sample")
    list_select_related = ("project",)
    fields = (
        *("seen_at", "path", "project", "client_class", "surface", "counts_as", "agent", "operator", "verified"),
        *("rule", "rules_version", "referrer", "user_agent", "sample"),
    )
    readonly_fields = ("seen_at", "path", "counts_as")
    show_full_result_count = False

    class Media:
        """The look of the list."""

        css: ClassVar = {"all": ("admin/reports.css",)}

    def get_queryset(self, request: HttpRequest) -> "QuerySet[PageView]":
        """The views of one's own projects. No join as in other lists, which would have to drop duplicates."""
        if request.user.is_superuser:
            return PageView.objects.all()
        mine = Project.objects.filter(organization__in=organizations_of(request))
        return PageView.objects.filter(project__in=list(mine.values_list("pk", flat=True)))

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """The latest first, where an index has them so: in one project. Elsewhere those that came in last."""
        if request.GET.get("project"):
            return ("-at",)
        mine = Project.objects.filter(organization__in=organizations_of(request))
        return () if request.user.is_superuser or mine.count() > 1 else ("-at",)

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
        return pages.paths_of(view.project_id, [view.page])[0]

    @admin.display(description="Counts as")
    def counts_as(self, view: PageView) -> str:
        """Which of the numbers it is in, as the project's owner has it."""
        if agents.reads(view.client_class, view.surface) or view.client_class in reports.ai_classes(view.project):
            return "AI"
        return "human" if view.client_class == PageView.Class.HUMAN else "–"

    def get_urls(self) -> list[Any]:
        """The report of each project, and its files."""
        page = self.admin_site.admin_view(self.visitors_report)
        rows = self.admin_site.admin_view(visitors.download)
        return [
            path("visitors/<slug:domain>", page, name="analytics_visitors"),
            path("visitors/<slug:domain>/<str:name>", rows, name="analytics_export"),
            *super().get_urls(),
        ]

    def visitors_report(self, request: HttpRequest, domain: str) -> HttpResponse:
        """The visitors report."""
        return visitors.show(request, self.admin_site, domain)
