"""Ingested pages in the admin, read-only, and the place of the searches report."""

from typing import Any

from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest

from docsite.core.tenants.models import Role
from docsite.core.workspace import extensions, navigation
from docsite.core.workspace.scoped_admin import ProjectFilter, ReadOnlyRows, ScopedAdmin
from search.admin import query_page, searches
from search.models import Document, SearchSettings, Section

_GROUP = "group:"  # before the name of a group in the address


class SectionInline(ReadOnlyRows, admin.StackedInline):
    """The sections of a page."""

    model = Section
    fields = readonly_fields = ("position", "heading", "anchor", "text")


class ReadersFilter(admin.SimpleListFilter):
    """Public or protected pages, or those of one group."""

    title = "readers"
    parameter_name = "readers"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        """Everybody, some readers, and the group of the address."""
        group = request.GET.get(self.parameter_name, "").removeprefix(_GROUP)
        chosen = [(f"{_GROUP}{group}", group)] if request.GET.get(self.parameter_name, "").startswith(_GROUP) else []
        return [("everybody", "Everybody"), ("some", "Some readers"), *chosen]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        """The pages of that kind."""
        value = self.value() or ""
        if value.startswith(_GROUP):
            return queryset.filter(groups__contains=f"\n{value.removeprefix(_GROUP)}\n")
        if value == "some":
            return queryset.exclude(groups="")
        return queryset.filter(groups="") if value == "everybody" else queryset


@admin.register(Document)
class DocumentAdmin(ScopedAdmin):
    """Ingested pages."""

    organization = "project__organization"
    reads = Role.VIEWER
    list_display = ("path", "title", "project", "version", "language", "readers", "ingested_at")
    list_filter = (ProjectFilter, ReadersFilter, "version", "language")
    search_fields = ("path", "title")
    list_select_related = ("project",)
    inlines = (SectionInline,)

    @admin.display(description="Readers")
    def readers(self, document: Document) -> str:
        """The groups whose readers see it."""
        return ", ".join(document.group_names) or "Everybody"


navigation.add_page(
    "searches",
    "Searches",
    group="Questions",
    position=50,
    views=[
        ("", searches.show_searches, ""),
        ("query", query_page.show_query, "query"),
        ("test", query_page.show_test, "test"),
        ("queries.<str:form>", searches.download_searches, "file"),
    ],
    reads=Role.VIEWER,
    acts=Role.WRITER,
    is_report=True,
)
extensions.add_settings(extensions.PRIVACY, SearchSettings, "search_days")
