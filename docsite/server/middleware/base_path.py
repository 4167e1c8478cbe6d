"""Below a base path: addresses that pages write from the root begin with it, as those of `reverse` and `static` do."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.decorators import async_only_middleware

_ADDRESS = re.compile(r'( (?:href|src|action)=")(/(?!/)[^"]*)')


@async_only_middleware
def add_base_path(get_response: Callable[[HttpRequest], Awaitable[HttpResponseBase]]) -> Callable[..., Any]:
    """Add the base path, if there is one, to redirects and to the links of HTML."""

    async def respond(request: HttpRequest) -> HttpResponseBase:
        response = await get_response(request)
        base = request.META.get("SCRIPT_NAME", "")
        if not base:
            return response
        if location := response.headers.get("Location"):
            response.headers["Location"] = _ADDRESS.sub(lambda found: _add(base, found), f' href="{location}')[7:]
        if isinstance(response, HttpResponse) and response.headers.get("Content-Type", "").startswith("text/html"):
            response.content = _ADDRESS.sub(lambda found: _add(base, found), response.content.decode())
            response.headers["Content-Length"] = str(len(response.content))  # it was that of the shorter page
        return response

    return respond


def _add(base: str, found: re.Match[str]) -> str:
    return found[0] if re.match(rf"{re.escape(base)}(?:[/?#]|\Z)", found[2]) else f"{found[1]}{base}{found[2]}"
