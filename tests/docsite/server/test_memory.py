"""Requests are freed with their response: full garbage collections are rare, and a body may have 2 MiB.

And a service imports what it uses: the library of a database that is not there takes memory and time at the start.
"""

import gc
import json
import os
import subprocess
import sys
from weakref import WeakSet

import pytest
from asgiref.testing import ApplicationCommunicator
from django.core.handlers.asgi import ASGIRequest

from docsite.server.routing import Http
from tests.conftest import PATIENCE, wait_for

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


@pytest.mark.parametrize("case", CASES)
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


def test_on_sqlite_the_library_of_postgresql_is_not_imported(tmp_path):
    script = "import django, sys; django.setup(); import docsite.server.urls; print('psycopg' in sys.modules)"
    environment = {**os.environ, "DATA_DIR": str(tmp_path), "DATABASE_URL": ""}
    out = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=60, check=True
    )
    assert out.stdout == "False\n"
