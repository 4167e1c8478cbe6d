"""Where the time of a request or an answer goes, for one line in the log about a slow one.

The parts are `waiting` (for a thread), `connection` (to PostgreSQL), `database` (statements), `retrieval` (searches,
with their statements), `model` (until the first token of each request to a model). Parts that run at
once add up to more than the whole. Tasks and threads of a request add to the same parts.
"""

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

logger = logging.getLogger(__name__)

Times = dict[str, float]  # seconds of each part

SLOW_REQUEST_SECONDS = 1.0  # to the first byte of the response
SLOW_ANSWER_SECONDS = 5.0  # from the question to the first words

Observer = Callable[[str, str, float, Times], None]  # takes subject, detail, seconds and the parts

observers: list[Observer] = []

_times: ContextVar[Times | None] = ContextVar("request_times", default=None)


def begin() -> None:
    """Measure from now on what runs in this context."""
    _times.set({})


def begin_if_new() -> None:
    """Begin to measure, unless the running request is measured already. On a socket, each question is a request."""
    if _times.get() is None:
        begin()


def add(part: str, seconds: float) -> None:
    """Add to a part of the running request, if there is one."""
    if (times := _times.get()) is not None:
        times[part] = times.get(part, 0.0) + seconds


@contextmanager
def measure(part: str) -> Iterator[None]:
    """Add the time of the block to a part."""
    began = time.perf_counter()
    try:
        yield
    finally:
        add(part, time.perf_counter() - began)


def measure_statement(execute: Callable[..., Any], *arguments: Any) -> Any:
    """Run a statement, for Django's `execute_wrappers`."""
    began = time.perf_counter()
    try:
        return execute(*arguments)
    finally:
        add("database", time.perf_counter() - began)


def report(subject: str, detail: str, seconds: float, limit: float) -> None:
    """Log a line with the parts if the time is over the limit, and tell the observers in any case.

    The subject is one of few words; the detail is a status or an id. Neither may tell what a reader sent.
    """
    times = _times.get() or {}
    for observe in observers:
        observe(subject, detail, seconds, times)
    if seconds < limit:
        return
    rounded = {part: round(spent, 3) for part, spent in {"total": seconds, **times}.items()}
    parts = ", ".join(f"{part} {spent:.2f} s" for part, spent in rounded.items())
    logger.info("Slow: %s %s (%s)", subject, detail, parts, extra={"seconds": rounded})
