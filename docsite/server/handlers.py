"""Django's request handler, for pages with all of Django's middleware and for API paths with a short chain."""

from typing import Any

from django.conf import settings
from django.core.cache import close_caches
from django.core.handlers.asgi import ASGIHandler
from django.core.handlers.base import reset_urlconf
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connections, reset_queries

from docsite.core import context
from docsite.core.db import REPORTS, REQUESTS
from docsite.server.lifecycle import Receive, Scope, Send


class Handler(ASGIHandler):
    """Django's handler with a middleware chain of its own."""

    def __init__(self, middleware: list[str]) -> None:
        self.middleware = middleware
        super().__init__()

    def load_middleware(self, is_async: bool = False) -> None:
        """Load this handler's middleware. Django reads it from a setting, which is changed only for this call."""
        default = settings.MIDDLEWARE
        settings.MIDDLEWARE = self.middleware
        try:
            super().load_middleware(is_async=is_async)
        finally:
            settings.MIDDLEWARE = default


class PageHandler(Handler):
    """For pages, whose views use the database in the thread of the request."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. The admin has reports, for which the database may take longer, and deletes projects."""
        seconds = REQUESTS.seconds
        if scope["path"].startswith("/admin/"):
            seconds = REPORTS.seconds if scope["method"] in ("GET", "HEAD") else None
        if scope.get("root_path"):  # Django expects it in the path
            scope = {**scope, "path": scope["root_path"] + scope["path"]}
        with context.limit_database_time(seconds):
            await super().__call__(scope, receive, send)


class ApiHandler(Handler):
    """For API paths, whose views use the database in threads of their own (`docsite.core.db`)."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request. Django would start a thread for each request, just to close the response."""
        with context.limit_database_time(REQUESTS.seconds):
            await self.handle(scope, receive, send)


def limit_signals_to_pages() -> None:
    """Run Django's synchronous signal receivers for pages only: otherwise each open stream would need a thread."""
    signals: list[tuple[Any, tuple[Any, ...]]] = [
        (request_started, (reset_queries, close_old_connections, reset_urlconf)),
        (request_finished, (close_old_connections, close_caches, reset_urlconf)),
    ]
    for signal, receivers in signals:
        for receiver in receivers:
            if signal.disconnect(receiver):
                signal.connect(receiver, sender=PageHandler)
    request_finished.connect(_close_connections, sender=PageHandler)


def _close_connections(**kwargs: Any) -> None:
    """Give the connection of a page back. Its thread ends, and the garbage collector may come late."""
    connections.close_all()
