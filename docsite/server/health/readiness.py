"""The reasons why this process should get no requests: it ends, or something that it needs does not work."""

import asyncio
import shutil
import sqlite3
import threading
import uuid
from collections.abc import Awaitable, Callable
from functools import partial

from django.conf import settings
from django.core.cache import caches
from django.db import OperationalError, connection

from docsite.core import background, components
from docsite.core.context import limit_database_time
from docsite.core.db import HEALTH, in_db, is_remote
from docsite.core.logs import describe

CHECK_SECONDS = 1.5  # for each check; they run at once
BUSY_MILLISECONDS = 500  # that the check of a SQLite database waits for other writers
MIN_FREE_MIB = 100
_draining = threading.Event()
_running: "asyncio.Task[dict[str, str]] | None" = None


def start_draining() -> None:
    """Report from now on that this process ends."""
    _draining.set()


async def check() -> dict[str, str]:
    """`ok`, or a reason, for each thing that a process needs. Takes at most two seconds, whatever hangs."""
    global _running
    if _running is None or _running.done():  # callers at the same time share one check
        _running = asyncio.ensure_future(_check_all())
    return await asyncio.shield(_running)


async def _check_all() -> dict[str, str]:
    checks: dict[str, Callable[[], Awaitable[str | None]]] = {
        **{"process": _check_process, "database": in_db(_write, HEALTH), "limits": in_db(_count, HEALTH)},
        **{"threads": _check_threads, "disk": partial(asyncio.to_thread, _check_disk)},
    }
    of_components = {component.name: component.health for component in components.load() if component.health}
    checks |= {name: partial(asyncio.to_thread, health) for name, health in of_components.items()}
    results = await asyncio.gather(*(_in_time(check()) for check in checks.values()))
    return {name: result for name, result in zip(checks, results, strict=True) if result}


async def _in_time(check: Awaitable[str | None]) -> str | None:
    try:
        return await asyncio.wait_for(check, CHECK_SECONDS)
    except TimeoutError:
        return f"no answer within {CHECK_SECONDS:g} seconds"
    except Exception as failure:  # each store has its own
        return _describe(failure)


def _describe(failure: Exception) -> str:
    """The reason of a failure. Anybody may read it, so it names no host, port or user of a server."""
    return describe(failure) if isinstance(failure.__cause__, sqlite3.Error) else type(failure).__name__


def _write() -> str:
    """Write no row: that fails where the database is read-only. A SQLite database that is busy can be written."""
    try:
        with limit_database_time(CHECK_SECONDS), connection.cursor() as cursor:
            if not is_remote():
                cursor.execute(f"PRAGMA busy_timeout={BUSY_MILLISECONDS}")
            cursor.execute("UPDATE projects_counter SET value = value WHERE key = %s", ["no such key"])
    except OperationalError as failure:
        if is_remote() or "locked" not in str(failure):
            raise
    return "ok"


def _count() -> str:
    with limit_database_time(CHECK_SECONDS):
        caches["limits"].get(f"ready-{uuid.uuid4()}")
    return "ok"


async def _check_process() -> str:
    return "is shutting down" if _draining.is_set() else "ok"


async def _check_threads() -> str:
    missing = [thread.name for thread in background.list_running() if thread.has_ended]
    return f"has ended: {', '.join(missing)}" if missing else "ok"


def _check_disk() -> str:
    try:
        free = shutil.disk_usage(settings.DATA_DIR).free // 2**20
    except OSError as failure:
        return failure.strerror or type(failure).__name__
    return "ok" if free >= MIN_FREE_MIB else f"only {free} MiB are free below DATA_DIR"
