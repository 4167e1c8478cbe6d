"""Partitions of the raw views on PostgreSQL, so that removing old views gives their space back.

PostgreSQL keeps the space of deleted rows for new ones of the same table. Ids rise, so the views of a range of ids
become old at about the same time, and the partition of that range can be dropped. Partitions are made before their
ids are given. Rows of ids without one are stored in the default partition, as in an ordinary table.
https://www.postgresql.org/docs/current/ddl-partitioning.html

On SQLite the functions do nothing.
"""

import logging
import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from django.db import OperationalError, ProgrammingError, connection, transaction
from django.db.backends.base.base import BaseDatabaseWrapper

from docsite.core import sql

logger = logging.getLogger(__name__)

TABLE = "analytics_pageview"
DEFAULT = "analytics_pageview_rest"
LOCK_NOT_AVAILABLE = "55P03"  # https://www.postgresql.org/docs/current/errcodes-appendix.html
MIN_IDS = 2_000_000  # of a partition, and of the room ahead of the newest view; some 450 MB of rows and indexes
MAX_PARTITIONS = 16  # about so many: the more ids there are, the more of them a partition gets
_HOUR = 3_600_000_000  # microseconds
_LOCK = 0x5EA2  # of PostgreSQL's advisory locks
_LOCK_MILLISECONDS = 200  # others who read or store views wait behind one who waits for the table
_BOUNDS = re.compile(r"FOR VALUES FROM \((?:'?(\d+)'?|MINVALUE)\) TO \('?(\d+)'?\)")

_refusal = ""  # the database's, that is in the log already


class Partition(NamedTuple):
    """The table of the ids from `start` to before `end`."""

    name: str
    start: int
    end: int


class Removable(NamedTuple):
    """Which views of a project may go: they and their arrival are before an hour, and their ids are up to `done_to`.

    Sample views stay.
    """

    project_id: int
    before_hour: int  # since 1970
    done_to: int


def list_partitions(database: BaseDatabaseWrapper = connection) -> list[Partition]:
    """The partitions of the table, lowest ids first, without the default one. An empty list on SQLite."""
    if database.vendor != "postgresql":
        return []
    children = "SELECT inhrelid FROM pg_inherits WHERE inhparent = %s::regclass"
    query = f"SELECT relname, pg_get_expr(relpartbound, oid) FROM pg_class WHERE oid IN ({children})"
    found = [(name, _BOUNDS.fullmatch(bounds)) for name, bounds in sql.fetch_all(query, [TABLE], database)]
    ranges = [Partition(name, int(bounds[1] or 0), int(bounds[2])) for name, bounds in found if bounds]
    return sorted(ranges, key=lambda partition: partition.start)


def extend(database: BaseDatabaseWrapper = connection) -> int:
    """Make more partitions if those that exist have room for fewer than `MIN_IDS` further views.

    Returns how many it made.

    If the table is in use, or another process does it, it makes none; the next call does. If the user of the database
    may not do it, the log says so once, and views go to the default partition.
    """

    def make() -> int:
        partitions, made = list_partitions(database), 0
        while _lacks_room(database, partitions):
            partitions.append(_make(database, partitions))
            made += 1
        return made

    global _refusal
    try:
        return _run_alone(database, make) if _lacks_room(database, list_partitions(database)) else 0
    except ProgrammingError as failure:
        if str(failure) != _refusal:
            _refusal = str(failure)
            logger.warning("Views go to the default partition, since no other can be made: %s", _refusal.strip())
        return 0


def list_old() -> list[Partition]:
    """The partitions that get no new views, since their ids were given long ago."""
    if not (partitions := list_partitions()):  # as with SQLite
        return []
    newest = _newest_id(connection)
    return [partition for partition in partitions if partition.end + MIN_IDS <= newest]


def drop(partition: Partition, removable: Sequence[Removable]) -> int:
    """Drop an old partition if all its views may go, or it has none. Returns the number of views that are gone.

    Views of projects that are not named stay, and their partition with them. If the table is in use, nothing is
    dropped; the next call does it.
    """
    # Read before the table is locked, since it may take seconds.
    if _has_rows_that_stay(partition, removable):
        return 0
    views = int(sql.fetch_value(f"SELECT count(*) FROM {partition.name}"))

    def drop() -> int:
        sql.execute(f"DROP TABLE IF EXISTS {partition.name}")  # another process may have done it
        return views

    return _run_alone(connection, drop)


def _has_rows_that_stay(partition: Partition, removable: Sequence[Removable]) -> bool:
    columns = [list(column) for column in zip(*removable, strict=True)] or [[], [], []]
    return bool(
        sql.fetch_value(
            f"SELECT EXISTS (SELECT 1 FROM {partition.name} AS view "
            "LEFT JOIN unnest(%s::int8[], %s::int8[], %s::int8[]) AS may_go (project_id, before_hour, done_to) "
            "ON may_go.project_id = view.project_id WHERE may_go.project_id IS NULL OR sample "
            f"OR at >= before_hour * {_HOUR} OR received >= before_hour OR id > done_to)",
            columns,
        )
    )


def _make(database: BaseDatabaseWrapper, partitions: Sequence[Partition]) -> Partition:
    """Make the next partition. It begins after the rows that are in the default one."""
    start = partitions[-1].end
    if stray := sql.fetch_value(f"SELECT max(id) FROM {DEFAULT} WHERE id >= %s", [start], database):
        start = max(stray, _newest_id(database)) + MIN_IDS
    size = max(MIN_IDS, (start - partitions[0].start) // MAX_PARTITIONS)
    made = Partition(f"{TABLE}_{start}", start, start + size)
    part = f"PARTITION OF {TABLE} FOR VALUES FROM ({made.start}) TO ({made.end})"
    sql.execute(f"CREATE TABLE {made.name} {part}", database=database)
    return made


def _lacks_room(database: BaseDatabaseWrapper, partitions: Sequence[Partition]) -> bool:
    return bool(partitions) and partitions[-1].end - _newest_id(database) < MIN_IDS


def _newest_id(database: Any) -> int:
    """The last id that was given."""
    sequence = sql.fetch_value("SELECT pg_get_serial_sequence(%s, 'id')", [TABLE], database)
    return int(sql.fetch_value(f"SELECT last_value FROM {sequence}", database=database))


def _run_alone(database: Any, work: Callable[[], int]) -> int:
    """Do work in a transaction that has the table to itself. Returns 0 if others use it now, or do such work."""
    try:
        with transaction.atomic(using=database.alias):
            sql.execute(f"SET LOCAL lock_timeout = {_LOCK_MILLISECONDS}", database=database)
            if not sql.fetch_value("SELECT pg_try_advisory_xact_lock(%s)", [_LOCK], database):
                return 0
            sql.execute(f"LOCK TABLE ONLY {TABLE} IN ACCESS EXCLUSIVE MODE", database=database)
            return work()
    except OperationalError as failure:
        if getattr(failure.__cause__, "sqlstate", None) == LOCK_NOT_AVAILABLE:
            return 0
        raise
