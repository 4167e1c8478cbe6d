"""The page "Protected pages": which folders are for some readers only, and the protected pages by group."""

from collections import Counter
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponseRedirect
from django.http.response import HttpResponseBase

from docsite.core.access.readers import decode_groups
from docsite.core.tenants.models import Project
from docsite.core.workspace import navigation
from docsite.core.workspace.reports.formatting import visible
from docsite.core.workspace.reports.links import Choice
from search.admin import lines
from search.indexing.ingest import apply_groups
from search.indexing.page_groups import parse_folders
from search.models import Document

KEY = "protected"
MAX_TEXT = 100_000  # characters of all lines


def show_pages(request: HttpRequest, project: Project) -> HttpResponseBase:
    """The rules of folders, which a POST request replaces, and the groups with their pages."""
    stored = lines.load(project, "folder_groups")
    text, error = stored, ""
    if request.method == "POST":
        text = lines.clean(request.POST.get("lines", "")).strip()
        error = _check(text) or lines.save(project, "folder_groups", text, request.POST.get("revision", ""))
        if not error:
            if apply_groups(project):
                messages.success(request, "Saved. The pages of the index have the new groups.")
            else:
                messages.success(request, "Saved. A source is being read: its end gives the pages the new groups.")
            return HttpResponseRedirect(navigation.page_url(KEY, project))
    context = {
        "text": text,
        "wrong": error,
        "revision": lines.get_revision(stored),
        "max_text": MAX_TEXT,
        **_count_pages(project),
        "readers": navigation.find_url("readers", project),
    }
    return navigation.render(request, "admin/search/protected.html", project, "Protected pages", context, wrong=error)


def _check(text: str) -> str:
    """A sentence about what is wrong with the lines; empty if nothing is."""
    if len(text) > MAX_TEXT:
        return f"The lines have more than {MAX_TEXT:,} characters."
    try:
        parse_folders(text)
    except ValueError as wrong:
        return str(wrong)
    return ""


def _count_pages(project: Project) -> dict[str, Any]:
    """The groups with the number of their pages and a link to these, and the number of public pages."""
    pages = Document.indexed.filter(project=project)
    counts: Counter[str] = Counter()
    for column in pages.exclude(groups="").values_list("groups", flat=True):
        counts.update(decode_groups(column))
    documents = navigation.find_url("documents", project)
    return {
        "groups": [
            (Choice(visible(group), f"{documents}&{urlencode({'readers': f'group:{group}'})}"), number)
            for group, number in sorted(counts.items())
        ],
        "public": pages.filter(groups="").count(),
        "protected": pages.exclude(groups="").count(),
    }


navigation.add_page(KEY, "Protected pages", group="Content", position=66, views=[("", show_pages, "")])
