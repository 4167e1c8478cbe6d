"""The share links of a project: create one, list them, revoke one."""

import hashlib
import re
import secrets

from django.contrib import messages
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils import timezone

from analytics.models import ShareLink
from docsite.core.tenants.models import Project
from docsite.core.tenants.staff import project_of
from docsite.core.workspace import navigation

MAX_LINKS = 50  # of a project that work at once


def digest(token: str) -> str:
    """What is stored of a token. A fast hash is enough: the token has 192 random bits."""
    return hashlib.sha256(token.encode()).hexdigest()


def create_link(project: Project, name: str, request: HttpRequest) -> str:
    """Store a link of the user. Returns its token, which is never shown again."""
    token = secrets.token_urlsafe(24)
    link = ShareLink.objects.create(
        project=project, name=name[:100], digest=digest(token), created_by_id=request.user.pk
    )
    _log(request, project, ADDITION, {"added": {"name": "share link", "object": str(link)}})
    return token


def show_links(request: HttpRequest, domain: str) -> HttpResponse:
    """Show the links of a project. A new link is shown once."""
    project = project_of(request, domain)
    links = ShareLink.objects.filter(project=project)
    address = ""
    if request.method == "POST" and "revoke" in request.POST:
        number = request.POST["revoke"]
        link = links.filter(pk=number, revoked_at=None).first() if re.fullmatch(r"[0-9]{1,18}", number) else None
        if link:
            link.revoked_at = timezone.now()
            link.save(update_fields=["revoked_at"])
            _log(
                request,
                project,
                CHANGE,
                {"changed": {"name": "share link", "object": str(link), "fields": ["revoked"]}},
            )
            messages.success(request, "The link is revoked.")
        return HttpResponseRedirect(request.path)
    if request.method == "POST":
        if links.filter(revoked_at=None).count() < MAX_LINKS:
            name = " ".join(request.POST.get("name", "").replace("\0", "").split())
            token = create_link(project, name, request)
            address = request.build_absolute_uri(reverse("shared_report", args=[token]))
        else:
            messages.error(request, f"A project has at most {MAX_LINKS} links. Revoke one first.")
    context = {
        "links": links.select_related("created_by")[: 2 * MAX_LINKS],
        "address": address,
        "report": reverse("admin:analytics_visitors", args=[domain]),
    }
    title = f"Share the visitors of {project.name}"
    response = navigation.render(request, "admin/reports/share.html", project, title, context)
    response.headers["Cache-Control"] = "no-store"
    return response


def _log(request: HttpRequest, project: Project, action: int, entry: dict[str, object]) -> None:
    LogEntry.objects.log_actions(str(request.user.pk), [project], action, [entry], single_object=True)
