"""Notice that another PostgreSQL server answers than before: it may lack what this process remembers.

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
from django.db.backends.signals import connection_created

logger = logging.getLogger(__name__)

_forget: list[Callable[[], None]] = []
_lock = threading.Lock()
_server = ""  # that of the rows that this process remembers


def forget_with(forget: Callable[[], None]) -> None:
    """Have a function called, in any thread, when another server answers."""
    _forget.append(forget)


def identify_server() -> str:
    """The server of the rows that this process remembers. Empty for SQLite, whose file stays what it is.

    Call it before you use what is remembered. Then call `check_server` with it in the transaction that relies on that.
    """
    connection.ensure_connection()
    return _server


def check_server(expected: str = "") -> None:
    """Forget what is remembered if another server answers now.

    Raises OperationalError if what was remembered is of another server than `expected`.
    """
    if connection.vendor == "postgresql" and connection.alias == DEFAULT_DB_ALIAS:
        _compare(connection)
        if expected not in ("", _server):
            raise OperationalError("another server of the database answers than before")


def watch_connections() -> None:
    """Look at the server of each new connection."""
    connection_created.connect(_see_new_connection)


def _see_new_connection(connection: BaseDatabaseWrapper, **kwargs: Any) -> None:
    if connection.vendor == "postgresql" and connection.alias == DEFAULT_DB_ALIAS:
        _compare(connection)


def _compare(connection: Any) -> None:
    global _server
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_postmaster_start_time()::text")
        (answering,) = cursor.fetchone()
    if answering == _server:
        return
    with _lock:
        if _server not in ("", answering):
            logger.warning("Another server of the database answers than before. What was remembered is read again.")
            for forget in _forget:
                forget()
        _server = answering  # last: whoever sees it uses nothing that was remembered before
