"""Sends the pages of the documentation again without rendering them, to readers who are not logged in.

A page depends on its address, host and scheme, and on what the client accepts. The whole response is stored as the
middleware has made it, with its headers and its compression, so no rule is written twice. Each view is recorded.
"""

import io
import re
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest

from analytics.collecting.middleware import record_view
from docsite.site.for_programs.agent_files import wants_markdown
from docsite.site.navigation import list_paths

SECONDS = 10.0  # after which a page is rendered again: whether its project exists may have changed
MAX_RESPONSES = 512
_GZIP = re.compile(r"\bgzip\b")
_OF_A_BODY = (b"content-length", b"content-type", b"content-encoding")

Headers = list[tuple[bytes, bytes]]
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class _Response(NamedTuple):
    """A stored response, and when it is too old."""

    headers: Headers
    body: bytes
    until: float


class PageCache:
    """Passes requests to the handler of pages, unless it has the response."""

    def __init__(self, pages: Application) -> None:
        self.pages = pages
        self._paths = frozenset(list_paths())  # before requests come: files are not read in the event loop
        self._responses: OrderedDict[tuple[Any, ...], _Response] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["method"] != "GET" or scope["path"] not in self._paths:
            return await self.pages(scope, receive, send)
        request = ASGIRequest(scope, io.BytesIO())
        if settings.SESSION_COOKIE_NAME in request.COOKIES or b"%00" in scope["query_string"]:
            return await self.pages(scope, receive, send)
        accepts_gzip = bool(_GZIP.search(request.META.get("HTTP_ACCEPT_ENCODING", "")))
        host = request.META.get("HTTP_HOST", "")
        key = (scope["path"], scope.get("root_path"), scope["scheme"], host, wants_markdown(request), accepts_gzip)
        found = self._responses.get(key)
        known_tags = request.META.get("HTTP_IF_NONE_MATCH", "")
        if found is None or found.until < time.monotonic():
            return await self._render(key, known_tags, scope, receive, send)
        self._responses.move_to_end(key)
        await record_view(request)
        await _respond(found.headers, found.body, known_tags, send)

    async def _render(self, key: tuple[Any, ...], known_tags: str, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the handler respond, and store a response that every reader may get."""
        headers: Headers = []
        body = b""
        status = 0

        async def send_and_keep(message: Mapping[str, Any]) -> None:
            nonlocal status, headers, body
            if message["type"] == "http.response.start":
                status, headers = message["status"], list(message["headers"])
                if status == 200:  # it waits for the body, and may become a 304
                    return
            elif status == 200:
                body += message.get("body", b"")
                if not message.get("more_body"):
                    self._store(key, headers, body)
                    await _respond(headers, body, known_tags, send)
                return
            await send(message)

        await self.pages(scope, receive, send_and_keep)

    def _store(self, key: tuple[Any, ...], headers: Headers, body: bytes) -> None:
        if any(name.lower() == b"set-cookie" for name, _ in headers):
            return
        self._responses[key] = _Response(headers, body, time.monotonic() + SECONDS)
        while len(self._responses) > MAX_RESPONSES:
            self._responses.popitem(last=False)


async def _respond(headers: Headers, body: bytes, known_tags: str, send: Send) -> None:
    """Send a page with status 200, or 304 without a body to a client that has it: `known_tags` is `If-None-Match`."""
    tag = next((value.decode("latin-1") for name, value in headers if name.lower() == b"etag"), "")
    is_known = bool(tag) and (tag.removeprefix("W/") in known_tags or known_tags.strip() == "*")
    if is_known:
        headers = [pair for pair in headers if pair[0].lower() not in _OF_A_BODY]
    await send({"type": "http.response.start", "status": 304 if is_known else 200, "headers": headers})
    await send({"type": "http.response.body", "body": b"" if is_known else body})
