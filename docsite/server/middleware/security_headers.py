"""Security headers of pages and of the admin."""

from collections.abc import Awaitable, Callable

from asgiref.sync import markcoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import async_only_middleware

# The widget needs nothing inline: it adopts its style sheet and loads its panel from this origin.
_POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; "
    "form-action 'self'; frame-ancestors 'none'"
)


@async_only_middleware
class SecurityHeaders:
    """Adds the Content-Security-Policy to pages, and `secure` to cookies over HTTPS."""

    def __init__(self, get_response: Callable[[HttpRequest], Awaitable[HttpResponseBase]]) -> None:
        self.get_response = get_response
        markcoroutinefunction(self)

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Respond with the headers set."""
        response = await self.get_response(request)
        response.headers.setdefault("Content-Security-Policy", _POLICY)
        if request.is_secure():
            for cookie in response.cookies.values():
                cookie["secure"] = True
        return response
