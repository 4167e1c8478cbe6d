"""The end of the process: told to stop it loses nothing, killed it loses no more than two seconds."""

import asyncio
import json
import os
import signal
import subprocess
import sys

import httpx
import pytest

from assistant.models import Message
from tests.assistant.asking.test_message_v2 import address, question, text
from tests.assistant.asking.test_socket import ask, connect
from tests.assistant.running_answers.test_resume import take
from tests.conftest import PATIENCE, ROOT, assert_error, fake, wait_for

pytestmark = pytest.mark.slow

NEVER = "3600"  # seconds: a limit that no test waits for
RESTARTING = "The service is restarting. Please ask again."


@pytest.fixture
def serve(start, upstream):
    return lambda **environment: start.fresh(OPENAI_BASE_URL=f"{upstream.url}/v1", **environment)


async def begun(client, service, tenant, **body):
    """A request whose answer has begun, with its body so far."""
    request = client.build_request("POST", address(service, tenant), json=question(**body), headers=tenant.assistant)
    response = await client.send(request, stream=True)
    chunks = response.aiter_text()
    seen = ""
    while "text-delta" not in seen:
        seen += await anext(chunks)
    return response, chunks, seen


async def rest(chunks, seen: str) -> list[dict]:
    async with asyncio.timeout(PATIENCE):
        seen += "".join([chunk async for chunk in chunks])
    assert seen.endswith("data: [DONE]\n\n")
    return [json.loads(block.removeprefix("data: ")) for block in seen.split("\n\n")[:-2]]


def stored(stream) -> Message:
    return Message.objects.get(message_id=stream[0]["messageId"])


async def ended(service) -> int:
    """The exit code, once the process is gone."""
    return await asyncio.to_thread(service.process.wait, PATIENCE)


async def closed(service) -> None:
    """Wait until the service accepts no more connections, which it does before anything else when it stops."""
    async with asyncio.timeout(PATIENCE):
        while True:
            try:
                _, writer = await asyncio.open_connection("127.0.0.1", int(service.url.rsplit(":", 1)[1]))
            except OSError:
                return
            writer.close()
            await asyncio.sleep(0.02)


async def test_after_sigterm_running_answers_end_and_new_ones_are_refused(serve, project):
    service = serve(SHUTDOWN_SECONDS=NEVER)
    async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as client:
        _, chunks, seen = await begun(client, service, project, context=fake("slower"))
        await client.get(f"{service.url}/health")  # a second connection, which is kept open
        async with connect(service, project) as socket:
            await socket.send(ask(project, context=fake("slower")))
            first = await take(socket, 4)
            service.process.send_signal(signal.SIGTERM)
            await closed(service)
            refused = await client.post(address(service, project), json=question(), headers=project.assistant)
            assert_error(refused, 503)
            assert int(refused.headers["retry-after"]) >= 1
            over_socket = first + await take(socket)
        over_http = await rest(chunks, seen)
    for stream in (over_http, over_socket):
        assert stream[-1]["type"] == "finish"
        assert "nothing in" in text(stream)
        record = await asyncio.to_thread(stored, stream)
        assert (record.state, record.content) == ("done", text(stream))
    assert await ended(service) == 0
    assert "Traceback" not in service.log.read_text()


@pytest.mark.matrix
async def test_answers_that_take_too_long_end_with_an_error_part_and_are_stored(serve, upstream, project):
    service = serve(SHUTDOWN_SECONDS="0.5")
    marker = f"stopping-{project.domain}"
    async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as client:
        _, chunks, seen = await begun(client, service, project, context=fake("endless", marker))
        async with connect(service, project) as socket, connect(service, project) as left:
            await socket.send(ask(project, context=fake("endless", marker)))
            first = await take(socket, 12)
            await left.send(ask(project, context=fake("endless", marker)))
            orphan = await take(left, 12)
            left.transport.abort()
            await asyncio.sleep(0.1)
            service.process.send_signal(signal.SIGTERM)
            over_socket = first + await take(socket)
        over_http = await rest(chunks, seen)
    assert over_http[-1] == {"type": "error", "errorText": RESTARTING}
    assert over_socket[-1] == {"type": "error", "errorText": RESTARTING, "status": 503}
    await ended(service)
    for stream in (over_http, over_socket):
        record = await asyncio.to_thread(stored, stream)
        assert (record.state, record.content) == ("interrupted", text(stream))
        assert (record.outcome, record.cut_by) == ("cut", "service")
    assert (await asyncio.to_thread(stored, orphan)).state == "interrupted"
    assert (await asyncio.to_thread(stored, orphan)).content.startswith(text(orphan))
    assert [entry["ended"] for entry in upstream.asked(marker)] == ["closed by the client"] * 3


@pytest.mark.matrix
async def test_without_answers_it_stops_at_once(serve, project):
    service = serve(SHUTDOWN_SECONDS=NEVER)
    async with connect(service, project):
        service.process.send_signal(signal.SIGTERM)
        assert await ended(service) == 0


async def test_killed_it_keeps_question_and_checkpoint_and_calls_them_interrupted_at_start(serve, project):
    service = serve()
    async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as client:
        _, chunks, seen = await begun(client, service, project, context=fake("endless"))
        message_id = json.loads(seen.split("\n\n")[0].removeprefix("data: "))["messageId"]
        checkpoint = Message.objects.filter(message_id=message_id).exclude(content="")
        async with asyncio.timeout(PATIENCE):
            while not await checkpoint.aexists():
                seen += await anext(chunks)
        service.process.kill()
        service.process.wait(PATIENCE)
    kept = await Message.objects.aget(message_id=message_id)
    assert kept.state == "running"
    assert set(kept.content.split()) == {"on"}
    asked = Message.objects.filter(thread=kept.thread_id, role="user")
    assert await asked.filter(content=question()["messages"][0]["parts"][0]["text"]).aexists()
    serve()
    await kept.arefresh_from_db()
    assert kept.state == "interrupted"
    assert (kept.outcome, kept.cut_by, kept.total_ms) == ("cut", "service", None)


@pytest.mark.matrix
async def test_readers_who_take_nothing_do_not_keep_it_alive(serve, upstream, project):
    service = serve(SHUTDOWN_SECONDS="0.5")
    marker = f"unread-{project.domain}"
    body = json.dumps(question(context=fake("endless", marker)))
    port = int(service.url.rsplit(":", 1)[1])
    head = (
        f"POST /discovery/v2/assistant/{project.domain}/message HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        f"Authorization: Bearer {project.assistant_key}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    )
    writers = []
    for _ in range(5):
        _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
        writer.write((head + body).encode())
        await writer.drain()
        writers.append(writer)
    await asyncio.to_thread(wait_for, lambda: len(upstream.asked(marker)) == 5, "the answers to begin")
    service.process.send_signal(signal.SIGTERM)
    assert await ended(service) == 0
    for writer in writers:
        writer.close()


@pytest.mark.matrix
def test_under_uvicorn_interrupted_answers_are_stored(upstream, project, tmp_path):
    """Other servers announce the end by the lifespan protocol; here it is spoken by hand."""
    script = f"""
import asyncio, json
from docsite.asgi import application

async def main():
    inbox, outbox = asyncio.Queue(), asyncio.Queue()
    life = asyncio.create_task(application({{"type": "lifespan"}}, inbox.get, outbox.put))
    await inbox.put({{"type": "lifespan.startup"}})
    assert (await outbox.get())["type"] == "lifespan.startup.complete"
    body = {json.dumps(question(context=fake("endless"))).encode()!r}
    scope = {{
        "type": "http", "method": "POST", "path": "/discovery/v2/assistant/{project.domain}/message",
        "query_string": b"", "http_version": "1.1", "client": ["127.0.0.1", 5], "server": ["127.0.0.1", 80],
        "headers": [(b"host", b"127.0.0.1"), (b"content-type", b"application/json"),
                    (b"authorization", b"Bearer {project.assistant_key}")],
    }}
    requests, seen = asyncio.Queue(), []
    await requests.put({{"type": "http.request", "body": body}})
    async def send(message):
        seen.append(message.get("body", b"").decode())
    request = asyncio.create_task(application(scope, requests.get, send))
    while "text-delta" not in "".join(seen):
        await asyncio.sleep(0.01)
    await inbox.put({{"type": "lifespan.shutdown"}})
    assert (await outbox.get())["type"] == "lifespan.shutdown.complete"
    await life
    print(seen[0])
    await request

asyncio.run(main())
"""
    environment = {**os.environ, "OPENAI_BASE_URL": f"{upstream.url}/v1", "SHUTDOWN_SECONDS": "0.3"}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stderr
    answer = Message.objects.get(thread__project=project.project, role="assistant")
    wait_for(lambda: answer.refresh_from_db() or answer.state == "interrupted", "the record")
    assert answer.content.startswith("on on")
