"""The socket of the page "Limits and health": it sends the facts as HTML when they have changed.

Only pages of this service may open it, for staff of the project's organization. It checks that again before
each update, so it ends with the log-in and with the membership.
"""

import asyncio
import logging
import time
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from channels.generic.websocket import AsyncWebsocketConsumer
from django.conf import settings
from django.contrib.auth import get_user
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, parse_cookie

from docsite.core.db import REPORTS, in_db
from docsite.core.http import open_sockets
from docsite.core.tenants.models import Project
from docsite.core.tenants.staff import project_of
from docsite.core.workspace.health.page import render_facts

logger = logging.getLogger(__name__)

UPDATE_SECONDS = 2.0
LOGGED_OUT, FAILED = 4001, 1011  # close codes


@dataclass
class _Facts:
    """The facts of a project as they were last read. The sockets of a process share them."""

    html: str = ""
    read_at: float = float("-inf")  # on the clock of `time.monotonic`
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    watchers: int = 0


_facts: dict[int, _Facts] = {}  # of projects that somebody watches


class HealthSocket(AsyncWebsocketConsumer):  # type: ignore[misc]  # Channels has no types
    """The connection of one open page."""

    updating: asyncio.Task[None] | None = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Serve one connection. It counts for its address, like those of readers."""
        _, network = open_sockets.client_network(scope)
        with open_sockets.count_socket(network) as self.has_too_many_sockets:
            await super().__call__(scope, receive, send)

    async def connect(self) -> None:
        """Accept staff of the organization. Others are refused before the socket opens (403)."""
        is_own_page = open_sockets.header(self.scope, b"origin").lower() == open_sockets.own_origin(self.scope)
        if self.has_too_many_sockets or not is_own_page or not open_sockets.has_valid_host(self.scope):
            await self.close()
            return
        project = await in_db(self._find_project)()
        if project is None:
            await self.close()
            return
        await self.accept()
        self.updating = asyncio.create_task(self._update(project))

    async def disconnect(self, code: int) -> None:
        """Stop the updates."""
        if self.updating:
            self.updating.cancel()

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Ignore messages: pages send none."""

    async def _update(self, project: Project) -> None:
        """Send the facts whenever they have changed, until the user may no longer see them."""
        facts = _facts.setdefault(project.pk, _Facts())
        facts.watchers += 1
        sent = ""
        try:
            while True:
                html = await _read(facts, project)
                if html != sent:
                    await self.send(text_data=html)
                    sent = html
                await asyncio.sleep(UPDATE_SECONDS)
                if await in_db(self._find_project)() is None:
                    await self.close(LOGGED_OUT)
                    return
        except Exception:  # the boundary of this task, such as a database that cannot be reached
            logger.exception("The facts of project %s could not be sent.", project.domain)
            await self.close(FAILED)
        finally:
            facts.watchers -= 1
            if not facts.watchers:
                del _facts[project.pk]

    def _find_project(self) -> Project | None:
        """The project of the address, if the session of this socket may see it now."""
        request = HttpRequest()
        cookies = parse_cookie(open_sockets.header(self.scope, b"cookie"))
        store = import_module(settings.SESSION_ENGINE).SessionStore
        request.session = store(cookies.get(settings.SESSION_COOKIE_NAME))
        request.user = get_user(request)
        try:
            return project_of(request, self.scope["url_route"]["kwargs"]["domain"], "workspace_limits")
        except (PermissionDenied, Http404):
            return None


async def _read(facts: _Facts, project: Project) -> str:
    """Read the facts, unless another socket of this process has read them a moment ago."""
    async with facts.lock:
        if time.monotonic() - facts.read_at >= UPDATE_SECONDS:
            facts.html = await in_db(render_facts, REPORTS)(project)
            facts.read_at = time.monotonic()
        return facts.html
