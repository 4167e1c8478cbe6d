"""Ingested pages in the admin, to read."""

from django.contrib import admin
from django.db.models import Model
from django.http import HttpRequest

from docsite.projects.admin import ScopedAdmin
from search.models import Document, Section


class SectionInline(admin.TabularInline):
    """The sections of a page."""

    model = Section
    fields = readonly_fields = ("position", "heading", "anchor", "text")
    extra = 0
    can_delete = False

    def has_add_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """They come from `ingest`."""
        return False

    def has_view_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        """Whoever sees the page sees its sections."""
        return True


@admin.register(Document)
class DocumentAdmin(ScopedAdmin):
    """What was ingested."""

    organization = "project__organization"
    list_display = ("path", "title", "project", "version", "language", "ingested_at")
    list_filter = ("version", "language")
    search_fields = ("path", "title")
    list_select_related = ("project",)
    inlines = (SectionInline,)
