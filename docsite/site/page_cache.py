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

Headers = list[tuple[bytes, bytes]]
Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class _Response(NamedTuple):
    """A stored response, its ETag without the mark of a compressed one, and when it is too old."""

    headers: Headers
    body: bytes
    tag: str
    until: float


class PageCache:
    """Passes requests to the handler of pages, unless it has the response."""

    def __init__(self, pages: Application) -> None:
        self.pages = pages
        # Read before requests come: files are not read in the event loop. With DEBUG, pages may change.
        self._paths = frozenset() if settings.DEBUG else frozenset(list_paths())
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
        key = (scope["path"], scope["scheme"], host, wants_markdown(request), accepts_gzip)
        found = self._responses.get(key)
        if found is None or found.until < time.monotonic():
            return await self._render(key, scope, receive, send)
        self._responses.move_to_end(key)
        await record_view(request)
        is_known = found.tag and found.tag in request.META.get("HTTP_IF_NONE_MATCH", "")
        headers = [pair for pair in found.headers if not (is_known and pair[0].lower().startswith(b"content-"))]
        await send({"type": "http.response.start", "status": 304 if is_known else 200, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if is_known else found.body})

    async def _render(self, key: tuple[Any, ...], scope: Scope, receive: Receive, send: Send) -> None:
        """Let the handler respond, and store a response that every reader may get."""
        headers: Headers = []
        body = b""
        status = 0

        async def send_and_keep(message: Mapping[str, Any]) -> None:
            nonlocal status, headers, body
            if message["type"] == "http.response.start":
                status, headers = message["status"], list(message["headers"])
            else:
                body += message.get("body", b"")
                if status == 200 and not message.get("more_body"):
                    self._store(key, headers, body)
            await send(message)

        await self.pages(scope, receive, send_and_keep)

    def _store(self, key: tuple[Any, ...], headers: Headers, body: bytes) -> None:
        values = {name.lower(): value for name, value in headers}
        if b"set-cookie" in values:
            return
        tag = values.get(b"etag", b"").decode("latin-1").removeprefix("W/")
        self._responses[key] = _Response(headers, body, tag, time.monotonic() + SECONDS)
        while len(self._responses) > MAX_RESPONSES:
            self._responses.popitem(last=False)
