"""Partitions of the raw views on PostgreSQL, so that removing old views gives their space back.

PostgreSQL keeps the space of deleted rows for new ones of the same table. Ids rise, so the views of a range of ids
become old at about the same time, and the partition of that range can be dropped. Partitions are made before their
ids are given. Rows of ids without one are stored in the default partition, as in an ordinary table.
https://www.postgresql.org/docs/current/ddl-partitioning.html

On SQLite the functions do nothing.
"""

import re
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from django.db import OperationalError, connection, transaction
from psycopg.errors import LockNotAvailable

TABLE = "analytics_pageview"
DEFAULT = "analytics_pageview_rest"
MIN_IDS = 2_000_000  # of a partition, and of the room ahead of the newest view; some 450 MB of rows and indexes
MAX_PARTITIONS = 16  # about so many: the more ids there are, the more of them a partition gets
_HOUR = 3_600_000_000  # microseconds
_LOCK = 0x5EA2  # of PostgreSQL's advisory locks
_LOCK_MILLISECONDS = 200  # others who read or store views wait behind one who waits for the table
_BOUNDS = re.compile(r"FOR VALUES FROM \((?:'?(\d+)'?|MINVALUE)\) TO \('?(\d+)'?\)")


class Partition(NamedTuple):
    """The table of the ids from `start` to before `end`."""

    name: str
    start: int
    end: int


class Removable(NamedTuple):
    """Which views of a project may go: they and their arrival are before an hour, and their ids are up to `newest`.

    Sample views stay.
    """

    project_id: int
    before_hour: int  # since 1970
    newest: int


def list_partitions() -> list[Partition]:
    """All but the default partition, by their ids. Empty on SQLite."""
    if connection.vendor != "postgresql":
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT relname, pg_get_expr(relpartbound, oid) FROM pg_class "
            "WHERE oid IN (SELECT inhrelid FROM pg_inherits WHERE inhparent = %s::regclass)",
            [TABLE],
        )
        found = [(name, _BOUNDS.fullmatch(bounds)) for name, bounds in cursor.fetchall()]
    ranges = [Partition(name, int(bounds[1] or 0), int(bounds[2])) for name, bounds in found if bounds]
    return sorted(ranges, key=lambda partition: partition.start)


def extend() -> int:
    """Make partitions for the ids to come, where there is room for fewer than `MIN_IDS`. Returns their number.

    If the table is in use, or another process does it, it makes none; the next call does.
    """

    def make() -> int:
        partitions, made = list_partitions(), 0
        while _lacks_room(partitions):
            partitions.append(_make(partitions))
            made += 1
        return made

    return _run_alone(make) if _lacks_room(list_partitions()) else 0


def drop_old(removable: Sequence[Removable]) -> int:
    """Drop the partitions all of whose views may go, also empty ones. Returns the number of views that are gone.

    Views of projects that are not named stay, and their partitions with them. If the table is in use, nothing is
    dropped; the next call does it.
    """
    partitions = list_partitions()
    old = [partition for partition in partitions if partition.end + MIN_IDS <= _newest_id()]
    return sum(_drop(partition, removable) for partition in old)


def _drop(partition: Partition, removable: Sequence[Removable]) -> int:
    # Read before the table is locked, since it may take seconds: so old a partition gets no new rows.
    if _has_rows_that_stay(partition, removable):
        return 0
    views = int(_fetch(f"SELECT count(*) FROM {partition.name}"))

    def drop() -> int:
        _execute(f"DROP TABLE IF EXISTS {partition.name}")  # another process may have done it
        return views

    return _run_alone(drop)


def _has_rows_that_stay(partition: Partition, removable: Sequence[Removable]) -> bool:
    columns = [list(column) for column in zip(*removable, strict=True)] or [[], [], []]
    return bool(
        _fetch(
            f"SELECT EXISTS (SELECT 1 FROM {partition.name} AS view "
            "LEFT JOIN unnest(%s::int8[], %s::int8[], %s::int8[]) AS may_go (project_id, before_hour, newest) "
            "ON may_go.project_id = view.project_id WHERE may_go.project_id IS NULL OR sample "
            f"OR at >= before_hour * {_HOUR} OR received >= before_hour OR id > newest)",
            *columns,
        )
    )


def _make(partitions: Sequence[Partition]) -> Partition:
    """Make the next partition. It begins after the rows that are in the default one."""
    start = partitions[-1].end
    if stray := _fetch(f"SELECT max(id) FROM {DEFAULT} WHERE id >= %s", start):
        start = max(stray, _newest_id()) + MIN_IDS
    size = max(MIN_IDS, (start - partitions[0].start) // MAX_PARTITIONS)
    made = Partition(f"{TABLE}_{start}", start, start + size)
    _execute(f"CREATE TABLE {made.name} PARTITION OF {TABLE} FOR VALUES FROM ({made.start}) TO ({made.end})")
    return made


def _lacks_room(partitions: Sequence[Partition]) -> bool:
    return bool(partitions) and partitions[-1].end - _newest_id() < MIN_IDS


def _newest_id() -> int:
    """The last id that was given."""
    return int(_fetch(f"SELECT last_value FROM {_fetch('SELECT pg_get_serial_sequence(%s, %s)', TABLE, 'id')}"))


def _run_alone(work: Callable[[], int]) -> int:
    """Do work in a transaction that has the table to itself. Returns 0 if others use it now, or do such work."""
    try:
        with transaction.atomic():
            _execute(f"SET LOCAL lock_timeout = {_LOCK_MILLISECONDS}")
            if not _fetch("SELECT pg_try_advisory_xact_lock(%s)", _LOCK):
                return 0
            _execute(f"LOCK TABLE ONLY {TABLE} IN ACCESS EXCLUSIVE MODE")
            return work()
    except OperationalError as failure:
        if isinstance(failure.__cause__, LockNotAvailable):
            return 0
        raise


def _fetch(query: str, *values: Any) -> Any:
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        return cursor.fetchone()[0]


def _execute(statement: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(statement)
