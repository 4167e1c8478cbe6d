"""The ASGI application: API paths through a short chain, pages through Django's, sockets to the consumers."""

import gc
import os
import re
from collections.abc import Awaitable, Callable
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "docsite.settings")

import django

django.setup()

from channels.routing import ProtocolTypeRouter, URLRouter
from django.conf import settings
from django.core.cache import close_caches
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.base import reset_urlconf
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, reset_queries
from django.urls import re_path
from django.utils.module_loading import import_string

from analytics.collecting import writer
from analytics.counting import background
from assistant.conversations.threads import mark_orphans
from assistant.sessions.start import drain
from docsite.core.db import in_db
from docsite.core.http import client_address
from search.query_log import recording, sweeper
from search.stored import scheduler

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]

_API = re.compile(r"/(v[0-9]+|discovery|health|openapi\.json|widget\.js|widget\.d\.ts|widget/[^/]+|views\.js)(/|$)")
_BARE = re.compile(r"/(v1/(assistant|search|page)|v2/assistant)/")


class Handler(ASGIHandler):
    """Django's handler with a middleware chain of its own."""

    def __init__(self, chain: list[str]) -> None:
        self.chain = chain
        super().__init__()

    def load_middleware(self, is_async: bool = False) -> None:
        """Load this handler's chain; Django reads it from the one setting, which is put back."""
        stock = settings.MIDDLEWARE
        settings.MIDDLEWARE = self.chain
        try:
            super().load_middleware(is_async=is_async)
        finally:
            settings.MIDDLEWARE = stock


class PageHandler(Handler):
    """For pages, whose views use the database in the request's own thread."""


class ApiHandler(Handler):
    """For API paths, whose database work has threads of its own (`docsite.core.db`)."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; Django would start a thread for each, and use it only to close the answer."""
        await self.handle(scope, receive, send)


# Django's synchronous receivers would give each open stream a thread that does nothing else.
for signal, receivers in (
    (request_started, (reset_queries, close_old_connections, reset_urlconf)),
    (request_finished, (close_old_connections, close_caches, reset_urlconf)),
):
    for receiver in receivers:
        if signal.disconnect(receiver):
            signal.connect(receiver, sender=PageHandler)


class Http:
    """Sends each request down its chain. Clients that configure only a host may leave `/discovery` out."""

    def __init__(self) -> None:
        self.api = ApiHandler(settings.API_MIDDLEWARE)
        self.pages = PageHandler(settings.MIDDLEWARE)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        scope = {**scope, "scheme": client_address.scheme(scope)}
        if _BARE.match(scope["path"]):
            scope = {**scope, "path": "/discovery" + scope["path"]}
        handler = self.api if _API.match(scope["path"]) else self.pages
        await handler(scope, receive, send)


async def lifespan(scope: Scope, receive: Receive, send: Send) -> None:
    """What servers other than Daphne announce: the end, at which running answers are ended and all is stored."""
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            await in_db(mark_orphans)()
            background.start()
            scheduler.start()
            sweeper.start()
        else:
            await in_db(scheduler.stop)()
            await drain()
            await in_db(recording.flush)()
            await in_db(writer.flush)()
        await send({"type": f"{message['type']}.complete"})
        if message["type"] == "lifespan.shutdown":
            return


async def refuse(scope: Scope, receive: Receive, send: Send) -> None:
    """Close a socket that nobody serves before it opens (403)."""
    await receive()
    await send({"type": "websocket.close"})


application = ProtocolTypeRouter(
    {
        "http": Http(),
        "lifespan": lifespan,
        "websocket": URLRouter(
            [
                re_path(
                    r"^(?:discovery/)?v1/assistant/(?P<domain>[^/]+)/socket$",
                    import_string("assistant.consumers.AssistantSocket").as_asgi(),
                ),
                re_path(r"", refuse),  # type: ignore[arg-type]  # an ASGI application
            ]
        ),
    }
)

# What is loaded stays. Without this, a full collection goes through all of it and stops every stream for its time.
gc.collect()
gc.freeze()
gc.set_threshold(10_000, 20, 50)
