"""An ASGI application that serves the endpoints of `routes`, and leaves all other requests to another one."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import aclosing
from io import BytesIO
from typing import cast

from django.conf import settings
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.urls import ResolverMatch
from django.utils.log import log_response

from docsite.core.access.api_middleware import ApiMiddleware
from docsite.core.context import limit_database_time
from docsite.core.db import REQUESTS
from docsite.core.http.streams import PieceResponse
from docsite.server.fast_path.routes import build_routes, match_route
from docsite.server.lifecycle import Receive, Scope, Send

Application = Callable[[Scope, Receive, Send], Awaitable[None]]


class FastPath:
    """Serves POST requests without a query string to the paths of `routes`. `other` serves the rest."""

    def __init__(self, other: Application) -> None:
        self.other = other
        self.routes = [(route, ApiMiddleware(route.run)) for route in build_routes()]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        if scope["method"] == "POST" and not scope["query_string"] and not scope.get("root_path"):
            for route, respond in self.routes:
                if match := match_route(route, scope["path"]):
                    with limit_database_time(REQUESTS.seconds):
                        await _serve(respond, match, scope, receive, send)
                    return
        await self.other(scope, receive, send)


async def _serve(respond: ApiMiddleware, match: ResolverMatch, scope: Scope, receive: Receive, send: Send) -> None:
    body = await _receive_body(receive)
    if body is None:
        return
    request = ASGIRequest(scope, BytesIO(body))
    request.resolver_match = match
    del body
    async with _Disconnection(receive):
        response = await respond(request)
        if response.status_code >= 500:  # the same line as Django's, with the same filters
            log_response(
                "%s: %s", response.reason_phrase, request.path, response=cast(HttpResponse, response), request=request
            )
        pieces = response.pieces if isinstance(response, PieceResponse) else None
        await _send_beginning(response, send)
        del request, response  # a stream runs on for long
        if pieces:
            await _send_pieces(pieces, send)


async def _receive_body(receive: Receive) -> bytes | None:
    """The body, or a beginning of it that is over the limit of all bodies; None if the client has left."""
    pieces, size = [], 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            return None
        piece = message.get("body", b"")
        if size <= settings.DATA_UPLOAD_MAX_MEMORY_SIZE:
            pieces.append(piece)
            size += len(piece)
        if not message.get("more_body"):
            return pieces[0] if len(pieces) == 1 else b"".join(pieces)


class _Disconnection:
    """Ends the block, without an error, when the client leaves."""

    def __init__(self, receive: Receive) -> None:
        self._leaving = asyncio.ensure_future(receive())
        self._task = asyncio.current_task()
        self._has_ended = False

    async def __aenter__(self) -> None:
        self._leaving.add_done_callback(self._cancel)

    async def __aexit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        self._has_ended = True
        has_left = self._leaving.done()
        self._leaving.cancel()
        if kind is asyncio.CancelledError and has_left and self._task:
            self._task.uncancel()
            return True
        return False

    def _cancel(self, leaving: "asyncio.Future[object]") -> None:
        if self._task and not self._has_ended:
            self._task.cancel()


async def _send_beginning(response: HttpResponseBase, send: Send) -> None:
    """Send the head of a response, and its body unless that comes in pieces."""
    headers = [(name.encode("ascii"), value.encode("latin-1")) for name, value in response.items()]
    await send({"type": "http.response.start", "status": response.status_code, "headers": headers})
    if not isinstance(response, PieceResponse):
        await send({"type": "http.response.body", "body": cast(HttpResponse, response).content})


async def _send_pieces(pieces: AsyncIterator[bytes], send: Send) -> None:
    async with aclosing(cast(AsyncGenerator[bytes, None], pieces)):
        async for piece in pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
    await send({"type": "http.response.body"})
