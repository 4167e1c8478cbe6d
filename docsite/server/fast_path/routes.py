"""The table of the endpoints on the fast path, built from what Ninja knows of them."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch
from ninja.utils import normalize_path

from docsite.server.api import api

# Each takes its path parameters and its body only, which its check has parsed, and returns a response.
OPERATIONS = ("search", "getPage", "reportClick", "reportView", "collectViews", "askV1", "askV2")
_PARAMETER = re.compile(r"\\\{(\w+)\\\}")  # `{domain}`, escaped


@dataclass(frozen=True)
class Route:
    """An endpoint that takes POST: the pattern of its path, the check before it, and its function."""

    pattern: re.Pattern[str]
    check: Callable[[HttpRequest], Awaitable[Any]]
    respond: Callable[..., Awaitable[HttpResponseBase]]

    async def run(self, request: HttpRequest) -> HttpResponseBase:
        """Check the request, then respond, as Ninja does. Its errors become responses in the same functions."""
        match = request.resolver_match
        assert match
        try:
            request.auth = await self.check(request)  # type: ignore[attr-defined]  # Ninja sets the same
            request._body = b""  # see `StrictParser`
            payload = request.__dict__.pop("payload")  # set by the check; a stream must not hold the body
            return await self.respond(request, payload=payload, **match.kwargs)
        except Exception as failure:  # those that Ninja does not know are raised again
            return api.on_exception(request, failure)


def build_routes() -> list[Route]:
    """A route for each endpoint in `OPERATIONS`, from Ninja's routers. AssertionError if one no longer exists."""
    routes = []
    for prefix, router in api._routers:  # Ninja has no public list
        for path, view in router.path_operations.items():
            for operation in view.operations:
                if operation.operation_id in OPERATIONS:
                    template = re.escape(normalize_path(f"{prefix}/{path}"))
                    (check,) = operation.auth_callbacks
                    pattern = re.compile(_PARAMETER.sub(r"(?P<\1>[^/]+)", template))
                    routes.append(Route(pattern, check, operation.view_func))
    assert len(routes) == len(OPERATIONS), "an operation of the fast path no longer exists"
    return routes


def match_route(route: Route, path: str) -> ResolverMatch | None:
    """The parameters of a path, as Django's resolver gives them; None if the route has another path."""
    match = route.pattern.fullmatch(path)
    return ResolverMatch(route.respond, (), match.groupdict()) if match else None
