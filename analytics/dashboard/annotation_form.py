"""Add and delete the notes of the visitors report."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.urls import reverse

from analytics.reports import annotations
from docsite.core.http import dates
from docsite.core.tenants.staff import project_of


def change_annotations(request: HttpRequest, domain: str) -> HttpResponse:
    """Store or delete a note, then lead back to the chart."""
    project = project_of(request, domain)
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    if number := request.POST.get("delete", ""):
        if number.isascii() and number.isdigit() and len(number) < 19 and annotations.delete_note(project, int(number)):
            messages.success(request, "The annotation is deleted.")
    else:
        _add(request, domain)
    back = request.POST.get("back", "")
    query = back if back.startswith("?") else ""
    return HttpResponseRedirect(f"{reverse('admin:analytics_visitors', args=[domain])}{query}#over-time")


def _add(request: HttpRequest, domain: str) -> None:
    text = " ".join(request.POST.get("text", "").replace("\0", "").split())
    try:
        at = dates.parse(request.POST.get("at", ""))
    except ValueError:
        messages.error(request, "Write a day such as 2026-11-30, or a time such as 2026-11-30T09:30.")
        return
    if not 0 < len(text) <= annotations.MAX_TEXT:
        messages.error(request, f"An annotation has 1 to {annotations.MAX_TEXT} characters.")
        return
    annotations.add_note(project_of(request, domain), at, text, request.user)
    messages.success(request, "The annotation is stored.")
