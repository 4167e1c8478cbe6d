"""The one way from async code into the database, and reads that agree with each other."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import close_old_connections, connection

P = ParamSpec("P")
T = TypeVar("T")


# Sockets run outside a request and would share one thread; here all share these, with their connections kept.
_threads = ThreadPoolExecutor(16, thread_name_prefix="db")


def in_db(function: Callable[P, T]) -> Callable[P, Awaitable[T]]:
    """Run a function that uses the ORM in a worker thread. One call per phase of a request, not per query.

    The threads are not those of `sync_to_async`, whose bookkeeping for each call
    takes longer than many a query.
    """

    def run(*args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        call = partial(_with_connections, partial(function, *args, **kwargs))
        return asyncio.get_running_loop().run_in_executor(_threads, copy_context().run, call)

    return run


def _with_connections(call: Callable[[], T]) -> T:
    close_old_connections()  # those that broke, or are too old
    try:
        return call()
    finally:
        close_old_connections()


@contextmanager
def snapshot() -> Iterator[None]:
    """Several queries that see the database at one instant, without holding up any writer.

    `transaction.atomic()` would not do: on SQLite ours take the write lock at
    once, and on PostgreSQL each statement would see what was committed before it.
    """
    if connection.in_atomic_block:
        yield
        return
    begin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY" if connection.vendor == "postgresql" else "BEGIN DEFERRED"
    with connection.cursor() as cursor:
        cursor.execute(begin)
        try:
            yield
        finally:
            cursor.execute("ROLLBACK")
