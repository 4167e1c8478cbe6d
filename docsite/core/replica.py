"""Run reads on a replica that has replayed everything the primary had when the read began.

PostgreSQL's positions in its log (LSN) tell. What a replica cannot do, as it is behind or down or may not write, the
primary does.
"""

import threading
import time
from collections.abc import Callable
from functools import partial, wraps
from typing import ParamSpec, TypeVar

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, DatabaseError, InterfaceError, InternalError, OperationalError, connections

from docsite.core import availability, context
from docsite.core.postgresql.sqlstate import (
    QUERY_CANCELED,
    READ_ONLY_TRANSACTION,
    SERIALIZATION_FAILURE,
    TOO_MANY_CONNECTIONS,
    find_sqlstate,
)

P = ParamSpec("P")
T = TypeVar("T")

ALIAS = "replica"
CHECK_SECONDS = 0.5  # to ask it for its position
HISTORY_SECONDS = 5.0  # after which the histories of the two servers are compared again
WAIT_SECONDS, STEP_SECONDS = 0.02, 0.004  # for a replica that is a little behind
MIN_PAUSE_SECONDS, MAX_PAUSE_SECONDS = 5.0, 60.0  # after a failure; they double while it fails again


class NotAReplicaError(OperationalError):
    """The server of `DATABASE_REPLICA_URL` does not follow the primary."""


_lock = threading.Lock()
_probe = threading.Lock()  # of the thread that tries the replica after a pause
_pause_seconds = _paused_until = 0.0


def run_on_replica(call: Callable[[], T]) -> T:
    """Run a call that only reads: on the replica if that is as new as the primary. If it fails there, on the primary.

    On the replica, Django's default connection of this thread is that of the replica.
    """
    if ALIAS not in settings.DATABASES:
        return call()
    primary = connections[DEFAULT_DB_ALIAS]
    if primary.alias == ALIAS or primary.in_atomic_block or not _is_usable():
        return call()
    connections[DEFAULT_DB_ALIAS] = connections[ALIAS]
    try:
        result = call()
        _report_success()
        return result
    except InternalError as failure:
        if find_sqlstate(failure) != READ_ONLY_TRANSACTION:
            raise
    except (InterfaceError, OperationalError) as failure:
        code, deadline = find_sqlstate(failure), context.database_deadline.get()
        if code in (QUERY_CANCELED, TOO_MANY_CONNECTIONS) or (deadline is not None and time.monotonic() > deadline):
            raise  # a slow statement is no fault of the replica, and the primary would have no time for it
        if code != SERIALIZATION_FAILURE:
            _pause(failure)
    finally:
        connections[DEFAULT_DB_ALIAS] = primary
    return call()


def use_replica(function: Callable[P, T]) -> Callable[P, T]:
    """Wrap a function, so that it runs on the replica. It must write nothing."""

    @wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> T:
        return run_on_replica(partial(function, *args, **kwargs))

    return run


def _is_usable() -> bool:
    """Whether the replica answers and has everything. After a pause one thread asks it; the others use the primary."""
    if time.monotonic() < _paused_until:
        return False
    if not _pause_seconds:
        return _is_caught_up()
    if not _probe.acquire(blocking=False):
        return False
    try:
        return _is_caught_up()
    finally:
        _probe.release()


def _is_caught_up() -> bool:
    """Whether readers of the replica see all that was committed on the primary before this call."""
    with connections[DEFAULT_DB_ALIAS].cursor() as cursor:
        cursor.execute("SELECT pg_current_wal_lsn()")
        position = cursor.fetchone()[0]
    try:
        with context.limit_database_time(CHECK_SECONDS), connections[ALIAS].cursor() as cursor:
            _check_history()
            until = time.monotonic() + WAIT_SECONDS
            while True:
                cursor.execute("SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= %s::pg_lsn", [position])
                if (is_caught_up := bool(cursor.fetchone()[0])) or time.monotonic() > until:
                    return is_caught_up
                time.sleep(STEP_SECONDS)
    except (InterfaceError, DatabaseError) as failure:  # also a right that the role lacks
        if find_sqlstate(failure) != TOO_MANY_CONNECTIONS:
            _pause(failure)
        return False


def _check_history() -> None:
    """Raise NotAReplicaError unless both servers have one history. Without that, positions mean nothing.

    After a failover or a restore, a server may have rows that the primary never had. The histories are compared
    for each pair of connections, and again after `HISTORY_SECONDS`: a pooler may have put another server behind a
    connection. A comparison for each read would double the cost of the check, since the servers read a file for it.
    Source: https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-CONTROLDATA
    """
    primary, replica = connections[DEFAULT_DB_ALIAS], connections[ALIAS]
    pair = (primary.connection, replica.connection)
    compared, until = getattr(replica, "compared", (None, 0.0))
    if compared == pair and time.monotonic() < until:
        return
    histories = []
    for server in (primary, replica):
        with server.cursor() as cursor:
            cursor.execute("SELECT system_identifier, timeline_id FROM pg_control_system(), pg_control_checkpoint()")
            histories.append(cursor.fetchone())
    if histories[0] != histories[1]:
        raise NotAReplicaError
    replica.compared = (pair, time.monotonic() + HISTORY_SECONDS)  # type: ignore[attr-defined]


def _pause(failure: Exception) -> None:
    global _pause_seconds, _paused_until
    availability.replica.report_failure(type(failure).__name__)
    with _lock:
        now = time.monotonic()
        if now >= _paused_until:  # of several threads that fail together, the first one counts
            _pause_seconds = min(max(2 * _pause_seconds, MIN_PAUSE_SECONDS), MAX_PAUSE_SECONDS)
            _paused_until = now + _pause_seconds


def _report_success() -> None:
    global _pause_seconds
    _pause_seconds = 0.0
    availability.replica.report_success()
