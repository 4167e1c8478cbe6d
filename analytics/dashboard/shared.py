"""The visitors report behind a share link: for whoever has the link, without a log-in, and only to read."""

from datetime import timedelta

from django.db.models import Q
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from analytics.dashboard import visitors
from analytics.dashboard.share_links import digest
from analytics.models import ShareLink
from docsite.core.access.request_checks import BROWSER_IP
from docsite.core.http import ratelimit
from docsite.core.http.client_address import client_ip, network_of
from docsite.core.http.errors import TooMany

_USE_EVERY = timedelta(minutes=10)  # `last_used_at` is written so often
_HEADERS = {  # the address is a secret, which no search engine and no other site should learn
    "Cache-Control": "private, no-store",
    "Referrer-Policy": "no-referrer",
    "X-Robots-Tag": "noindex, nofollow",
}


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
            headers={**_HEADERS, "Retry-After": wait},
        )
    link = ShareLink.objects.select_related("project").filter(digest=digest(token), revoked_at=None).first()
    if link is None:
        raise Http404
    now = timezone.now()
    unused = Q(last_used_at=None) | Q(last_used_at__lt=now - _USE_EVERY)
    ShareLink.objects.filter(unused, pk=link.pk).update(last_used_at=now)
    context = visitors.describe_report(request, link.project)
    context |= {"title": f"Visitors: {link.project.name}", "site_title": link.project.name, "is_shared": True}
    return TemplateResponse(
        request,
        "admin/reports/shared.html",
        context,
        status=400 if context["wrong"] else 200,
        headers=_HEADERS,
    )
