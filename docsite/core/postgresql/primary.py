"""Notice that another PostgreSQL server answers than before: it may lack rows that this process remembers.

After a failover the new primary may lack the last transactions of the old one, unless replication is synchronous.
Whoever remembers rows (numbers of pages, keys of views, an index) registers a function that forgets them. A server is
known by the time at which it started. So a restart or a restore counts as another server, too.
https://www.postgresql.org/docs/current/functions-info.html#FUNCTIONS-INFO-SESSION
"""

import logging
import threading
from collections.abc import Callable
from typing import Any

from django.db import DEFAULT_DB_ALIAS, OperationalError, connection
from django.db.backends.base.base import BaseDatabaseWrapper

from docsite.core import sql

logger = logging.getLogger(__name__)

_STARTED = "extract(epoch FROM pg_postmaster_start_time())::text"

_forget: list[Callable[[], object]] = []
_lock = threading.Lock()
_server = ""  # that of the rows that this process remembers


class AnotherServer(OperationalError):
    """Another server answers than the one that earlier answers came from. It is safe to begin anew."""


def forget_with(forget: Callable[[], object]) -> None:
    """Have a function called, in any thread, when another server answers.

    It must not wait for a lock that is held while a statement runs.
    """
    _forget.append(forget)


def check_server(expected: str = "") -> str:
    """Ask the database server when it started, and clear the caches if another server answered the last time.

    Returns the time as text; empty for SQLite. `expected` is what an earlier call returned. Raises AnotherServer if
    the server is not that one any more: what was read in between may come from either.
    """
    answering = _find_server(connection)
    check_answer(answering, expected)
    return answering


def server_column() -> str:
    """A column, in SQL, for `check_answer`: so a query that is needed anyway asks for the server, too."""
    return _STARTED if connection.vendor == "postgresql" else "''"


def check_answer(answering: str, expected: str = "") -> None:
    """As `check_server`, with the value of `server_column` in the answer to a query."""
    _notice(answering)
    if answering and expected not in ("", answering):
        with _lock:
            _forget_all()  # again: meanwhile something old may have been put back
        raise AnotherServer("another server of the database answers than before")


def remembered_server() -> str:
    """The server of the rows that this process remembers. Empty for SQLite, and before the first connection."""
    return _server


def look_at(connection: BaseDatabaseWrapper, **kwargs: Any) -> None:
    """Look at the server of a new connection, as a receiver of Django's signal."""
    _notice(_find_server(connection))


def _find_server(connection: Any) -> str:
    """The server behind a connection. Empty if that is no PostgreSQL, or another database."""
    if connection.vendor != "postgresql" or connection.alias != DEFAULT_DB_ALIAS:
        return ""
    return str(sql.fetch_value(f"SELECT {_STARTED}", None, connection))


def _notice(answering: str) -> None:
    global _server
    if answering in ("", _server):
        return
    with _lock:
        if _server not in ("", answering):
            logger.warning("The database was restarted, or another server answers. What was remembered is read anew.")
            _forget_all()
        _server = answering


def _forget_all() -> None:
    for forget in _forget:
        forget()
