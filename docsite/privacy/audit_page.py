"""The page "Audit": what happened in the organization of a project, with filters, and as a file."""

import json
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

from docsite.core.http import dates
from docsite.core.tenants.models import Project
from docsite.core.workspace import navigation
from docsite.core.workspace.reports import downloads
from docsite.privacy.models import AuditEntry

KEY = "audit"
ROWS = 100  # of a page
COLUMNS = (
    *("position", "at", "actor", "network", "action", "object", "project"),
    *("before", "details", "digest"),
)
_SILENT = ("", "set", "empty", "[]")  # values of a new row
_KNOWN = ("organization", "project", "user", "invited_by", "created_at")  # ids of rows, and what the entry shows anyway


def _day(label: str) -> forms.DateField:
    wrong = f"{label}: write a day such as 2026-11-30."
    return forms.DateField(required=False, input_formats=["%Y-%m-%d"], error_messages={"invalid": wrong})


class AuditFilters(forms.Form):
    """Which entries are shown. Empty: all. `after` and `before` are days of the project's zone, both included."""

    actor = forms.CharField(required=False, max_length=200)
    action = forms.CharField(required=False, max_length=200)
    after = _day("From")
    before = _day("To")

    def list_wrong(self) -> list[str]:
        """A sentence for each filter that is wrong."""
        return [str(sentence) for sentences in self.errors.values() for sentence in sentences]

    def link(self, **more: object) -> str:
        """The query of an address with these filters."""
        values = {**self.cleaned_data, **more}
        return f"?{urlencode({name: value for name, value in values.items() if value})}"

    def select(self, entries: "QuerySet[AuditEntry]") -> "QuerySet[AuditEntry]":
        """The entries that pass. A filter that is wrong passes all."""
        values = self.cleaned_data
        after, before = values.get("after"), values.get("before")
        if values.get("actor"):
            entries = entries.filter(actor__icontains=values["actor"])
        if values.get("action"):
            entries = entries.filter(action=values["action"])
        if after and after > date.min:
            entries = entries.filter(at__gte=dates.parse(str(after)))
        if before and before < date.max:
            entries = entries.filter(at__lt=dates.parse(str(before + timedelta(days=1))))
        return entries


def show_audit(request: HttpRequest, project: Project) -> HttpResponse:
    """Show the entries of the organization that pass the filters, the latest first."""
    filters = AuditFilters(request.GET)
    is_valid = filters.is_valid()
    every = AuditEntry.objects.filter(organization_id=project.organization_id)
    entries = filters.select(every).order_by("-pk")
    older = request.GET.get("older", "")
    if older.isascii() and older.isdigit() and len(older) < 19:
        entries = entries.filter(pk__lt=int(older))
    rows = list(entries[: ROWS + 1])
    context = {
        "filters": filters.cleaned_data,
        "wrong": filters.list_wrong(),
        "rows": [(entry, _name_subject(entry), _describe(entry)) for entry in rows[:ROWS]],
        "actions": every.order_by("action").values_list("action", flat=True).distinct(),
        "older": filters.link(older=rows[ROWS - 1].pk) if len(rows) > ROWS else "",
        "newest": filters.link() if older else "",
        "files": [
            (label, navigation.page_url(KEY, project, form, name="file") + filters.link())
            for form, (label, _) in downloads.FORMATS.items()
        ],
    }
    title = f"Audit of {project.organization}"
    return navigation.render(request, "admin/privacy/audit.html", project, title, context, wrong=not is_valid)


def send_audit(request: HttpRequest, project: Project, form: str) -> HttpResponseBase:
    """All entries of the organization that pass the filters, the oldest first, as a file."""
    kind = downloads.parse_format(form)
    filters = AuditFilters(request.GET)
    if not filters.is_valid():
        return downloads.refuse(filters.list_wrong())
    entries = filters.select(AuditEntry.objects.filter(organization_id=project.organization_id)).order_by("pk")
    lines = downloads.format_table(COLUMNS, _list_rows(entries, kind), kind)
    return downloads.send_file(lines, kind, f"{project.domain}-audit.{kind}")


def _list_rows(entries: "QuerySet[AuditEntry]", form: downloads.Format) -> Iterator[list[Any]]:
    for entry in entries.iterator(downloads.CHUNK_ROWS):
        values = [getattr(entry, name) for name in COLUMNS]
        values[1] = entry.at.isoformat()
        yield [json.dumps(value) if form == "csv" and isinstance(value, dict) else value for value in values]


def _name_subject(entry: AuditEntry) -> str:
    """What the entry is about. A download is stored as the name of its address."""
    if entry.action != "downloaded":
        return entry.object
    labels = {page.key: page.label for page in navigation.all_pages()}
    key, _, part = entry.object.removeprefix("workspace_").partition("_")
    return f"{labels[key]} ({part})" if key in labels else entry.object.replace("_", " ")


def _describe(entry: AuditEntry) -> list[tuple[str, str, str]]:
    """Name, old value and new value of each changed field. Of a new row, values that say nothing are left out."""
    is_new = not entry.before
    names = [*entry.before, *(name for name in entry.details if name not in entry.before)]
    pairs = [(name, _format(entry.before.get(name)), _format(entry.details.get(name))) for name in names]
    return [pair for pair in pairs if not (is_new and (pair[2] in _SILENT or pair[0] in _KNOWN))]


def _format(value: Any) -> str:
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)
