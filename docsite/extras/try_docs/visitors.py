"""Who may try documentation: signed-in owners, and whoever sits at the machine of a demo."""

import re

from django.conf import settings
from django.db.models import QuerySet
from django.http import HttpRequest

from docsite.core.access import origins
from docsite.core.http.client_address import parse_address
from docsite.core.tenants.models import Organization, Role
from docsite.core.tenants.staff import is_staff, organizations_of

_LOOPBACK_HOST = re.compile(r"(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?", re.IGNORECASE)
_FROM_PROXY = re.compile(r"HTTP_(?:X_FORWARDED_.*|FORWARDED|VIA|X_REAL_IP|.*CLIENT_IP|.*CONNECTING_IP)")


def find_organizations(request: HttpRequest) -> "QuerySet[Organization]":
    """The organizations that may get a trial by this request; none for a stranger.

    A signed-in owner's own; for whoever sits at the machine of a demo, that of the demo. Without a session cookie no
    session is looked at, so the response does not vary.
    """
    if settings.SESSION_COOKIE_NAME in request.COOKIES and is_staff(request):
        return organizations_of(request, Role.OWNER)
    if sits_at_this_machine(request):
        return Organization.objects.filter(projects__domain=settings.ENV.site_domain)
    return Organization.objects.none()


def sits_at_this_machine(request: HttpRequest) -> bool:
    """Whether the process is a demo, and the request came to a loopback address by no proxy.

    The name of the host counts, too: a page of another site could resolve its own name to loopback.
    """
    address = parse_address(request.META.get("REMOTE_ADDR", ""))
    return (
        origins.allows_loopback(settings.ENV.site_domain)
        and address is not None
        and address.is_loopback
        and bool(_LOOPBACK_HOST.fullmatch(request.get_host()))
        and not any(_FROM_PROXY.fullmatch(name) for name in request.META)
    )
