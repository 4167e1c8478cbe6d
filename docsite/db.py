"""The one way from async code into the database, and reads that agree with each other."""

from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import ParamSpec, TypeVar, cast

from channels.db import database_sync_to_async
from django.db import connection

P = ParamSpec("P")
T = TypeVar("T")


# Sockets run outside a request and would share one thread; here all share these, with their connections kept.
_threads = ThreadPoolExecutor(16, thread_name_prefix="db")


def in_db(function: Callable[P, T]) -> Callable[P, Awaitable[T]]:
    """Run a function that uses the ORM in a worker thread. One call per phase of a request, not per query."""
    in_thread = database_sync_to_async(function, thread_sensitive=False, executor=_threads)
    return cast(Callable[P, Awaitable[T]], in_thread)


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
