"""Views behind proxies: readers are told apart however their address is written, and nobody stands for many."""

import asyncio
import uuid

import httpx
import pytest

from analytics.collecting import writer
from analytics.models import PageView
from tests.analytics.conftest import CHROME


@pytest.fixture
def settings_of_proxy(settings):
    """The service behind a proxy on this host; an address may send three views an hour."""
    changed = {"trusted_proxies": ("127.0.0.1",), "limit_collect_ip": "3/h"}
    settings.ENV = settings.ENV.model_copy(update=changed)


@pytest.fixture
async def send(settings_of_proxy, make_project):
    """Send a view of a project with what a proxy has forwarded. The sender has the project."""
    from docsite.asgi import application

    tenant = await asyncio.to_thread(make_project)
    transport = httpx.ASGITransport(application, client=("127.0.0.1", 61002))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:

        async def send(forwarded):
            body = {"id": uuid.uuid4().hex, "path": "/install"}
            headers = {"Origin": "https://docs.acme.example", "User-Agent": CHROME, "X-Forwarded-For": forwarded}
            return await client.post(f"/discovery/v1/view/{tenant.domain}", json=body, headers=headers)

        send.tenant, send.client = tenant, client
        yield send


def count_visitors(project):
    """How many views are stored, and of how many visitors."""
    views = PageView.objects.filter(project=project)
    return views.count(), views.values("visitor").distinct().count()


@pytest.mark.matrix
async def test_readers_with_ports_are_as_many_visitors_with_limits_of_their_own(send):
    for number in range(5):
        for port in (61002, 443, 8080):
            for form in ("198.51.100.{}:{}", '"198.51.101.{}:{}",', "6.6.6.6, [2001:db8:{}::1]:{}"):
                assert (await send(form.format(number, port))).status_code == 204
    assert (await send("198.51.100.1:5")).status_code == 429, "another port is no other reader"
    assert await asyncio.to_thread(count_visitors, send.tenant.project) == (45, 15)


async def test_readers_without_an_address_are_in_no_count(send):
    for forwarded in ("unknown", "_hidden", "198.51.100.7, unix:"):
        response = await send(forwarded)
        assert (response.status_code, response.headers["X-View"].partition(":")[0]) == (202, "address")
    assert (await send("_another")).status_code == 429, "no header escapes the limit"
    assert await asyncio.to_thread(count_visitors, send.tenant.project) == (0, 0)


async def test_an_agent_without_an_address_is_in_no_count(send, project, settings):
    settings.ENV = settings.ENV.model_copy(update={"limit_collect_ip": "1000/h"})
    call = {"name": "read_page", "arguments": {"path": "/install"}}
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    before = await asyncio.to_thread(count_visitors, project.project)
    for forwarded, new in (("unknown", 0), ("198.51.100.77:61002", 1)):
        headers = {"X-Forwarded-For": forwarded, "User-Agent": "python-httpx/0.28"}
        answer = await send.client.post(f"/mcp/{project.domain}", json=message, headers=headers)
        assert answer.json()["result"]["isError"] is False
        await asyncio.to_thread(writer.flush)
        assert (await asyncio.to_thread(count_visitors, project.project))[0] == before[0] + new
