"""Add and delete the notes of the visitors report."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseNotAllowed, HttpResponseRedirect
from django.urls import reverse

from analytics.models import Annotation
from docsite.core.http import dates
from docsite.core.tenants.models import Project
from docsite.core.tenants.staff import project_of
from docsite.core.workspace.posted_rows import find_posted_row

MAX_TEXT = 200  # characters of an annotation


def change_annotations(request: HttpRequest, domain: str) -> HttpResponse:
    """Store or delete a note, then lead back to the chart."""
    project = project_of(request, domain)
    if request.method != "POST":
        return HttpResponseNotAllowed(["POST"])
    if number := request.POST.get("delete", ""):
        notes = Annotation.objects.filter(project=project, kind=Annotation.Kind.NOTE)
        if note := find_posted_row(notes, number):
            note.delete()
            messages.success(request, "The annotation is deleted.")
    else:
        _add(request, project)
    back = request.POST.get("back", "")
    query = back if back.startswith("?") else ""
    return HttpResponseRedirect(f"{reverse('admin:analytics_visitors', args=[domain])}{query}#over-time")


def _add(request: HttpRequest, project: Project) -> None:
    text = " ".join(request.POST.get("text", "").replace("\0", "").split())
    try:
        at = dates.parse(request.POST.get("at", ""))
    except ValueError:
        messages.error(request, "Write a day such as 2026-11-30, or a time such as 2026-11-30T09:30.")
        return
    if not 0 < len(text) <= MAX_TEXT:
        messages.error(request, f"An annotation has 1 to {MAX_TEXT} characters.")
        return
    Annotation.objects.create(project=project, at=at, text=text, author_id=request.user.pk)
    messages.success(request, "The annotation is stored.")
