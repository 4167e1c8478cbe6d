"""The start and the end of a serving process: background work is started, and waiting data is stored at the end.

Daphne calls `start` and `stop` (`docsite.server.daphne`). Other ASGI servers
announce start and end by the lifespan protocol, which `lifespan` speaks.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import Any

from analytics.collecting import writer
from analytics.counting import background
from analytics.feedback import store as feedback
from assistant.conversations import budget, chat_ids, retention, threads
from assistant.gaps import background as gaps
from assistant.question_groups import grouping
from assistant.sessions.start import drain
from assistant.support_requests import store as support_requests
from docsite.core import sweeper
from docsite.core.access import last_uses
from docsite.core.db import in_db
from docsite.core.delivery import background as deliveries
from docsite.core.delivery import events
from docsite.core.http import limit_use
from docsite.core.notifications import background as notifications
from docsite.server import memory
from docsite.server.sessions import sweep as sweep_sessions
from search.query_log import recording
from search.stored_sources import scheduler
from search.vectors import background as vectors

logger = logging.getLogger(__name__)

# Single views, visit histories and visitor secrets are swept once a day, by `analytics.counting.background`.
SWEEPS = (
    *(recording.sweep, retention.sweep, grouping.sweep, chat_ids.sweep, budget.sweep, feedback.sweep),
    *(support_requests.sweep, sweep_sessions, events.sweep, notifications.sweep),
)

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]


def start() -> None:
    """Start the background work. Blocks: it writes to the database."""
    threads.mark_orphans()
    background.start()
    sweeper.start(SWEEPS)
    memory.start()
    scheduler.start()
    vectors.start()
    gaps.start()
    deliveries.start()
    notifications.start()


async def no_requests() -> None:
    """Do nothing: for servers that call `stop` when no request is left."""


async def stop(end_requests: Callable[[], Awaitable[None]] = no_requests) -> None:
    """End the running work, then store the data that waits in memory. Never raises, since the process ends anyway.

    `end_requests` runs after the end of the answers and before anything is stored,
    so that the records of the last requests are stored, too.
    """
    await asyncio.gather(
        _attempt("end reading sources", in_db(scheduler.stop)()),
        _attempt("end making vectors", in_db(vectors.stop)()),
        _attempt("end grouping questions", in_db(gaps.stop)()),
        _attempt("end sending deliveries", in_db(deliveries.stop)()),
        _attempt("end looking for alerts", in_db(notifications.stop)()),
        _attempt("end the running answers", drain()),
    )
    await _attempt("end the last requests", end_requests())
    await _attempt("store the last answers", in_db(threads.flush)())
    await _attempt("store the last searches", in_db(recording.flush)())
    await _attempt("store the last views", in_db(writer.flush)())
    await _attempt("store the last uses of keys", in_db(last_uses.flush)())
    await _attempt("store the last uses of limits", in_db(limit_use.flush)())


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
            await in_db(start)()
        except Exception as failure:
            await send({"type": "lifespan.startup.failed", "message": str(failure)})
            raise
        await send({"type": "lifespan.startup.complete"})
