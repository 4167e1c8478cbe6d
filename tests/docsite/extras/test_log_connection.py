"""The connection to the view log, without NATS. `tests/services/view_log` has the rest."""

import asyncio
import json
import socket
import time

import pytest

from docsite.core.availability import Dependency
from docsite.core.group_commit import QueueFull
from docsite.core.http.errors import Unavailable
from docsite.extras.view_log import connection, publisher, state
from docsite.extras.view_log.settings import ViewLogSettings
from tests.conftest import PATIENCE


@pytest.fixture(autouse=True)
def _fresh(monkeypatch, settings):
    monkeypatch.setattr(connection, "_connection", connection._Connection())
    monkeypatch.setattr(connection, "dependency", Dependency("The view log"))
    settings.EXTRAS = {ViewLogSettings: ViewLogSettings(view_log_url="nats://127.0.0.1:1")}


@pytest.mark.matrix
def test_a_report_waits_for_a_log_that_is_silent_no_longer_than_it_may(settings, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"nats://127.0.0.1:{silent.getsockname()[1]}"
        settings.EXTRAS = {ViewLogSettings: ViewLogSettings(view_log_url=url)}
        began = time.monotonic()
        with monkeypatch.context() as patched:
            patched.setattr(connection, "REQUEST_SECONDS", PATIENCE)
            assert not state.wait_until_stored(0.1)
        assert time.monotonic() - began < PATIENCE / 2
        assert connection.dependency.is_available, "so little time says nothing"
        assert not state.wait_until_stored(connection.REQUEST_SECONDS)
    assert not connection.dependency.is_available
    monkeypatch.setattr(connection, "run", pytest.fail)
    assert not state.wait_until_stored(30)


@pytest.mark.parametrize("failure", [KeyError("config"), json.JSONDecodeError("no JSON", "", 0)])
def test_an_answer_that_is_none_is_a_failure_of_the_log_once(monkeypatch, failure):
    results = [failure, "client"]

    async def prepare(self):
        result = results.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    async def answer(*_, **__):
        return {"state": {}}

    monkeypatch.setattr(connection._Connection, "_prepare", prepare)
    monkeypatch.setattr(connection, "_ask", answer)
    with pytest.raises(connection.LogUnavailableError, match=type(failure).__name__):
        asyncio.run(connection.describe(seconds=0.1))
    assert asyncio.run(connection.describe()) == {"state": {}}


@pytest.mark.parametrize(
    ("url", "servers", "login"),
    [
        ("nats://127.0.0.1", ["nats://127.0.0.1"], {}),
        ("tls://d:p%40%23s@a:4222,b/", ["tls://a:4222", "tls://b"], {"user": "d", "password": "p@#s"}),
        ("nats://se%2Fcret@a", ["nats://a"], {"token": "se/cret"}),
    ],
)
def test_the_address_names_servers_and_one_login(url, servers, login):
    assert connection.parse_url(url) == (servers, login)


@pytest.mark.parametrize(("failure", "lines"), [(QueueFull("full"), 1), (TypeError("a bug"), 1), (Unavailable("x"), 0)])
def test_views_nobody_waits_for_are_not_lost_silently(monkeypatch, caplog, failure, lines):
    async def fail(*_):
        raise failure

    monkeypatch.setattr(publisher, "_publish", fail)
    assert isinstance(publisher.submit("p7", []).exception(5), type(failure))
    assert len([record for record in caplog.records if "0 views could not be" in record.getMessage()]) == lines
