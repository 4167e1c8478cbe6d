"""Record views of the pages that this service renders, also by agents and of Markdown."""

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable

from asgiref.sync import markcoroutinefunction
from django.conf import settings
from django.db import DatabaseError
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import async_only_middleware

from analytics.collecting import recording, signatures
from analytics.collecting.requests import find_skip_reason, observe
from docsite.core.access.authentication import CACHE_SECONDS, allow_stale, find_cached_project, project_by_domain
from docsite.core.db import in_db

logger = logging.getLogger(__name__)

QUEUE_SECONDS = 0.5  # that a page waits until its view is queued: longer only if the database does not answer
MAX_WAITING = 1_000  # views that are not queued yet; further ones are lost
_PAGE = "pages:page"
_TYPES = ("text/html", "text/markdown", "text/plain")
_tasks: "set[asyncio.Task[None]]" = set()  # that queue views
_no_project_until = 0.0  # monotonic time; until then the site is taken to have no project


@async_only_middleware
class RecordViews:
    """Records each documentation page that is answered with 200, except for staff."""

    def __init__(self, get_response: Callable[[HttpRequest], Awaitable[HttpResponseBase]]) -> None:
        self.get_response = get_response
        markcoroutinefunction(self)

    async def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Answer, and record the view. The reader does not wait for the commit; a failure does not change the page."""
        response = await self.get_response(request)
        if self._is_page(request, response):
            await record_view(request)
        return response

    @staticmethod
    def _is_page(request: HttpRequest, response: HttpResponseBase) -> bool:
        match = request.resolver_match
        return (
            request.method == "GET"
            and response.status_code == 200
            and match is not None
            and match.view_name == _PAGE
            and response.headers.get("Content-Type", "").startswith(_TYPES)
        )


async def record_view(request: HttpRequest) -> None:
    """Record the view of a page of this service, unless it was fetched in advance, by staff, or by nobody known."""
    if find_skip_reason(request) or _try_send(request) or len(_tasks) >= MAX_WAITING:
        return
    task = asyncio.create_task(_record(request))
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
    is_signed = signatures.read(request) is not None  # its check may wait for the site of the client
    await asyncio.wait([task], timeout=0 if is_signed else QUEUE_SECONDS)


async def _record(request: HttpRequest) -> None:
    try:
        await in_db(_send)(request)
    except DatabaseError:
        logger.exception("A page view could not be stored.")


def _try_send(request: HttpRequest) -> bool:
    """Queue the view without the database, as for pages of the cache. False if the database is needed.

    True also if the site has no project, or after an unforeseen error: the page is sent all the same.
    """
    if hasattr(request, "user"):  # it came through the middleware: whether this is staff, only the database knows
        return False
    try:
        project = find_cached_project(settings.ENV.site_domain)
        if project is None:
            return time.monotonic() < _no_project_until
        seen = _observe(request)
        return bool(recording.find_left_out(project, seen)) or recording.try_send(project, seen) is not None
    except Exception:
        logger.exception("A page view could not be stored.")
        return True


def _send(request: HttpRequest) -> None:
    global _no_project_until
    if getattr(request, "user", None) and request.user.is_staff:
        return
    allow_stale(True)
    if project := project_by_domain(settings.ENV.site_domain):
        recording.send(project, [_observe(request)])
    else:
        _no_project_until = time.monotonic() + CACHE_SECONDS


def _observe(request: HttpRequest) -> recording.Observation:
    referrer = request.headers.get("Referer", "")
    address = f"{request.path_info}?{request.META.get('QUERY_STRING', '')}"
    return observe(request, uuid.uuid4().hex, address, referrer)
