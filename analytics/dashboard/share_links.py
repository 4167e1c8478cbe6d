"""Share links: a member creates and revokes them; whoever has one reads the visitors report without a log-in."""

import secrets
from datetime import timedelta

from django.contrib import messages
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from analytics.dashboard import visitors
from analytics.models import ShareLink
from docsite.core.access.request_checks import BROWSER_IP
from docsite.core.http import ratelimit
from docsite.core.http.client_address import client_ip, network_of
from docsite.core.http.errors import TooMany
from docsite.core.notifications.subscriptions import LINK_HEADERS
from docsite.core.tenants.models import Project, digest
from docsite.core.tenants.staff import project_of
from docsite.core.workspace import navigation
from docsite.core.workspace.posted_rows import find_posted_row

MAX_LINKS = 50  # of a project that work at once
_USE_EVERY = timedelta(minutes=10)  # `last_used_at` is written so often


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
        link = find_posted_row(links.filter(revoked_at=None), request.POST["revoke"])
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
    return navigation.render(request, "admin/reports/share.html", project, title, context)


@require_safe
def show_report(request: HttpRequest, token: str) -> HttpResponse:
    """The report of the link's project. An unknown or revoked link is not found."""
    try:
        ratelimit.spend((BROWSER_IP, network_of(client_ip(request))))
    except TooMany as refusal:
        wait = refusal.headers["Retry-After"]
        return HttpResponse(
            f"Too many requests. Try again in {wait} seconds.\n",
            status=429,
            content_type="text/plain; charset=utf-8",
            headers={**LINK_HEADERS, "Retry-After": wait},
        )
    link = ShareLink.objects.select_related("project").filter(digest=digest(token), revoked_at=None).first()
    if link is None:
        raise Http404
    now = timezone.now()
    unused = Q(last_used_at=None) | Q(last_used_at__lt=now - _USE_EVERY)
    ShareLink.objects.filter(unused, pk=link.pk).update(last_used_at=now)
    timezone.activate(link.project.zone)
    context = visitors.describe_report(request, link.project)
    context |= {"title": f"Visitors: {link.project.name}", "site_title": link.project.name, "is_shared": True}
    return TemplateResponse(
        request,
        "admin/reports/shared.html",
        context,
        status=400 if context["wrong"] else 200,
        headers=LINK_HEADERS,
    )


def _log(request: HttpRequest, project: Project, action: int, entry: dict[str, object]) -> None:
    LogEntry.objects.log_actions(str(request.user.pk), [project], action, [entry], single_object=True)
