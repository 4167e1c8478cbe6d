"""Django's backend for PostgreSQL, which neither waits without end nor opens connections without end.

The limits of time are kept here and not by `statement_timeout`: a server that hangs cannot keep its own,
and a pooler in transaction mode would hand the setting on to others.
"""

import select
import threading
import time
import weakref
from collections import defaultdict
from collections.abc import Generator
from contextlib import AbstractContextManager, suppress
from typing import Any

import psycopg
from django.conf import settings
from django.db.backends.postgresql import base
from django.db.backends.postgresql.client import DatabaseClient
from django.utils.asyncio import async_unsafe
from psycopg import IsolationLevel, OperationalError
from psycopg.errors import QueryCanceled, ReadOnlySqlTransaction, TooManyConnections
from psycopg.pq import TransactionStatus

from docsite.core import context, request_times

CHECK_SECONDS = 1.5  # at most, for the first statement on a connection that was not used for a while
FRESH_SECONDS = 1.0  # after an answer: so long the next piece of work begins without a statement that only checks
MIN_CONNECT_SECONDS = 0.25  # that must be left to try it
CONNECT_SECONDS = 3  # the least that libpq takes is 2
WAIT_SECONDS = 4.0  # for a connection, when all are in use here or at the server
RETRY_SECONDS = 0.1
# What tells whether a connection still leads to the kind of server that `target_session_attrs` names, and the answer.
KIND_CHECKS = {
    "read-write": ("SHOW transaction_read_only", "off"),
    "primary": ("SELECT pg_is_in_recovery()::text", "false"),
}
FAILED_AT_ONCE = ("too many", "remaining connection slots", "no more connections")  # PostgreSQL's and PgBouncer's words

# For a network that drops packets: the kernel then closes a connection on which nothing is acknowledged.
OPTIONS = {
    "connect_timeout": CONNECT_SECONDS,
    "tcp_user_timeout": 10_000,  # milliseconds
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
}

_free: defaultdict[str, threading.BoundedSemaphore] = defaultdict(  # by alias
    lambda: threading.BoundedSemaphore(settings.ENV.database_connections)
)
_last_server: dict[str, tuple[str, str]] = {}  # host and port of the latest connection, by alias


class Connection(psycopg.Connection[Any]):
    """A connection on which a statement may take as long as the context allows."""

    answered_at = 0.0  # as time.monotonic()

    def wait(self, gen: Any, *options: Any, **named: Any) -> Any:
        """Run a statement. Closes the connection and raises `OperationalError` when its time is over."""
        until = context.database_deadline.get()
        try:
            answer = super().wait(gen if until is None else self._limit(gen, until), *options, **named)
            self.answered_at = time.monotonic()
            return answer
        except ReadOnlySqlTransaction as failure:  # an InternalError
            raise OperationalError(f"the server is no primary any more: {failure}") from None

    def _limit(self, statement: Any, until: float) -> Generator[Any, Any, Any]:
        try:
            wanted = next(statement)
            while True:
                ready = yield wanted
                if not ready and time.monotonic() > until:
                    self._end_statement()
                    raise QueryCanceled(context.NO_ANSWER)
                wanted = statement.send(ready)
        except StopIteration as end:
            return end.value

    def _end_statement(self) -> None:
        """Ask the server to end the statement, and leave the connection."""
        with suppress(psycopg.Error):
            if psycopg.capabilities.has_cancel_safe():
                self.cancel_safe(timeout=1)
        self.close()


def _limit_check() -> AbstractContextManager[float | None]:
    deadline = context.database_deadline.get()
    return context.limit_database_time(
        CHECK_SECONDS if deadline is None else min(CHECK_SECONDS, deadline - time.monotonic())
    )


class Client(DatabaseClient):
    """Runs `psql` for `manage.py dbshell`, on the kind of server that `target_session_attrs` names."""

    @classmethod
    def settings_to_cmd_args_env(cls, settings_dict: dict[str, Any], parameters: Any) -> tuple[list[str], Any]:
        """The arguments and the environment of `psql`."""
        arguments, environment = super().settings_to_cmd_args_env(settings_dict, parameters)
        if kind := settings_dict["OPTIONS"].get("target_session_attrs"):
            environment = {**(environment or {}), "PGTARGETSESSIONATTRS": kind}
        return arguments, environment


class DatabaseWrapper(base.DatabaseWrapper):
    """Opens at most `DATABASE_CONNECTIONS` to each server in a process. Who needs a further one waits briefly."""

    client_class = Client
    _kind_check: tuple[str, str] | None = None

    def get_connection_params(self) -> dict[str, Any]:
        """The parameters of `DATABASE_URL`, which come before ours."""
        return {**OPTIONS, **super().get_connection_params()}

    @async_unsafe
    @request_times.measure("connection")
    def get_new_connection(self, conn_params: dict[str, Any]) -> Connection:
        """A connection. Raises `OperationalError` when none becomes free in time."""
        self.isolation_level = IsolationLevel.READ_COMMITTED
        now = time.monotonic()
        deadline = context.database_deadline.get()
        if deadline is not None and deadline - now < MIN_CONNECT_SECONDS:
            raise QueryCanceled(context.NO_ANSWER)
        until = now + WAIT_SECONDS if deadline is None else min(now + WAIT_SECONDS, deadline)
        free = _free[self.alias]
        if not free.acquire(timeout=until - now):
            raise TooManyConnections("all connections of this process to the database are in use")
        try:
            if deadline is not None and deadline - now < CONNECT_SECONDS:
                conn_params = {**conn_params, "connect_timeout": 2}
            self._kind_check = KIND_CHECKS.get(conn_params.get("target_session_attrs", ""))
            connection = self._connect(conn_params, until)
        except BaseException:
            free.release()
            raise
        self._is_pooled: bool | None = None
        self._release = weakref.finalize(connection, free.release)  # threads that end leave theirs to the collector
        self._release.atexit = False
        return connection

    def _connect(self, conn_params: dict[str, Any], until: float) -> Connection:
        wrong: set[tuple[str, str]] = set()
        if self._kind_check:
            # libpq would believe a pooler, which tells what its server was when it connected there first.
            conn_params = {**conn_params, "target_session_attrs": "any"}
        while True:
            try:
                connection = Connection.connect(**self._choose_servers(conn_params, wrong), autocommit=True)
            except OperationalError as failure:
                if time.monotonic() > until or not any(words in str(failure) for words in FAILED_AT_ONCE):
                    raise
                time.sleep(RETRY_SECONDS)
                continue
            server = connection.info.host, str(connection.info.port)
            if self._is_of_kind(connection):
                _last_server[self.alias] = server
                return connection
            connection.close()
            wrong.add(server)

    def _choose_servers(self, conn_params: dict[str, Any], wrong: set[tuple[str, str]]) -> dict[str, Any]:
        """The same parameters without wrong servers, and the last one first: one that is gone costs its time once."""
        hosts, ports = (str(conn_params.get(name) or "").split(",") for name in ("host", "port"))
        servers = list(zip(hosts, ports * len(hosts) if len(ports) == 1 else ports, strict=True))
        left = [server for server in servers if server not in wrong]
        is_fixed = len(servers) == 1 or "hostaddr" in conn_params
        if wrong and (is_fixed or not left):
            raise OperationalError("no server is of the kind that target_session_attrs names")
        if is_fixed:
            return conn_params
        left.sort(key=lambda server: server != _last_server.get(self.alias))
        return {
            **conn_params,
            "host": ",".join(host for host, _ in left),
            "port": ",".join(port for _, port in left),
        }

    def _close(self) -> None:
        try:
            super()._close()  # type: ignore[misc]  # the stubs lack it
        finally:
            self._release()

    @async_unsafe
    def chunked_cursor(self) -> Any:
        """A cursor that fetches rows in steps, or all at once where the next step could reach another server process.

        Outside of a transaction a pooler may hand each statement to another one, which does not know the cursor.
        """
        self.ensure_connection()
        if self.connection.info.transaction_status == TransactionStatus.IDLE and self.is_behind_pooler():
            return self.cursor()
        return super().chunked_cursor()

    def is_behind_pooler(self) -> bool:
        """Whether the process that answers is not the one that accepted the connection."""
        if self._is_pooled is None:
            answer = self.connection.execute("SELECT pg_backend_pid()").fetchone()
            self._is_pooled = answer != (self.connection.info.backend_pid,)
        return self._is_pooled

    def close_if_health_check_failed(self) -> None:
        """Ask the server, unless it has just answered and has not closed the connection since, nor said anything."""
        connection = self.connection
        if connection and not connection.closed and time.monotonic() - connection.answered_at < FRESH_SECONDS:
            look = select.poll()
            look.register(connection.fileno(), select.POLLIN)
            if not look.poll(0):
                return
        super().close_if_health_check_failed()

    def is_usable(self) -> bool:
        """Whether the connection answers, and its server is still of the kind that the address asks for.

        A server that hangs is found here before a statement waits for it; so is one that was the primary.
        """
        if self._kind_check is not None and self.connection is not None:
            return self._is_of_kind(self.connection)
        with _limit_check():
            return super().is_usable()

    def _is_of_kind(self, connection: Connection) -> bool:
        """Whether a connection answers and leads to the kind of server that the address asks for, if it asks."""
        if self._kind_check is None:
            return True
        statement, expected = self._kind_check
        with _limit_check(), suppress(psycopg.Error):
            return bool(connection.execute(statement).fetchone() == (expected,))
        return False
