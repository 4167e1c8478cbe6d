"""Helpers for the database: use it from async code, read a snapshot, insert many rows quickly."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from datetime import date
from functools import cache, partial
from itertools import chain
from typing import ParamSpec, TypeVar

from django.db import close_old_connections, connection

from docsite.core import context

P = ParamSpec("P")
T = TypeVar("T")
Value = str | int | bool | bytes | date

_SQLITE_VALUES = 900  # in one statement; old versions accept 999


# All async code shares these threads, which keep their connections. With `sync_to_async`, sockets would share one.
_threads = ThreadPoolExecutor(16, thread_name_prefix="db")


def in_db(function: Callable[P, T]) -> Callable[P, Awaitable[T]]:
    """Wrap a function that uses the ORM, so that it runs in a worker thread. Call it once for a group of queries.

    It does not use the threads of `sync_to_async`, whose overhead for a call is
    longer than many queries.
    """

    def run(*args: P.args, **kwargs: P.kwargs) -> Awaitable[T]:
        call = partial(_with_connections, partial(function, *args, **kwargs))
        return asyncio.get_running_loop().run_in_executor(_threads, copy_context().run, call)

    return run


def _with_connections(call: Callable[[], T]) -> T:
    close_old_connections()  # broken or expired ones
    try:
        with context.measure_cpu_time():
            return call()
    finally:
        close_old_connections()


@contextmanager
def snapshot() -> Iterator[None]:
    """Let several queries see the same state of the database, without blocking writers.

    `transaction.atomic()` does not do this: on SQLite our transactions take the write
    lock at once, and on PostgreSQL each statement sees what was committed before it.
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
    """Insert many rows and return how many were written. `on_conflict` is SQL, such as `(id) DO NOTHING`.

    Call it in a transaction, which must be rolled back when this raises. Each database gets
    its fastest way: PostgreSQL arrays of whole columns, SQLite prepared statements
    of many rows, between which other threads can run.
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
        batch = _SQLITE_VALUES // len(columns)
        in_batches = len(rows) - len(rows) % batch
        for part, size in ((rows[:in_batches], batch), (rows[in_batches:], 1)):
            if part:
                # FAIL: with the default ABORT, SQLite would copy each page before, to be able to undo the statement.
                cursor.executemany(
                    f"INSERT OR FAIL {into} VALUES {', '.join([row] * size)} ON CONFLICT {on_conflict}",
                    [list(chain.from_iterable(part[at : at + size])) for at in range(0, len(part), size)],
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
