"""What fails on the replica runs on the primary if there is time, and a replica that fails is not used for a while."""

import threading
import time
from contextlib import contextmanager
from types import SimpleNamespace

import pytest
from django.db import InternalError, OperationalError

from docsite.core import context, replica
from docsite.core.availability import Dependency
from docsite.core.postgresql import base as postgresql


class Server:
    """A connection to a server that has replayed everything, or fails with `failure`."""

    in_atomic_block = False

    def __init__(self, alias: str) -> None:
        self.alias, self.failure, self.checks = alias, None, 0
        self.before_check = lambda: None
        self.connection, self.history, self.statement = object(), (7, 1), ""

    @contextmanager
    def cursor(self):
        yield self

    def execute(self, statement: str, values: object = None) -> None:
        self.statement = statement
        if "pg_control" in statement:
            return
        self.checks += 1
        self.before_check()
        if self.failure:
            raise self.failure

    def fetchone(self) -> tuple[object, ...]:
        return self.history if "pg_control" in self.statement else (True,)


class Servers(dict):
    """The connections of a thread, with a clock for the pauses. `names` are the servers that calls ran on."""

    def __init__(self) -> None:
        super().__init__({alias: Server(alias) for alias in ("default", "replica")})
        self.now = 1_000.0
        self.names: list[str] = []
        self.status = Dependency("The replica of the test")

    def run(self, failure: Exception | None = None) -> list[str]:
        """Run a call that fails on the replica. Returns the servers that it ran on."""
        self.names.clear()

        def call() -> None:
            self.names.append(self["default"].alias)
            if failure and self.names == ["replica"]:
                raise failure

        replica.run_on_replica(call)
        return self.names


@pytest.fixture
def servers(monkeypatch) -> Servers:
    servers = Servers()
    monkeypatch.setattr(replica, "settings", SimpleNamespace(DATABASES=servers))
    monkeypatch.setattr(replica, "connections", servers)
    monkeypatch.setattr(replica, "availability", SimpleNamespace(replica=servers.status))
    monkeypatch.setattr(replica, "time", SimpleNamespace(monotonic=lambda: servers.now, sleep=time.sleep))
    monkeypatch.setattr(replica, "_pause_seconds", 0.0)
    monkeypatch.setattr(replica, "_paused_until", 0.0)
    return servers


class DriverFailure(Exception):
    """The cause of a failure, as psycopg has it."""

    def __init__(self, code: str | None) -> None:
        super().__init__()
        self.sqlstate = code


def fail(code: str | None, kind: type[Exception] = OperationalError) -> Exception:
    """A failure of Django with a code of PostgreSQL."""
    failure = kind("the statement failed")
    failure.__cause__ = DriverFailure(code)
    return failure


@pytest.mark.parametrize("code", ["57014", "53300"])
def test_a_slow_statement_is_not_repeated_and_the_replica_stays_in_use(servers, code):
    with pytest.raises(OperationalError):
        servers.run(fail(code))
    assert servers.names == ["replica"]
    assert servers.status.is_available
    assert servers.run() == ["replica"]


def test_a_failure_after_the_deadline_is_not_repeated(servers):
    token = context.database_deadline.set(servers.now - 1)
    try:
        with pytest.raises(OperationalError):
            servers.run(fail(None))
    finally:
        context.database_deadline.reset(token)
    assert servers.names == ["replica"]
    assert servers.status.is_available


@pytest.mark.parametrize("failure", [fail("40001"), fail("25006", InternalError)])
def test_what_a_replica_cannot_do_runs_on_the_primary(servers, failure):
    assert servers.run(failure) == ["replica", "default"]
    assert servers.status.is_available
    assert servers.run() == ["replica"]


def test_pauses_double_up_to_a_minute_until_a_call_succeeds(servers):
    servers["replica"].failure = fail(None)
    for pause in (5, 10, 20, 40, 60, 60):
        assert servers.run() == ["default"]
        checks = servers["replica"].checks
        servers.now += pause - 0.1
        assert servers.run() == ["default"]
        assert servers["replica"].checks == checks
        servers.now += 0.2
    assert not servers.status.is_available
    servers["replica"].failure = None
    assert servers.run() == ["replica"]
    assert servers.run(fail(None)) == ["replica", "default"]
    servers.now += 5.1
    assert servers.run() == ["replica"]


def test_threads_that_fail_together_start_one_pause(servers):
    replica._pause(fail(None))
    replica._pause(fail(None))
    servers.now += 5.1
    assert servers.run() == ["replica"]


def test_no_free_connection_to_the_replica_is_not_its_fault(servers):
    servers["replica"].failure = fail("53300")
    assert servers.run() == ["default"]
    assert servers.status.is_available
    servers["replica"].failure = None
    assert servers.run() == ["replica"]


def test_one_thread_tries_the_replica_after_a_pause(servers):
    replica._pause(fail(None))
    servers.now += 5.1
    is_checking, may_go_on = threading.Event(), threading.Event()

    def wait() -> None:
        is_checking.set()
        may_go_on.wait(10)

    servers["replica"].before_check = wait
    thread = threading.Thread(target=replica._is_usable)
    thread.start()
    assert is_checking.wait(10)
    assert servers.run() == ["default"]
    may_go_on.set()
    thread.join()
    assert servers.run() == ["replica"]


def test_the_check_has_little_time(servers):
    deadlines: list[float | None] = []
    servers["replica"].before_check = lambda: deadlines.append(context.database_deadline.get())
    assert servers.run() == ["replica"]
    assert deadlines[0] is not None
    assert deadlines[0] <= time.monotonic() + replica.CHECK_SECONDS


def test_the_test_of_an_idle_connection_has_no_more_time_than_the_check(monkeypatch):
    deadlines: list[float | None] = []
    monkeypatch.setattr(
        postgresql.base.DatabaseWrapper, "is_usable", lambda _: deadlines.append(context.database_deadline.get())
    )
    wrapper = object.__new__(postgresql.DatabaseWrapper)
    with context.limit_database_time(replica.CHECK_SECONDS):
        wrapper.is_usable()
    wrapper.is_usable()
    assert deadlines[0] < time.monotonic() + replica.CHECK_SECONDS
    assert deadlines[1] - deadlines[0] >= postgresql.CHECK_SECONDS - replica.CHECK_SECONDS


def test_a_server_with_another_history_is_not_read(servers):
    assert servers.run() == ["replica"]
    servers["replica"].history = (7, 2)
    assert servers.run() == ["replica"], "asked a moment ago for this pair of connections"
    servers["default"].connection = object()  # to a standby that was promoted
    assert servers.run() == ["default"]
    assert not servers.status.is_available


def test_another_server_behind_the_same_connection_is_noticed_soon(servers):
    assert servers.run() == ["replica"]
    servers["replica"].history = (8, 1)  # a pooler leads elsewhere
    servers.now += replica.HISTORY_SECONDS + 0.1
    assert servers.run() == ["default"]
    assert not servers.status.is_available
