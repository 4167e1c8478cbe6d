"""Refuse requests for pages with a NUL character in a parameter."""

from collections.abc import Awaitable, Callable

from asgiref.sync import markcoroutinefunction
from django.http import HttpRequest, HttpResponseBadRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import async_only_middleware

from docsite.core.http.nul import find_nul


@async_only_middleware
class RefuseNul:
    """Answers 400 before any view looks such a parameter up in the database. `ApiMiddleware` does it for the API."""

    def __init__(self, get_response: Callable[[HttpRequest], Awaitable[HttpResponseBase]]) -> None:
        self.get_response = get_response
        markcoroutinefunction(self)

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Refuse, or respond."""
        if find_nul(request) is not None:
            return HttpResponseBadRequest("The request contains a NUL character.", content_type="text/plain")
        return await self.get_response(request)
