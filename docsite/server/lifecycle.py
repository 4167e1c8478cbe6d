"""The start and the end of a process: background work is started, and waiting data is stored at the end.

Daphne calls `start` and `stop` (`docsite.server.daphne`). Other ASGI servers announce start and end by the
lifespan protocol, which `lifespan` speaks. `manage.py worker` has the background work alone.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any

from django.db import connection

from docsite.core import components
from docsite.core.background import BackgroundThread
from docsite.core.db import REPORTS, in_db
from docsite.core.sweeper import Sweeper
from docsite.server.health import readiness

logger = logging.getLogger(__name__)

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]


def start(with_background: bool = True) -> None:
    """Start what runs beside the requests. Blocks: it writes to the database."""
    for component in components.load():
        if component.recover:
            component.recover()
    start_components()
    if with_background:
        start_background()
    connection.close()  # this thread runs the event loop from now on, and needs none


def start_components() -> None:
    """Start what each process has, whether it answers requests or not."""
    for component in components.load():
        if component.start:
            component.start()


def start_background() -> None:
    """Start the work that any process may do, such as counting views, reading sources and sending deliveries."""
    for thread in _list_threads():
        thread.start()


async def stop_background() -> None:
    """End this work. What is not complete goes on later, in any process. Never raises."""
    threads = [thread for thread in _list_threads() if not thread.may_be_cut]
    await asyncio.gather(*(_attempt(f"stop “{thread.name}”", asyncio.to_thread(thread.stop)) for thread in threads))


def list_sweeps() -> list[components.Step]:
    """What deletes data that is stored for a limited time. One process of all runs it once an hour."""
    return [component.sweep for component in components.load() if component.sweep]


@cache
def _list_threads() -> tuple[BackgroundThread, ...]:
    return (Sweeper(list_sweeps()), *(thread for component in components.load() for thread in component.threads))


async def stop(end_requests: Callable[[], Awaitable[None]] | None = None) -> None:
    """End the process in order: first the running answers end, then what is only in memory is stored. Never raises.

    `end_requests` is for servers with requests that still run. It runs after the end of the answers and before anything
    is stored, so that the records of the last requests are stored, too.
    """
    readiness.start_draining()
    drains = [_attempt(f"end the {one.name}", one.drain()) for one in components.load() if one.drain]
    await asyncio.gather(stop_background(), *drains)
    if end_requests:
        await _attempt("end the last requests", end_requests())
    for component in reversed(components.load()):
        if component.flush:
            await _attempt(f"store the last {component.name}", in_db(component.flush, REPORTS)())


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
