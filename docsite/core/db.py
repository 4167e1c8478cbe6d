"""The one way from async code into the database, and reads that agree with each other."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from functools import cache, partial
from itertools import chain
from typing import ParamSpec, TypeVar

from django.db import close_old_connections, connection

P = ParamSpec("P")
T = TypeVar("T")
Value = str | int | bool | bytes

_SQLITE_VALUES = 900  # of one statement; old versions take 999


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


def insert(table: str, columns: Sequence[str], rows: Sequence[Sequence[Value]], on_conflict: str) -> int:
    """Insert many rows; `on_conflict` is SQL, such as `(id) DO NOTHING`. Returns how many were written.

    In a transaction, which is over when this raises. Each database's quickest way:
    PostgreSQL takes whole columns, SQLite some dozen rows with each run of a prepared
    statement, for which other threads need not wait.
    """
    quote = connection.ops.quote_name
    into = f"INTO {quote(table)} ({', '.join(map(quote, columns))})"
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            types = _column_types(table)
            arrays = ", ".join(f"%s::{types[column]}[]" for column in columns)
            cursor.execute(
                f"INSERT {into} SELECT * FROM unnest({arrays}) ON CONFLICT {on_conflict}",
                [list(column) for column in zip(*rows, strict=True)],
            )
            return int(cursor.rowcount)
        written = 0
        row = f"({', '.join(['%s'] * len(columns))})"
        most = _SQLITE_VALUES // len(columns)
        whole = len(rows) - len(rows) % most
        for some, size in ((rows[:whole], most), (rows[whole:], 1)):
            if some:
                # FAIL: with the usual ABORT, SQLite would copy each page first, to be able to undo the one statement.
                cursor.executemany(
                    f"INSERT OR FAIL {into} VALUES {', '.join([row] * size)} ON CONFLICT {on_conflict}",
                    [list(chain.from_iterable(some[at : at + size])) for at in range(0, len(some), size)],
                )
                written += int(cursor.rowcount)
        return written


@cache
def _column_types(table: str) -> dict[str, str]:
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT attname, format_type(atttypid, NULL) FROM pg_attribute "
            "WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped",
            [connection.ops.quote_name(table)],
        )
        return dict(cursor.fetchall())
