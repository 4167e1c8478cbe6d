"""Gives each request and socket an id, and chooses its handler by its path."""

import re
import time
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.utils.module_loading import import_string

from docsite.core import base_path, context, request_times
from docsite.core.access.api_middleware import as_api_error
from docsite.core.http import client_address
from docsite.core.http.errors import ApiError, TooLarge, is_body_too_large
from docsite.server import api_additions
from docsite.server.fast_path.handler import FastPath
from docsite.server.handlers import ApiHandler, PageHandler
from docsite.server.health import probes
from docsite.server.lifecycle import Receive, Scope, Send
from docsite.server.metrics import requests
from docsite.site.page_cache import PageCache

_API = re.compile(
    r"/(v[0-9]+|discovery|health|openapi\.json|(search|views|widget)\.js|widget(\.d\.ts|/[^/]+)"
    # Where agents look for a server of OAuth after a 401. There is none, which they must be told in JSON.
    r"|register|token|authorize|\.well-known/(oauth-[^/]+|openid-configuration))(/|$)"
)
_SOCKET = re.compile(r"/(?:discovery/)?v1/assistant/(?P<domain>[^/\0]+)/socket")
_WITHOUT_PREFIX = re.compile(r"/(v1/(assistant|search|page)|v2/assistant)/")


class Http:
    """Passes each request to its handler. `/discovery` may be missing, since some clients let users set only a host."""

    def __init__(self) -> None:
        self.api = FastPath(ApiHandler(settings.API_MIDDLEWARE))
        self.pages = PageCache(PageHandler(settings.MIDDLEWARE))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        base_path.mount(scope)
        identifier = context.new_request_id().encode()
        has_started = False
        began = time.perf_counter()
        request_times.begin()

        async def send_with_id(message: Mapping[str, Any]) -> None:
            nonlocal has_started
            if message["type"] == "http.response.start":
                has_started = True
                seconds = time.perf_counter() - began
                kind = requests.count(scope["path"], message["status"], seconds)
                request_times.report(kind, str(message["status"]), seconds, request_times.SLOW_REQUEST_SECONDS)
                message = {**message, "headers": [*message.get("headers", ()), (b"X-Request-Id", identifier)]}
            await send(message)

        if probes.answers(scope["path"]):
            await probes.respond(scope, send_with_id)
            return
        scope["scheme"] = client_address.scheme(scope)  # not in a copy: an open stream would hold both
        if _WITHOUT_PREFIX.match(scope["path"]):
            scope["path"] = "/discovery" + scope["path"]
        if _API.match(scope["path"]) or api_additions.find_name(scope["path"]):
            try:
                await self.api(scope, receive, send_with_id)
            except Exception as failure:  # outside the middleware: Daphne would answer with a page
                if has_started:
                    raise
                await _send_error(as_api_error(failure), send_with_id)
        elif is_body_too_large(scope):
            await _send_error(TooLarge(settings.DATA_UPLOAD_MAX_MEMORY_SIZE), send_with_id)
        else:
            await self.pages(scope, receive, send_with_id)


async def _send_error(error: ApiError, send: Send) -> None:
    response = error.response()
    headers = [(name.lower().encode(), value.encode()) for name, value in response.items()]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": response.content})


class Sockets:
    """Passes a WebSocket to the assistant. At any other path it is closed before it opens (403)."""

    def __init__(self) -> None:
        self.assistant = import_string("assistant.asking.consumers.AssistantSocket").as_asgi()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one socket."""
        base_path.mount(scope)
        context.request_id.set(scope.get("extensions", {}).get("docsite.request_id") or context.create_request_id())
        if match := _SOCKET.fullmatch(scope["path"]):
            await self.assistant({**scope, "url_route": {"kwargs": match.groupdict()}}, receive, send)
        else:
            await receive()
            await send({"type": "websocket.close"})
