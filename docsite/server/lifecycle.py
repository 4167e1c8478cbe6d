"""The start and the end of a process: background work is started, and waiting data is stored at the end.

Daphne calls `start` and `stop` (`docsite.server.daphne`). Other ASGI servers announce start and end by the
lifespan protocol, which `lifespan` speaks. `manage.py worker` has the background work alone.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from django.db import connection

from analytics.collecting import writer
from analytics.collecting.view_log import consumer, publisher
from analytics.counting import background
from analytics.feedback import store as feedback
from assistant.conversations import chat_ids, reservations, retention, threads
from assistant.gaps import background as gaps
from assistant.question_groups import grouping
from assistant.sessions import model_rests
from assistant.sessions.start import drain
from assistant.support_requests import store as support_requests
from docsite.core.access import last_uses
from docsite.core.db import REPORTS, in_db
from docsite.core.delivery import background as deliveries
from docsite.core.delivery import events
from docsite.core.http import limit_use
from docsite.core.notifications import background as notifications
from docsite.core.sweeper import Sweeper
from docsite.server import memory, telemetry
from docsite.server.health import readiness
from docsite.server.sessions import sweep as sweep_sessions
from search.query_log import recording
from search.stored_sources import scheduler
from search.vectors import background as vectors

logger = logging.getLogger(__name__)

# One process of all runs them. Single views, visit histories and visitor secrets: `analytics.counting.background`.
SWEEPS = (
    *(recording.sweep, retention.sweep, grouping.sweep, chat_ids.sweep, reservations.sweep, feedback.sweep),
    *(support_requests.sweep, sweep_sessions, events.sweep, notifications.sweep),
)

_sweeper = Sweeper(SWEEPS)

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]


def start(with_background: bool = True) -> None:
    """Start what runs beside the requests. Blocks: it writes to the database."""
    threads.mark_orphans()
    memory.start()
    telemetry.start()
    model_rests.share()
    if with_background:
        start_background()
    connection.close()  # this thread runs the event loop from now on, and needs none


def start_background() -> None:
    """Start the work that any process may do: counts, sweeps, sources, vectors, groups of questions, news.

    It also moves views from the view log to the database.
    """
    background.start()
    consumer.start()
    _sweeper.start()
    scheduler.start()
    vectors.start()
    gaps.start()
    deliveries.start()
    notifications.start()


async def stop_background() -> None:
    """End this work. What is not complete goes on later, in any process. Never raises."""
    await asyncio.gather(
        _attempt("stop reading the view log", asyncio.to_thread(consumer.stop)),
        _attempt("end reading sources", asyncio.to_thread(scheduler.stop)),
        _attempt("end making vectors", asyncio.to_thread(vectors.stop)),
        _attempt("end grouping questions", asyncio.to_thread(gaps.stop)),
        _attempt("end sending deliveries", asyncio.to_thread(deliveries.stop)),
        _attempt("end looking for alerts", asyncio.to_thread(notifications.stop)),
    )


async def no_requests() -> None:
    """Do nothing: for servers that call `stop` when no request is left."""


async def stop(end_requests: Callable[[], Awaitable[None]] = no_requests) -> None:
    """End the running work, then store the data that waits in memory. Never raises, since the process ends anyway.

    `end_requests` runs after the end of the answers and before anything is stored,
    so that the records of the last requests are stored, too.
    """
    readiness.start_draining()
    await asyncio.gather(stop_background(), _attempt("end the running answers", drain()))
    await _attempt("end the last requests", end_requests())
    await _attempt("store the last answers", in_db(threads.flush, REPORTS)())
    await _attempt("store the last searches", in_db(recording.flush, REPORTS)())
    await _attempt("put the last views into the view log", asyncio.to_thread(publisher.flush))
    await _attempt("store the last views", in_db(writer.flush, REPORTS)())
    await _attempt("store the last uses of keys", in_db(last_uses.flush, REPORTS)())
    await _attempt("store the last uses of limits", in_db(limit_use.flush, REPORTS)())
    await _attempt("send the last errors", asyncio.to_thread(telemetry.stop))


async def _attempt(purpose: str, step: Awaitable[object]) -> None:
    try:
        await step
    except Exception:  # the next step must run in any case
        logger.exception("The process could not %s before its end.", purpose)


async def lifespan(scope: Scope, receive: Receive, send: Send) -> None:
    """The lifespan protocol of ASGI (https://asgi.readthedocs.io/en/latest/specs/lifespan.html)."""
    while True:
        message = await receive()
        if message["type"] == "lifespan.shutdown":
            await stop()
            await send({"type": "lifespan.shutdown.complete"})
            return
        try:
            await in_db(start, REPORTS)()
        except Exception as failure:
            await send({"type": "lifespan.startup.failed", "message": str(failure)})
            raise
        await send({"type": "lifespan.startup.complete"})
