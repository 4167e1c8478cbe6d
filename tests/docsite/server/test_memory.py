"""Requests are freed with their response: full garbage collections are rare, and a body may have 2 MiB.

Hundreds of streams may be open at once: each holds what the rest of it needs. And a service imports what it uses: the
library of a database that is not there takes memory and time at the start.
"""

import asyncio
import gc
import json
import os
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from unittest.mock import Mock
from weakref import WeakSet

import pytest
from asgiref.testing import ApplicationCommunicator
from django.core.handlers.asgi import ASGIRequest
from django.http import HttpRequest

from docsite.core.http.streams import PieceResponse
from docsite.server.daphne import Inbox
from docsite.server.fast_path.handler import FastPath
from docsite.server.fast_path.routes import Route
from docsite.server.routing import Http
from tests.conftest import PATIENCE, wait_for
from tests.variants import first_of

pytestmark = pytest.mark.slow

SEARCH = "/discovery/v1/search/{domain}"
CASES = {
    "a search": ("POST", SEARCH, {"query": "install"}, 200),
    "a wrong field": ("POST", SEARCH, {"query": "x", "pageSize": 500}, 400),
    "a wrong field of ours": ("POST", SEARCH, {"query": "x", "pageSize": "5"}, 400),
    "no object": ("POST", SEARCH, [], 400),
    "an unknown page": ("POST", "/discovery/v1/page/{domain}", {"path": "/nowhere"}, 404),
    "another domain": ("POST", "/discovery/v1/search/other", {"query": "x"}, 404),
    "no question": ("POST", "/discovery/v1/assistant/{domain}/message", {"fp": "x", "messages": [{"role": "x"}]}, 400),
    "a wrong method": ("GET", SEARCH, None, 405),
    "a wrong key": ("GET", "/v1/analytics/{project_id}/visitors", None, 403),
    "no Origin": ("POST", "/discovery/v1/view/{domain}", {"id": "1", "path": "/"}, 403),
}


def requests() -> WeakSet[ASGIRequest]:
    """The requests in memory."""
    return WeakSet(kept for kept in gc.get_objects() if isinstance(kept, ASGIRequest))


@pytest.mark.parametrize("case", first_of(CASES, 1))
async def test_a_request_is_freed_with_its_response(case, project):
    method, path, body, status = CASES[case]
    raw = json.dumps(body).encode()
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    headers += [(name.lower().encode(), value.encode()) for name, value in project.assistant.items()]
    path = path.format(domain=project.domain, project_id=project.project_id)
    scope = {"type": "http", "method": method, "path": path, "query_string": b"", "headers": headers, "scheme": "http"}

    async def send() -> int:
        service = ApplicationCommunicator(
            Http(), {**scope, "asgi": {}, "client": ("127.0.0.1", 1), "server": ("x", 80)}
        )
        await service.send_input({"type": "http.request", "body": raw})
        first = await service.receive_output(PATIENCE)
        while (await service.receive_output(PATIENCE)).get("more_body"):
            pass
        await service.wait(PATIENCE)
        return first["status"]

    assert await send() == status
    gc.collect()
    before = requests()
    gc.disable()
    try:
        await send()
        # A thread may hold it a moment longer, and may have held one of those before.
        wait_for(lambda: requests() <= before, "the request to be freed")
    finally:
        gc.enable()


async def test_an_open_stream_holds_neither_its_request_nor_its_response():
    may_end = asyncio.Event()

    async def pieces() -> AsyncIterator[bytes]:
        yield b"first"
        await may_end.wait()
        yield b"second"

    async def respond(request: HttpRequest) -> PieceResponse:
        assert request.method == "POST"
        return PieceResponse(pieces(), {"X-Own": "1"})

    fast_path = FastPath(Mock())
    fast_path.routes = [(Route(re.compile("/stream"), Mock(), Mock()), respond)]
    scope = {"type": "http", "method": "POST", "path": "/stream", "query_string": b"", "headers": [], "scheme": "http"}
    service = ApplicationCommunicator(fast_path, {**scope, "asgi": {}, "server": ("x", 80)})
    before = {id(kept) for kept in gc.get_objects()}
    await service.send_input({"type": "http.request", "body": b"{}"})
    beginning = await service.receive_output(PATIENCE)
    assert (b"X-Own", b"1") in beginning["headers"]
    assert (await service.receive_output(PATIENCE))["body"] == b"first"
    held = [kept for kept in gc.get_objects() if isinstance(kept, ASGIRequest | PieceResponse)]
    assert [kept for kept in held if id(kept) not in before] == []
    may_end.set()
    outputs = [await service.receive_output(PATIENCE) for _ in range(2)]
    assert [(output.get("body"), output.get("more_body")) for output in outputs] == [(b"second", True), (None, None)]
    await service.wait(PATIENCE)


async def test_an_inbox_gives_each_message_once_and_in_order():
    inbox = Inbox()
    inbox.put_nowait(1)
    inbox.put_nowait(2)
    assert (inbox.qsize(), await inbox.get(), await inbox.get(), inbox.qsize()) == (2, 1, 2, 0)
    waiting = [asyncio.ensure_future(inbox.get()) for _ in range(3)]
    await asyncio.sleep(0)
    waiting[0].cancel()
    inbox.put_nowait(3)
    await asyncio.wait(waiting[:2])
    inbox.put_nowait(4)
    assert (waiting[0].cancelled(), await waiting[1], await waiting[2]) == (True, 3, 4)


@pytest.mark.matrix
def test_nothing_is_imported_that_is_not_needed(tmp_path):
    """Each command begins with `django.setup()`; these packages doubled its time. SQLite needs no psycopg."""
    script = "import django, sys; django.setup(); print(*sys.modules); import docsite.server.urls; print(*sys.modules)"
    environment = {**os.environ, "DATA_DIR": str(tmp_path), "DATABASE_URL": ""}
    out = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    of_a_command, of_a_service = map(str.split, out.stdout.splitlines())
    assert not {"aiohttp", "httpx", "markdown_it", "ninja", "numpy"} & set(of_a_command)
    assert "psycopg" not in of_a_service
    assert "ninja" in of_a_service
