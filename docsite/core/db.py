"""Helpers for the database: use it from async code, read a snapshot, insert many rows quickly, list migrations."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import dataclass
from datetime import date, datetime
from functools import cache, cached_property, partial
from itertools import chain
from typing import Any, ParamSpec, TypeVar, cast

from django.conf import settings
from django.db import OperationalError, close_old_connections, connection
from django.db.backends.utils import CursorWrapper
from django.db.migrations.loader import MigrationLoader

from docsite.core import availability, context, request_times, sql

P = ParamSpec("P")
T = TypeVar("T")
Value = str | int | bool | bytes | date
Row = Sequence[Value]
Array = str | list[Any]  # for PostgreSQL

_SQLITE_VALUES = 900  # in one statement; old versions accept 999
_SQLITE_FEW = 8  # rows of a smaller statement, for what is left over
_MIN_SHARED_ROWS = 50  # fewer are inserted faster with all their values
_GROUP = "number_of_group"  # a column of our temporary tables; no other table has this name


@dataclass(frozen=True)
class Pool:
    """Threads for one kind of work, so that other kinds go on when it waits for a table or a slow report.

    `seconds` is the time that PostgreSQL has for an answer, as a multiple of `DATABASE_SECONDS`. A thread keeps one
    connection.
    """

    name: str
    threads: int | None = None  # None: a share of the connections; the rest is for background work and pages
    patience: int = 1

    @cached_property
    def executor(self) -> ThreadPoolExecutor:
        """Its threads."""
        size = self.threads or (max(1, (settings.ENV.database_connections - 10) // 3) if is_remote() else _FILE_THREADS)
        return ThreadPoolExecutor(size, thread_name_prefix=f"db_{self.name}")

    @property
    def seconds(self) -> float | None:
        """How long PostgreSQL may take. None for SQLite, which has a limit of its own and no network."""
        return float(settings.ENV.database_seconds) * self.patience if is_remote() else None

    def count_seconds_left(self) -> float | None:
        """The same, within the time of the running request, unless the work of this pool may take longer."""
        seconds, deadline = self.seconds, context.database_deadline.get()
        if seconds is None or deadline is None or self.patience > 1:
            return seconds
        return min(seconds, deadline - time.monotonic())


HEALTH = Pool("health", threads=2)
REQUESTS = Pool("requests")  # keys, limits, and all that is nothing of the following
SEARCHES = Pool("searches")
ANSWERS = Pool("answers")  # conversations and budgets
REPORTS = Pool("reports", threads=2, patience=12)
_FILE_THREADS = 4  # of a pool, with SQLite


@cache
def is_remote() -> bool:
    """Whether the database is a server, which may be out of reach."""
    return str(settings.DATABASES["default"]["ENGINE"]) == "docsite.core.postgresql"


def in_db(function: Callable[P, T], pool: Pool = REQUESTS) -> Callable[P, Awaitable[T]]:
    """Wrap a function that uses the ORM, so that it runs in a worker thread. Call it once for a group of queries.

    It does not use the threads of `sync_to_async`, whose overhead for a call is longer than many queries, and of
    which sockets would share one. Raises `OperationalError` when PostgreSQL does not answer in the time of the pool.
    """

    async def run(*args: P.args, **kwargs: P.kwargs) -> T:
        seconds = pool.count_seconds_left()
        if seconds is not None and seconds <= 0:
            raise OperationalError(context.NO_ANSWER)
        work = partial(function, *args, **kwargs)
        call = partial(_with_connections, work, seconds, pool, time.perf_counter())
        running = asyncio.get_running_loop().run_in_executor(pool.executor, copy_context().run, call)
        if seconds is None:
            return await running
        try:
            return await asyncio.wait_for(running, seconds)
        except TimeoutError:
            raise OperationalError(context.NO_ANSWER) from None

    return run


def _with_connections(call: Callable[[], T], seconds: float | None, pool: Pool, submitted_at: float) -> T:
    began = time.perf_counter()
    request_times.add("waiting", began - submitted_at)
    close_old_connections()  # broken or expired ones
    try:
        with context.measure_cpu_time(), context.limit_database_time(seconds):
            result = call()
        if not context.allows_stale.get():  # else it may have used no database
            availability.database.report_success()
        return result
    finally:
        if pool is SEARCHES:
            request_times.add("retrieval", time.perf_counter() - began)
        close_old_connections()


def has_row(query: str, *values: Value | datetime) -> bool:
    """Whether a query finds a row.

    For queries that run every second or for every question: the ORM takes ten times as long.
    """
    adapt = connection.ops.adapt_datetimefield_value
    return sql.fetch_one(query, [adapt(one) if isinstance(one, datetime) else one for one in values]) is not None


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


def insert(table: str, columns: Sequence[str], rows: Sequence[Row], on_conflict: str = "") -> int:
    """Insert many rows and return how many were written. `on_conflict` is SQL, such as `(id) DO NOTHING`;
    without it a conflict raises IntegrityError.

    Call it in a transaction, which must be rolled back when this raises. Each database gets its fastest way: PostgreSQL
    COPY, or arrays of whole columns where rows may conflict, SQLite prepared statements of many rows, between which
    other threads can run.
    """
    return insert_groups(table, (), columns, {(): rows}, on_conflict) if rows else 0


def insert_groups(
    table: str,
    shared: Sequence[str],
    columns: Sequence[str],
    groups: Mapping[tuple[Value, ...], Sequence[Row]],
    on_conflict: str = "",
) -> int:
    """Insert rows like `insert`, of which many have the same values in the columns `shared`.

    `groups` maps these values to the other values of the rows. To hand a value to SQLite takes longer than to store it,
    so a shared one is handed over once. Call it in a transaction, as `insert`.
    """
    into = f"{_list_names([table])} ({_list_names([*shared, *columns])})"
    every = ((*values, *row) for values, rows_of_group in groups.items() for row in rows_of_group)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            if not on_conflict:
                return _copy(cursor, into, every)
            names, types = [*shared, *columns], _column_types(table)
            arrays = [_to_array(column) for column in zip(*every, strict=True)]
            marks = ", ".join([f"%s::{types[name]}[]" for name in names])
            cursor.execute(f"INSERT INTO {into} SELECT * FROM unnest({marks}) ON CONFLICT {on_conflict}", arrays)
            return int(cursor.rowcount)
        on_conflict = on_conflict and f"ON CONFLICT {on_conflict}"
        # FAIL: with the default ABORT, SQLite would copy each page before, to be able to undo it.
        insert_into = f"INSERT OR FAIL INTO {into}"
        if not shared or sum(map(len, groups.values())) < max(_MIN_SHARED_ROWS, 2 * len(groups)):
            return _execute_with_rows(cursor, f"{insert_into} VALUES", list(every), on_conflict)
        with _temporary_table(cursor, shared, list(groups)) as shared_table:
            own_columns = ", ".join(f"own.column{number}" for number in range(1, len(columns) + 1))
            return _execute_with_rows(
                cursor,
                f"{insert_into} SELECT {_list_names(shared)}, {own_columns} FROM (VALUES",
                [(*row, number) for number, rows_of_group in enumerate(groups.values()) for row in rows_of_group],
                f") AS own CROSS JOIN {shared_table} WHERE {_GROUP} = own.column{len(columns) + 1} {on_conflict}",
            )


@contextmanager
def _temporary_table(cursor: CursorWrapper, columns: Sequence[str], rows: Sequence[Row]) -> Iterator[str]:
    """Yields the quoted name of a temporary table (SQLite) that holds these rows, numbered from 0."""
    name = f"temp.{_list_names(['shared ' + ','.join(columns)])}"
    cursor.execute(f"CREATE TABLE IF NOT EXISTS {name} ({_GROUP} INTEGER PRIMARY KEY, {_list_names(columns)})")
    cursor.execute(f"DELETE FROM {name}")  # of a failure that was not rolled back
    _execute_with_rows(cursor, f"INSERT INTO {name} VALUES", [(number, *row) for number, row in enumerate(rows)])
    yield name
    cursor.execute(f"DELETE FROM {name}")


def _execute_with_rows(cursor: CursorWrapper, before: str, rows: Sequence[Row], after: str = "") -> int:
    """Run an SQLite statement for all rows, many at a time: their marks stand between its two parts.

    Returns how many rows it wrote.
    """
    written = first = 0
    width = len(rows[0]) if rows else 1
    for size in (_SQLITE_VALUES // width, _SQLITE_FEW, 1):
        end = len(rows) - (len(rows) - first) % size
        if first < end:
            marks = ", ".join([f"({', '.join(['?'] * width)})"] * size)
            cursor.executemany(
                f"{before} {marks} {after}",
                [tuple(chain.from_iterable(rows[at : at + size])) for at in range(first, end, size)],
            )
            written += int(cursor.rowcount)
        first = end
    return written


def _copy(cursor: CursorWrapper, into: str, rows: Iterable[Row]) -> int:
    """Insert rows with PostgreSQL's COPY, which is faster than INSERT. Returns how many were inserted.

    Raises IntegrityError, and inserts none, if one of them exists already.
    """
    with connection.wrap_database_errors, cursor.copy(f"COPY {into} FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)
    return int(cursor.rowcount)


def is_one_of(column: str, numbers: Sequence[int]) -> tuple[str, list[Any]]:
    """A condition in SQL, and its values. PostgreSQL takes far longer to read a list of marks than one array."""
    if connection.vendor == "postgresql":
        return f"{column} = ANY(%s::bigint[])", [_to_array(numbers)]
    return f"{column} IN ({', '.join(['%s'] * len(numbers))})", list(numbers)


def _to_array(column: Sequence[Value]) -> Array:
    """An array for psycopg, which takes ten times as long for numbers or bytes as for their literal."""
    types = set(map(type, column))
    if types == {int}:
        return f"{{{','.join(map(str, column))}}}"
    if types == {bytes}:
        return "{" + ",".join([f'"\\\\x{value.hex()}"' for value in cast("Sequence[bytes]", column)]) + "}"
    return list(column)


def _list_names(names: Sequence[str]) -> str:
    return ", ".join(map(connection.ops.quote_name, names))


@cache
def _column_types(table: str) -> dict[str, str]:
    query = "SELECT attname, format_type(atttypid, NULL) FROM pg_attribute WHERE attrelid = %s::regclass "
    return dict(sql.fetch_all(f"{query} AND attnum > 0 AND NOT attisdropped", [connection.ops.quote_name(table)]))


def list_missing_migrations() -> list[tuple[str, str]]:
    """The migrations that the database lacks, as (app, name), sorted."""
    loader = MigrationLoader(connection)
    return sorted(set(loader.graph.nodes) - set(loader.applied_migrations))
