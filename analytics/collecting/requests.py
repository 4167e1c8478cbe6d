"""Turn an HTTP request into a page view. The views endpoint and the middleware use it."""

from importlib import import_module

from django.conf import settings
from django.contrib.auth import get_user
from django.http import HttpRequest
from django.utils import timezone

from analytics.collecting import signatures
from analytics.collecting.recording import Observation
from docsite.core.http.client_address import client_ip, reader_ip


def observe(request: HttpRequest, view_id: str, raw_path: str, referrer: str, reader_id: str = "") -> Observation:
    """The page view of a request, now."""
    return Observation(
        view_id=view_id,
        raw_path=raw_path,
        at=timezone.now(),
        address=client_ip(request),
        user_agent=request.headers.get("User-Agent", ""),
        accept=request.headers.get("Accept", ""),
        referrer=referrer,
        private=request.headers.get("Sec-GPC") == "1" or request.headers.get("DNT") == "1",
        reader_id=reader_id,
        accept_language=request.headers.get("Accept-Language", ""),
        is_own=True,
        signed=signatures.read(request),
    )


def find_skip_reason(request: HttpRequest) -> str:
    """Why the view of a request is not stored, as `X-View` says it; empty if it is."""
    return prefetch_purpose(request) or (
        "" if reader_ip(request) else "address: no valid address of the reader arrives"
    )


def prefetch_purpose(request: HttpRequest) -> str:
    """`prefetch` when a browser fetches a page before it is opened, which is not a view; else empty."""
    purpose = " ".join(request.headers.get(name, "") for name in ("Sec-Purpose", "Purpose", "X-Moz"))
    return "prefetch" if is_prefetch(purpose) else ""


def is_prefetch(purpose: str) -> bool:
    """Whether a browser loads a page in advance, by what it sends in `Sec-Purpose`, `Purpose` or `X-Moz`."""
    return any(word in purpose.lower() for word in ("prefetch", "prerender", "preview"))


def is_staff(request: HttpRequest) -> bool:
    """Whether a member of staff is logged in in the browser of the request. Works without session middleware."""
    key = request.COOKIES.get(settings.SESSION_COOKIE_NAME)
    if not key:
        return False
    request.session = import_module(settings.SESSION_ENGINE).SessionStore(key)
    user = get_user(request)
    return user.is_active and user.is_staff
