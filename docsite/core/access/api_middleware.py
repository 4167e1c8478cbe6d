"""The only middleware of API paths: it checks host and origin (403), sets headers, and turns errors into JSON.

It is short and async on purpose. Sessions, CSRF and the rest of Django's default
chain belong to pages, which use `settings.MIDDLEWARE`.
"""

import logging
from collections.abc import Awaitable, Callable

from asgiref.sync import markcoroutinefunction
from django.conf import settings
from django.core.exceptions import DisallowedHost, TooManyFieldsSent
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.decorators import async_only_middleware

from docsite.core import context
from docsite.core.access import cors_paths, origins
from docsite.core.access.reader_tokens import READER_TOKEN_HEADER
from docsite.core.access.readers import PUBLIC, set_reader_groups
from docsite.core.http import ratelimit
from docsite.core.http.errors import (
    ApiError,
    BadRequest,
    Forbidden,
    Unavailable,
    is_out_of_descriptors,
    is_store_failure,
)
from docsite.core.http.nul import find_nul

logger = logging.getLogger(__name__)

_REQUEST_HEADERS = ("Authorization", "Content-Type", "User-Agent")
_EXPOSED = "X-Thread-Id, Retry-After, RateLimit, RateLimit-Policy, X-View, X-Request-Id"


@async_only_middleware
class ApiMiddleware:
    """Checks, headers and errors of every API request, in the order of `__call__`."""

    def __init__(self, get_response: Callable[[HttpRequest], Awaitable[HttpResponseBase]]) -> None:
        self.get_response = get_response
        markcoroutinefunction(self)

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Refuse unknown hosts and origins, then respond."""
        set_reader_groups(PUBLIC)  # until a check lets the caller see more
        is_head = request.method == "HEAD"
        if is_head:
            request.method = "GET"  # the server drops the body of a response that is not streamed
        request.urlconf = settings.API_URLCONF  # type: ignore[attr-defined]  # Django reads it when it resolves
        cors_headers: dict[str, str] = {}
        try:
            request.get_host()
            if name := find_nul(request):
                raise BadRequest(f"{name[:100]}: contains a NUL character")
            cors_headers = await self._cors_headers(request)
            response = self._preflight(request) or await self.get_response(request)
        except DisallowedHost:
            response = BadRequest("Host: not a host name this service answers to").response()
        except Exception as failure:  # Django has handled those of its views already
            response = as_api_error(failure).response()
        response = _as_json_error(response)
        for name, value in {**cors_headers, **ratelimit.headers(getattr(request, "usages", ()))}.items():
            response.headers.setdefault(name, value)
        if cors_headers:
            patch_vary_headers(response, ["Origin"])
        response.headers.setdefault("Cache-Control", "no-store")
        response.headers["X-Content-Type-Options"] = "nosniff"
        if settings.SECURE_HSTS_SECONDS and request.is_secure():
            response.headers["Strict-Transport-Security"] = f"max-age={settings.SECURE_HSTS_SECONDS}"
        if is_head and response.streaming:
            response = HttpResponse(headers=response.headers)
        if response.status_code == 204:
            del response.headers["Content-Type"]
        elif isinstance(response, HttpResponse) and response.status_code != 304:
            response.headers["Content-Length"] = str(len(response.content))
        return response

    async def process_exception(self, request: HttpRequest, exception: Exception) -> HttpResponse:
        """Turn an exception of a view into JSON."""
        return as_api_error(exception).response()

    async def _cors_headers(self, request: HttpRequest) -> dict[str, str]:
        """The CORS headers for the origin of a request; empty without one. Raises 403 if the origin is not allowed."""
        if cors_paths.is_public(request.path_info):
            return {"Access-Control-Allow-Origin": "*"}
        origin = request.headers.get("Origin")
        domain = cors_paths.domain_of(request.path_info)
        if origin is None or domain is None:
            return {}
        if origin != own_origin(request) and not await origins.allows_origin(domain, origin):
            raise Forbidden("This origin is not on the project's list of allowed origins.")
        return {"Access-Control-Allow-Origin": origin, "Access-Control-Expose-Headers": _EXPOSED}

    @staticmethod
    def _preflight(request: HttpRequest) -> HttpResponse | None:
        if request.method != "OPTIONS" or cors_paths.domain_of(request.path_info) is None:
            return None
        return HttpResponse(
            status=204,
            headers={
                "Access-Control-Allow-Methods": "GET, POST, OPTIONS",
                "Access-Control-Allow-Headers": ", ".join(
                    [*_REQUEST_HEADERS, READER_TOKEN_HEADER, *cors_paths.request_headers_of(request.path_info)]
                ),
                "Access-Control-Max-Age": "7200",
            },
        )


def as_api_error(failure: Exception) -> ApiError:
    """The error that the caller gets.

    An `ApiError` stays as it is. Too many query parameters are a 400. An unreachable
    database is a 503. Anything else is a 500 with the id of the request, under which the
    traceback is logged.
    """
    if isinstance(failure, ApiError):
        return failure
    if isinstance(failure, TooManyFieldsSent):
        return BadRequest(f"query: more than {settings.DATA_UPLOAD_MAX_NUMBER_FIELDS} parameters")
    if is_store_failure(failure):
        logger.error("The database does not answer.", exc_info=failure)
        return Unavailable("The database does not answer. Try again shortly.")
    if is_out_of_descriptors(failure):
        logger.error("This process may not open more files or connections (LimitNOFILE).")
        return Unavailable("The service has too many open connections. Try again shortly.")
    reference = context.request_id.get() or context.new_request_id()
    logger.error("Internal error, reference %s.", reference, exc_info=failure)
    return ApiError(500, f"Internal error, reference {reference}.")


def own_origin(request: HttpRequest) -> str:
    """The origin of the service, as this request addressed it."""
    return f"{request.scheme}://{request.get_host()}".lower()


def _as_json_error(response: HttpResponseBase) -> HttpResponseBase:
    """Replace an error page of Django (no route, wrong method) with our JSON. Other responses stay as they are."""
    if response.status_code < 400 or response.headers.get("Content-Type", "").startswith("application/json"):
        return response
    if response.status_code == 405:
        allow = response.headers.get("Allow", "")
        if "GET" in allow and "HEAD" not in allow:  # `__call__` turns HEAD into GET
            allow = allow.replace("GET", "GET, HEAD")
        return ApiError(405, f"This path takes {allow}.", headers={"Allow": allow}).response()
    return ApiError(response.status_code, "The request could not be handled.").response()
