"""Security headers of pages and of the admin."""

from collections.abc import Awaitable, Callable
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import async_only_middleware


def build_policy(cdn_origin: str) -> str:
    """The policy of pages whose static files are on this origin, too. The widget needs nothing inline."""
    own = " ".join(filter(None, ("'self'", cdn_origin)))
    return (
        f"default-src {own}; img-src {own} data:; object-src 'none'; base-uri 'none'; "
        "form-action 'self'; frame-ancestors 'none'"
    )


@async_only_middleware
def add_security_headers(get_response: Callable[[HttpRequest], Awaitable[HttpResponseBase]]) -> Callable[..., Any]:
    """Add the Content-Security-Policy to pages, and `secure` to cookies over HTTPS."""
    policy = build_policy(settings.ENV.cdn_origin)

    async def respond(request: HttpRequest) -> HttpResponseBase:
        response = await get_response(request)
        response.headers.setdefault("Content-Security-Policy", policy)
        if request.is_secure():
            for cookie in response.cookies.values():
                cookie["secure"] = True
        return response

    return respond
