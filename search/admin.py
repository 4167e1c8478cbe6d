"""Ingested pages in the admin, to read."""

from django.contrib import admin

from docsite.projects.admin import ReadOnlyRows, ScopedAdmin
from search.models import Document, Section


class SectionInline(ReadOnlyRows, admin.TabularInline):
    """The sections of a page."""

    model = Section
    fields = readonly_fields = ("position", "heading", "anchor", "text")


@admin.register(Document)
class DocumentAdmin(ScopedAdmin):
    """What was ingested."""

    organization = "project__organization"
    list_display = ("path", "title", "project", "version", "language", "ingested_at")
    list_filter = ("version", "language")
    search_fields = ("path", "title")
    list_select_related = ("project",)
    inlines = (SectionInline,)
