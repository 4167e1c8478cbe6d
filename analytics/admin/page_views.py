"""Single page views in the admin, and the way to the reports over all of them."""

from datetime import timedelta
from typing import Any, ClassVar
from urllib.parse import urlencode

from django.conf import settings
from django.contrib import admin
from django.contrib.admin.options import IncorrectLookupParameters
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.views.generic import RedirectView

from analytics import agents
from analytics.counting import pages, sweeper
from analytics.dashboard import agent_page, annotation_form, live, overview, share_links, visitors
from analytics.dashboard import agents as agents_report
from analytics.models import EPOCH, AnalyticsSettings, PageView
from analytics.reports import visitor_counts
from docsite.core.http import dates
from docsite.core.sign_on.reauthentication import guard
from docsite.core.tenants.models import Project, Role
from docsite.core.tenants.staff import projects_of
from docsite.core.workspace import extensions, navigation
from docsite.core.workspace.reports.formatting import visible
from docsite.core.workspace.scoped_admin import ProjectFilter, ScopedAdmin


class LinkedFilter(admin.SimpleListFilter):
    """A filter with too many values for a list of choices. The visitors report links to them."""

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """The chosen value, so that the list shows that it is filtered."""
        chosen = request.GET.get(str(self.parameter_name))
        return [] if chosen is None else [(chosen, visible(chosen[:80]) or "(empty)")]


class AgentFilter(LinkedFilter):
    """One agent by its name."""

    title = parameter_name = "agent"

    def queryset(self, request: HttpRequest, queryset: "QuerySet[PageView]") -> "QuerySet[PageView]":
        """Its views."""
        name = self.value()
        return queryset if name is None else queryset.filter(agent=name.replace("\0", ""))


class TimeFilter(LinkedFilter):
    """Views on one side of an instant, in the forms of the API's dates."""

    lookup: ClassVar[str]

    def queryset(self, request: HttpRequest, queryset: "QuerySet[PageView]") -> "QuerySet[PageView]":
        """The views on that side."""
        text = self.value()
        if not text:
            return queryset
        try:
            return queryset.filter(**{self.lookup: (dates.parse(text) - EPOCH) // timedelta(microseconds=1)})
        except ValueError:
            raise IncorrectLookupParameters from None


class FromFilter(TimeFilter):
    """Views at or after an instant."""

    title, parameter_name, lookup = "start", "from", "at__gte"


class UntilFilter(TimeFilter):
    """Views before an instant."""

    title, parameter_name, lookup = "end", "to", "at__lt"


@admin.register(PageView)
class PageViewAdmin(ScopedAdmin):
    """Single views, and the reports over all of them."""

    organization = "project__organization"
    reads = Role.VIEWER
    list_display = ("seen_at", "path", "client_class", "counts_as", "agent_name", "surface", "project")
    list_filter = (ProjectFilter, FromFilter, UntilFilter, AgentFilter, "client_class", "surface", "verified", "sample")
    list_select_related = ("project",)
    fields = (
        *("seen_at", "path", "project", "client_class", "surface", "counts_as", "agent_name", "operator", "verified"),
        *("rule", "rules_version", "referrer", "user_agent", "sample"),
    )
    readonly_fields = ("seen_at", "path", "counts_as", "agent_name")
    change_list_template = "admin/reports/page_views.html"
    show_full_result_count = False

    class Media:
        """The look of the list."""

        css: ClassVar = {"all": ("admin/reports.css",)}

    def get_queryset(self, request: HttpRequest) -> "QuerySet[PageView]":
        """The views of the user's projects. Without the join of other lists, which would need DISTINCT."""
        if request.user.is_superuser:
            return PageView.objects.all()
        return PageView.objects.filter(project__in=list(projects_of(request).values_list("pk", flat=True)))

    def get_ordering(self, request: HttpRequest) -> tuple[str, ...]:
        """Latest first within one project, where an index serves it; otherwise by arrival."""
        if request.GET.get("project"):
            return ("-at",)
        return () if request.user.is_superuser or projects_of(request).count() > 1 else ("-at",)

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> HttpResponse:
        """Show the list of page views, the latest first. The subtitle says for how many days single views are kept."""
        project = _chosen_project(request)
        days = sweeper.kept_days(project) if project else settings.ENV.raw_view_days
        words = {"title": "Page views", "subtitle": f"Single views are kept for {days} days"}
        report = _report(request, project)
        return super().changelist_view(request, {**words, "report": report, **(extra_context or {})})

    @admin.display(ordering="at", description="At (UTC)")
    def seen_at(self, view: PageView) -> str:
        """The time of the view."""
        return f"{view.seen_at:%Y-%m-%d %H:%M:%S}"

    @admin.display
    def path(self, view: PageView) -> str:
        """The page's path."""
        return visible(pages.paths_of(view.project_id, [view.page])[0])

    @admin.display(ordering="agent", description="Agent")
    def agent_name(self, view: PageView) -> str:
        """The agent's name, without invisible characters."""
        return visible(view.agent)

    @admin.display(description="Counts as")
    def counts_as(self, view: PageView) -> str:
        """The count that includes it, by the settings of the project."""
        if agents.is_markdown_fetch(view.client_class, view.surface) or view.client_class in visitor_counts.ai_classes(
            view.project
        ):
            return "AI"
        return "human" if view.client_class == PageView.Class.HUMAN else "–"


def _chosen_project(request: HttpRequest) -> Project | None:
    """The project of the list's filter, if the user may see it."""
    return projects_of(request).filter(domain=request.GET.get("project", "").replace("\0", "")).first()


def _report(request: HttpRequest, project: Project | None) -> dict[str, str]:
    """Name and link of the report for a project and the range of the list's filter; empty without a project."""
    if project is None:
        return {}
    range_ = {name: request.GET[name] for name in ("from", "to") if request.GET.get(name)}
    link = reverse("admin:analytics_visitors", args=[project.domain])
    return {"name": project.name, "link": f"{link}?{urlencode(range_)}" if range_ else link}


navigation.add_page(
    navigation.HOME,
    "Overview",
    group="",
    position=10,
    views=[("", overview.show_overview, ""), ("live", live.show_live, "live")],
    reads=Role.VIEWER,
)
_REPORT = "analytics/pageview/visitors/<str:domain>"
navigation.add_address(_REPORT, visitors.show_visitors, "analytics_visitors")
_to_report = RedirectView.as_view(pattern_name="admin:analytics_visitors", query_string=True)
navigation.add_address(f"{_REPORT}/", _to_report, "")
navigation.add_address(f"{_REPORT}/annotations", annotation_form.change_annotations, "analytics_annotations")
navigation.add_address(f"{_REPORT}/share", share_links.show_links, "analytics_share")
navigation.add_address(f"{_REPORT}/<str:name>", visitors.download, "analytics_export")
navigation.add_page(
    "visitors",
    "Visitors",
    group="Readers",
    position=20,
    url=lambda project: reverse("admin:analytics_visitors", args=[project.domain]),
    names=["analytics_visitors", "analytics_export", "analytics_annotations"],
    reads=Role.VIEWER,
    acts=Role.WRITER,
    is_report=True,
)
guard("analytics_share")
navigation.add_page(
    "agents",
    "Agents",
    group="Readers",
    position=25,
    views=[
        ("", agents_report.show_agents, ""),
        ("agent", agent_page.show_agent, "agent"),
        ("files/<str:name>", agents_report.download, "file"),
    ],
    reads=Role.VIEWER,
    is_report=True,
)
extensions.add_settings("Visitors", AnalyticsSettings, "ai_scope", "secret_rotation", "first_party_ids", "left_out")
extensions.add_settings(extensions.PRIVACY, AnalyticsSettings, "feedback_days", "view_days")
