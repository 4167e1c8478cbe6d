"""A slow request or answer is one line in the log, with where its time went and nothing of its reader."""

import asyncio
import json
import logging
import time
from collections.abc import AsyncGenerator
from unittest.mock import patch

import pytest
from asgiref.testing import ApplicationCommunicator
from django.conf import settings
from django.db import connection

from assistant.answering.question import Asker
from assistant.answering.record import Outcome
from assistant.running_answers.running import RunningAnswer, Timeouts
from assistant.wire.events import Event, Finish, Start, Text
from docsite.core import request_times
from docsite.core.db import SEARCHES, in_db
from docsite.core.logs import JsonFormatter, LineFormatter
from docsite.server.routing import Http

PARTS = ("waiting", "database", "retrieval")


def wait_and_ask() -> None:
    time.sleep(0.02)
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


async def test_the_parts_of_a_request_are_measured(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, request_times.__name__)
    request_times.begin()
    await in_db(wait_and_ask, SEARCHES)()
    request_times.add("model", 0.5)
    request_times.report("ask", "200", 1.25, 1.0)
    (record,) = caplog.records
    assert record.getMessage().startswith("Slow: ask 200 (total 1.25 s, waiting ")
    assert "\n" not in LineFormatter().format(record)
    seconds = json.loads(JsonFormatter().format(record))["seconds"]
    assert set(seconds) == {"total", "model", *PARTS}
    assert seconds["retrieval"] >= 0.02
    assert seconds["retrieval"] > seconds["database"]


async def test_a_fast_request_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, request_times.__name__)
    request_times.report("ask", "200", 0.9, 1.0)
    assert caplog.records == []


@pytest.mark.parametrize(("text", "parts"), [("Yes", {"model"}), ("", {"model", "retrieval"})])
async def test_an_answer_is_measured_until_its_first_text(
    text: str, parts: set[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Or until its end, if it has none: a model that hangs is slow."""
    caplog.set_level(logging.INFO, request_times.__name__)
    outcome = Outcome()

    async def events() -> AsyncGenerator[Event, None]:
        yield Start("msg_1", "thr_1")
        with request_times.measure("model"):
            await asyncio.sleep(0.05)
        yield outcome.add(Text(text))
        with request_times.measure("retrieval"):
            await asyncio.sleep(0.05)
        yield Finish()

    request_times.begin()
    answer = RunningAnswer("msg_1", "thr_1", Asker(1, 1, "fp", ""), outcome, Timeouts(), resumable=False)
    with patch.object(request_times, "SLOW_ANSWER_SECONDS", 0.03):
        answer.start(events())
        async for _ in answer.subscribe():
            pass
        await answer.wait_until_stored()
    (seconds,) = [record.seconds for record in caplog.records if record.name == request_times.__name__]
    assert set(seconds) == {"total", *parts}
    assert seconds["total"] >= sum(seconds[part] for part in parts) - 0.002, "rounded"


async def test_a_request_is_named_by_its_kind(caplog: pytest.LogCaptureFixture) -> None:
    """Not by its path, which may have a question or a key."""
    caplog.set_level(logging.INFO, request_times.__name__)
    scope = {
        "type": "http",
        "method": "GET",
        "path": "/health",
        "query_string": b"q=where-is-xanthippe",
        "headers": [(b"host", b"localhost"), (b"x-forwarded-for", b"198.51.100.77")],
        "client": ("198.51.100.77", 1),
    }
    with patch.object(request_times, "SLOW_REQUEST_SECONDS", 0.0):
        client = ApplicationCommunicator(Http(), scope)
        await client.send_input({"type": "http.request"})
        assert (await client.receive_output(5))["status"] == 200
    (line,) = [record.getMessage() for record in caplog.records if record.name == request_times.__name__]
    assert line.startswith("Slow: api 200 (total ")
    assert "waiting" in line
    assert "198.51" not in line
    assert "xanthippe" not in line


def test_servers_do_not_log_addresses() -> None:
    """Their access logs name each client."""
    for name in ("uvicorn.access", "daphne.access", "django.channels.server"):
        assert settings.LOGGING["loggers"][name]["level"] == "CRITICAL"
