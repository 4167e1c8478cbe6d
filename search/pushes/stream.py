"""Runs a push in a process of its own, and passes its reports on while it works."""

import asyncio
import json
import logging
import sys
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import asdict
from typing import IO, Any

from django.conf import settings

from docsite.core import context
from docsite.core.access.uploads import MAX_UPLOADS
from docsite.core.db import REQUESTS, in_db
from docsite.core.http.errors import BadRequest, Unavailable
from search.models import Source
from search.pushes.run import Push
from search.stored_sources import queue
from search.stored_sources.worker import explain_end

logger = logging.getLogger(__name__)

KEEP_ALIVE_SECONDS = 10.0  # after which the last report is repeated, so that no proxy gives up
END_SECONDS = 10.0  # for a process that has to end
_LIMIT = 8 * 1024 * 1024  # bytes of a report

_tasks: set[asyncio.Task[None]] = set()  # each until its process has ended
_running: set[asyncio.Task[None]] = set()  # those that have no answer yet


class _Lost(dict[str, Any]):
    """The last report of a process that ended without one. `status` as `subprocess` has it."""

    def __init__(self, status: int) -> None:
        super().__init__(
            event="error", error=f"The process that read the push {explain_end(status)} Nothing has changed."
        )


async def start(push: Push, file: IO[bytes]) -> AsyncIterator[bytes]:
    """Start a push. Returns its reports as JSON lines; the last one is `end` or `error`.

    Raises BadRequest when the archive is refused before anything is done, and Unavailable when too many pushes run.
    A push is stopped when nobody reads its reports any more.
    """
    if len(_running) >= MAX_UPLOADS:  # the processes of clients that have left count, too
        raise Unavailable("Too many pushes are running. Try again shortly.", 30)
    reports: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    task = asyncio.create_task(_run(push, file, reports))
    for tasks in (_tasks, _running):
        tasks.add(task)
        task.add_done_callback(tasks.discard)
    try:
        first = await reports.get()
    except BaseException:
        task.cancel()
        raise
    if first["event"] == "error":
        _running.discard(task)
        if isinstance(first, _Lost):
            raise Unavailable(first["error"], 30)
        raise BadRequest(f"body: {first['error']}", sentence=first["error"])
    return _pass_on(first, reports, task)


async def _pass_on(
    report: dict[str, Any], reports: "asyncio.Queue[dict[str, Any]]", task: "asyncio.Task[None]"
) -> AsyncIterator[bytes]:
    try:
        while report["event"] not in ("end", "error"):
            yield f"{json.dumps(report)}\n".encode()
            with suppress(TimeoutError):
                report = await asyncio.wait_for(reports.get(), KEEP_ALIVE_SECONDS)
        _running.discard(task)
        yield f"{json.dumps(report)}\n".encode()
    finally:
        if task in _running:
            task.cancel()


async def _run(push: Push, file: IO[bytes], reports: "asyncio.Queue[dict[str, Any]]") -> None:
    """Run the process until it ends; a cancellation ends it at once. Its last report is followed by `_Lost`."""
    claimed: dict[str, Any] = {}
    lost = _Lost(1)
    process: asyncio.subprocess.Process | None = None
    try:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "search.pushes.worker", str(file.fileno())),
            cwd=settings.BASE_DIR,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            pass_fds=[file.fileno()],
            limit=_LIMIT,
        )
        assert process.stdin
        assert process.stdout
        process.stdin.write(f"{json.dumps(asdict(push))}\n".encode())
        async for line in process.stdout:
            report = json.loads(line)
            if report["event"] == "claimed":
                claimed = report
            else:
                reports.put_nowait(report)
        status = await process.wait()
        if status:
            logger.warning("The process of a push ended with status %s.", status)
            lost = _Lost(status)
            with context.limit_database_time(REQUESTS.seconds):  # anew: the push took its time
                await in_db(_fail)(claimed, push, lost["error"])
    finally:
        reports.put_nowait(lost)
        if process and process.returncode is None:
            await _end(process)


async def _end(process: asyncio.subprocess.Process) -> None:
    process.terminate()
    try:
        await asyncio.wait_for(process.wait(), END_SECONDS)
    except TimeoutError:
        process.kill()
        await process.wait()


def _fail(claimed: dict[str, Any], push: Push, error: str) -> None:
    """Release the source that a process had claimed before it ended without a result."""
    if claimed:
        source = Source(pk=claimed["source"], holder=claimed["holder"])
        if push.is_preview:
            queue.end_preview(source)
        else:
            queue.fail(source, error)
