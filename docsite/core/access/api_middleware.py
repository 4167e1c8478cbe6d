"""The one middleware of API paths: hosts, origins, headers, and no error without its JSON.

It is short and async on purpose. Sessions, CSRF and the rest of Django's stock
chain belong to pages, which take `settings.MIDDLEWARE` instead.
"""

import logging
import re
import secrets
from collections.abc import Awaitable, Callable

from asgiref.sync import markcoroutinefunction
from django.conf import settings
from django.core.exceptions import DisallowedHost
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.decorators import async_only_middleware

from docsite.core.access import authentication
from docsite.core.http import ratelimit
from docsite.core.http.errors import (
    ApiError,
    BadRequest,
    Forbidden,
    Unavailable,
)

logger = logging.getLogger(__name__)

# The paths that browsers of other origins call; analytics and collecting are for servers.
_BROWSER_PATH = re.compile(r"/discovery/[\w-]+/(?:assistant|search|page|view|feedback)/(?P<domain>[^/]+)")
_PUBLIC_PATH = re.compile(r"/discovery/v1/widget/")  # answers any origin, since it says which are allowed
_EXPOSED = "X-Thread-Id, Retry-After, RateLimit, RateLimit-Policy, X-View"


@async_only_middleware
class Gate:
    """Wraps every API answer; see the module's docstring."""

    def __init__(self, get_response: Callable[[HttpRequest], Awaitable[HttpResponseBase]]) -> None:
        self.get_response = get_response
        markcoroutinefunction(self)

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer, refusing unknown hosts and origins first."""
        head = request.method == "HEAD"
        if head:
            request.method = "GET"  # the server drops the body, if it is one chunk
        request.urlconf = settings.API_URLCONF  # type: ignore[attr-defined]  # Django reads it when it resolves
        cors: dict[str, str] = {}
        try:
            request.get_host()
            cors = await self._cors(request)
            response = self._preflight(request) or await self.get_response(request)
        except DisallowedHost:
            response = BadRequest("Host: not a host name this service answers to").response()
        except Exception as failure:  # of ours: Django has already answered for the views
            response = as_api_error(failure).response()
        response = _in_our_shape(response)
        for name, value in {**cors, **ratelimit.headers(getattr(request, "uses", ()))}.items():
            response.headers.setdefault(name, value)
        if cors:
            patch_vary_headers(response, ["Origin"])
        response.headers.setdefault("Cache-Control", "no-store")
        response.headers["X-Content-Type-Options"] = "nosniff"
        if head and response.streaming:
            response = HttpResponse(headers=response.headers)
        if response.status_code == 204:
            del response.headers["Content-Type"]
        elif isinstance(response, HttpResponse) and response.status_code != 304:
            response.headers["Content-Length"] = str(len(response.content))
        return response

    async def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse:
        """What a view let out, as JSON."""
        return as_api_error(exception).response()

    async def _cors(self, request: HttpRequest) -> dict[str, str]:
        """CORS fields for an allowed origin, and on public paths; none where there is no Origin; 403 for any other."""
        if _PUBLIC_PATH.match(request.path_info):
            return {"Access-Control-Allow-Origin": "*"}
        origin = request.headers.get("Origin")
        path = _BROWSER_PATH.match(request.path_info)
        if origin is None or path is None:
            return {}
        if origin != own_origin(request) and not await authentication.lists_origin(path["domain"], origin):
            raise Forbidden("This origin is not on the project's list of allowed origins.")
        return {"Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": _EXPOSED}

    @staticmethod
    def _preflight(request: HttpRequest) -> HttpResponse | None:
        if request.method != "OPTIONS" or not _BROWSER_PATH.match(request.path_info):
            return None
        return HttpResponse(
            status=204,
            headers={
                "Access-Control-Allow-Methods": "GET, POST, OPTIONS",
                "Access-Control-Allow-Headers": "Authorization, Content-Type, User-Agent",
                "Access-Control-Max-Age": "7200",
            },
        )


def as_api_error(failure: Exception) -> ApiError:
    """The error that a caller may see: theirs as it is, a database that is away as 503, a bug under a reference."""
    if isinstance(failure, ApiError):
        return failure
    if ratelimit.is_store_failure(failure):
        logger.error("The database does not answer.", exc_info=failure)
        return Unavailable("The database does not answer. Try again shortly.")
    reference = secrets.token_hex(4)
    logger.error("Internal error, reference %s.", reference, exc_info=failure)
    return ApiError(500, f"Internal error, reference {reference}.")


def own_origin(request: HttpRequest) -> str:
    """The origin under which this request reached the service."""
    return f"{request.scheme}://{request.get_host()}".lower()


def _in_our_shape(response: HttpResponseBase) -> HttpResponseBase:
    """Replace an error that Django made itself (no route, wrong method) by ours."""
    if response.status_code < 400 or response.headers.get("Content-Type", "").startswith("application/json"):
        return response
    if response.status_code == 405:
        allow = response.headers.get("Allow", "")
        if "GET" in allow and "HEAD" not in allow:  # it is made of a GET, above
            allow = allow.replace("GET", "GET, HEAD")
        return ApiError(405, f"This path takes {allow}.", headers={"Allow": allow}).response()
    return ApiError(response.status_code, "The request could not be handled.").response()
