"""The log has one line for each change of a store, however many requests fail."""

import logging
import time

import pytest
from django.db import OperationalError
from redis.exceptions import ConnectionError as RedisConnectionError

from docsite.core import availability
from docsite.core.availability import Dependency
from docsite.core.logs import OutageFilter


def test_a_change_is_one_line(caplog, monkeypatch):
    server = Dependency("The server")
    server.report_success()
    for _ in range(3):
        server.report_failure("refused")
        server.report_success()
    assert [record.getMessage() for record in caplog.records] == [
        "The server does not work: refused. The next line follows when it works again."
    ]
    assert not server.is_available
    monkeypatch.setattr(availability, "QUIET_SECONDS", 0)
    server.report_success()
    server.report_success()
    assert server.is_available
    assert len(caplog.records) == 2
    assert caplog.records[1].getMessage().startswith("The server works again, after ")


def test_who_can_do_without_asks_a_server_that_is_away_every_five_seconds(monkeypatch):
    server = Dependency("The server")
    assert server.claim_attempt()
    server.report_failure("refused")
    assert not server.claim_attempt()
    monkeypatch.setattr(availability.time, "monotonic", lambda now=time.monotonic(): now + availability.RETRY_SECONDS)
    assert [server.claim_attempt() for _ in range(3)] == [True, False, False], "one of those who ask"


@pytest.mark.parametrize(
    ("failure", "name"), [(OperationalError("refused"), "database"), (RedisConnectionError("refused"), "redis")]
)
@pytest.mark.parametrize("as_value", [True, False])
def test_records_about_a_store_that_fails_become_its_state(monkeypatch, failure, name, as_value):
    server = Dependency("It")
    monkeypatch.setattr(availability, name, server)
    values = (failure,) if as_value else ()
    exc_info = None if as_value else (type(failure), failure, None)
    record = logging.LogRecord(
        "search", logging.ERROR, __file__, 1, "Failed: %s" if as_value else "x", values, exc_info
    )
    assert OutageFilter().filter(record) is False
    assert not server.is_available


def test_other_records_are_logged():
    failure = ValueError("x")
    record = logging.LogRecord("search", logging.ERROR, __file__, 1, "x", (), (ValueError, failure, None))
    assert OutageFilter().filter(record) is True
