"""Refuse requests for pages with a NUL character in a parameter."""

from collections.abc import Awaitable, Callable
from typing import Any

from django.http import HttpRequest, HttpResponseBadRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import async_only_middleware

from docsite.core.http.nul import find_nul


@async_only_middleware
def refuse_nul(get_response: Callable[[HttpRequest], Awaitable[HttpResponseBase]]) -> Callable[..., Any]:
    """Answer 400 before any view looks such a parameter up in the database. `ApiMiddleware` does it for the API."""

    async def respond(request: HttpRequest) -> HttpResponseBase:
        if find_nul(request) is not None:
            return HttpResponseBadRequest("The request contains a NUL character.", content_type="text/plain")
        return await get_response(request)

    return respond
