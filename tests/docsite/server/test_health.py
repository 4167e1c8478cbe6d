"""The addresses that load balancers ask: is the process alive, and should it get requests?"""

import asyncio
import signal
import sqlite3

import httpx
import pytest
import websockets
from django.conf import settings
from django.db import connection

from tests.conftest import PATIENCE, fake, wait_for
from tests.processes import manage

pytestmark = pytest.mark.slow

ON_SQLITE = pytest.mark.skipif(connection.vendor != "sqlite", reason="makes a file read-only")
OK = {"status": "ready", "process": "ok", "database": "ok", "limits": "ok", "threads": "ok", "disk": "ok"}


def with_read_only_database(*arguments: str) -> None:
    """A service whose database becomes read-only after its start."""
    import django

    django.setup()
    from django.db import connection as database

    from docsite.server import lifecycle

    start = lifecycle.start

    def start_and_protect(with_background: bool) -> None:
        start(with_background)
        database.settings_dict["OPTIONS"]["init_command"] += "; PRAGMA query_only=1"

    lifecycle.start = start_and_protect
    manage(*arguments)


def with_a_full_disk(*arguments: str) -> None:
    """A service whose disk has no space and whose sweeper has ended."""
    import django

    django.setup()
    from docsite.core.sweeper import Sweeper
    from docsite.server.health import readiness

    def end(sweeper: Sweeper) -> None:
        raise SystemExit

    Sweeper.work = end
    readiness.MIN_FREE_MIB = 2**50
    manage(*arguments)


def test_a_process_that_works_is_ready_whatever_the_host_name(http, service):
    for host in ("127.0.0.1", "10.1.2.3:8000", "nobody.example"):
        live, ready = (http.get(f"{service.url}/health/{name}", headers={"Host": host}) for name in ("live", "ready"))
        assert (live.status_code, live.json()) == (200, {"status": "ok"})
        assert (ready.status_code, ready.json()) == (200, OK)
    assert http.head(f"{service.url}/health/ready").status_code == 200
    assert http.post(f"{service.url}/health/live").status_code == 405
    assert http.get(f"{service.url}/health").json() == {"status": "ok"}


@ON_SQLITE
def test_a_read_only_database_is_not_ready_and_says_why(http, start):
    service = start.fresh(with_read_only_database)
    answer = http.get(f"{service.url}/health/ready")
    assert answer.status_code == 503
    assert "readonly" in answer.json()["database"]
    assert http.get(f"{service.url}/health/live").status_code == 200


def test_a_full_disk_and_a_thread_that_ended_are_not_ready(http, start):
    service = start.fresh(with_a_full_disk)
    answer = http.get(f"{service.url}/health/ready")
    assert answer.status_code == 503
    assert "are free below DATA_DIR" in answer.json()["disk"]
    assert answer.json()["threads"] == "has ended: sweeper"


@pytest.mark.matrix
async def test_a_process_that_ends_says_so_first_and_closes_sockets_with_1001(start, upstream, project):
    from tests.assistant.asking.test_socket import ask, connect  # not above: the services of this file import it, too

    service = start.fresh(OPENAI_BASE_URL=f"{upstream.url}/v1", DRAIN_SECONDS="1")
    async with connect(service, project) as idle, connect(service, project) as busy, asyncio.timeout(PATIENCE):
        await busy.send(ask(project, context=fake("slow")))
        await busy.recv()
        service.process.send_signal(signal.SIGTERM)
        async with httpx.AsyncClient(trust_env=False, verify=False) as client:
            while (answer := await client.get(f"{service.url}/health/ready")).status_code == 200:
                await asyncio.sleep(0.02)
            assert answer.json()["process"] == "is shutting down"
            assert (await client.get(f"{service.url}/health/live")).status_code == 200
        last = [message async for message in _read(busy)][-1]
        assert '"finish"' in last
        await idle.wait_closed()
        assert (idle.close_code, busy.close_code) == (1001, 1001)
    await asyncio.to_thread(wait_for, lambda: service.process.poll() is not None, "the end")


async def _read(socket):
    try:
        while True:
            yield await socket.recv()
    except websockets.ConnectionClosed:
        return


@ON_SQLITE
def test_the_write_ahead_log_shrinks_again():
    with connection.cursor() as cursor:
        assert cursor.execute("PRAGMA journal_size_limit").fetchone() == (64 * 2**20,)


@ON_SQLITE
async def test_a_busy_database_is_ready():
    from docsite.server.health import readiness

    writer = sqlite3.connect(settings.DATABASES["default"]["NAME"], isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    try:
        assert (await readiness.check())["database"] == "ok"
    finally:
        writer.close()
