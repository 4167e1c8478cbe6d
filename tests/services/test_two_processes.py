"""An answer of one process, resumed and stopped in another, over a real Redis."""

import asyncio
import random
import time

import httpx
import pytest

from tests.assistant.asking.test_message_v2 import events, text
from tests.assistant.asking.test_socket import ask, connect
from tests.assistant.running_answers.test_resume import (
    asked_and_left,
    chat,
    resume,
    stored,
    take,
    until,
)
from tests.conftest import PATIENCE, fake
from tests.processes import constants
from tests.variants import first_of

pytestmark = pytest.mark.services

SLACK = 25.0  # seconds, of a busy machine; nobody would notice otherwise


@pytest.fixture(scope="module")
def processes(start, upstream, redis):
    """Two processes of one service."""
    environment = {
        "OPENAI_BASE_URL": f"{upstream.url}/v1",
        "REDIS_URL": redis,
        **constants({"assistant.running_answers.running.KEEP_ALIVE_SECONDS": 0.5}),
    }
    return start(**environment), start.fresh(**environment)


@pytest.fixture
async def client():
    async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as client:
        yield client


@pytest.mark.parametrize("cut_after", first_of([9, 1, 20], 1))
async def test_a_socket_goes_on_in_the_other_process(processes, project, cut_after):
    one, other = processes
    async with connect(one, project) as socket:
        await socket.send(ask(project, context=fake("slow")))
        seen = await take(socket, cut_after)
        socket.transport.abort()
    await asyncio.sleep(0.1)
    async with connect(other, project) as socket:
        await socket.send(resume(project, seen[0], len(seen)))
        seen += await take(socket)
    assert seen[-1]["type"] == "finish"
    assert text(seen) == (await asyncio.to_thread(stored, seen[0])).content


@pytest.mark.matrix
async def test_random_cuts_between_two_processes_lose_and_double_nothing(processes, project):
    async def unlucky(seed: int) -> None:
        chance = random.Random(seed)
        fp = f"reader-{seed}"
        seen: list[dict] = []
        for cut in range(8):
            async with connect(chance.choice(processes), project) as socket:
                await socket.send(
                    resume(project, seen[0], len(seen), {"fp": fp})
                    if seen
                    else ask(project, fp=fp, context=fake("slow"))
                )
                seen += await take(socket, chance.randint(1, 5) if cut < 7 else 10_000)
                assert seen[-1]["type"] != "error", seen[-1]
                if seen[-1]["type"] == "finish":
                    break
                await asyncio.sleep(0.1 + chance.random() * 0.1)
                socket.transport.abort()
        assert seen[-1]["type"] == "finish"
        assert text(seen) == (await asyncio.to_thread(stored, seen[0])).content

    await asyncio.gather(*(unlucky(seed) for seed in range(12)))


@pytest.mark.matrix
async def test_v2_replays_in_the_other_process(client, processes, project):
    one, other = processes
    page = {"Origin": "https://docs.acme.example"}  # the two have no host in common, as they would behind a proxy
    headers = {**project.assistant, **page}
    got = await asked_and_left(client, one, project, 12, headers=page)
    await asyncio.sleep(0.1)
    response = await client.get(chat(other, project), headers=headers)
    stream = events(response)
    assert response.text.replace(": keep-alive\n\n", "").startswith("".join(got))
    assert text(stream) == (await asyncio.to_thread(stored, stream[0])).content
    assert (await client.get(chat(other, project), headers=headers)).status_code == 204
    await asked_and_left(client, one, project, 12, headers=page)
    await asyncio.sleep(0.1)
    assert (await client.get(chat(other, project), headers=project.assistant)).status_code == 204, "another origin"
    assert (await client.get(chat(other, project), headers=headers)).status_code == 200


async def test_a_reader_in_the_other_process_keeps_it_running_and_can_stop_it(processes, upstream, project, start):
    marker = f"afar-{project.domain}"
    one, other = processes
    async with connect(one, project) as socket:
        await socket.send(ask(project, context=fake("endless", marker)))
        seen = await take(socket, 15)
    await asyncio.sleep(0.1)
    async with connect(other, project) as socket:
        await socket.send(resume(project, seen[0], len(seen)))
        await take(socket, 20)
        await socket.send('{"type": "stop"}')
        rest = await take(socket)
    assert [event["type"] for event in rest][-2:] == ["abort", "finish"]
    await until(lambda: upstream.last(marker)["ended"] == "closed by the client", "the upstream to be closed")
    assert (await asyncio.to_thread(stored, seen[0])).state == "aborted"


async def test_stop_over_http_reaches_the_other_process(client, processes, upstream, project):
    marker = f"stop-afar-{project.domain}"
    one, other = processes
    async with connect(one, project) as socket:
        await socket.send(ask(project, context=fake("endless", marker)))
        seen = await take(socket, 15)
        body = {
            "fp": "reader-1",
            "threadId": seen[0]["messageMetadata"]["threadId"],
            "messageId": seen[0]["messageId"],
        }
        url = f"{other.url}/discovery/v2/assistant/{project.domain}/stop"
        assert (await client.post(url, json=body, headers=project.assistant)).status_code == 204
        rest = await take(socket)
    assert [event["type"] for event in rest][-2:] == ["abort", "finish"]
    await until(lambda: upstream.last(marker)["ended"] == "closed by the client", "the upstream to be closed")


@pytest.mark.matrix
async def test_when_its_process_dies_the_reader_elsewhere_gets_an_error(start, upstream, redis, project):
    environment = {"OPENAI_BASE_URL": f"{upstream.url}/v1", "REDIS_URL": redis}
    one, other = start.fresh(**environment), start.fresh(**environment)
    async with connect(one, project) as socket:
        await socket.send(ask(project, context=fake("endless")))
        seen = await take(socket, 15)
    await asyncio.sleep(0.2)
    async with connect(other, project) as socket:
        await socket.send(resume(project, seen[0], len(seen)))
        await take(socket, 1)
        one.process.kill()
        killed = time.monotonic()
        end = (await take(socket))[-1]
    assert (end["type"], end["status"]) == ("error", 503)
    assert time.monotonic() - killed < 3 + SLACK


@pytest.mark.matrix
async def test_an_answer_is_known_elsewhere_from_its_first_event_on(processes, project):
    one, other = processes
    for _ in range(5):
        async with connect(one, project) as socket:
            await socket.send(ask(project, context=fake("slow")))
            seen = await take(socket, 1)
            socket.transport.abort()
        async with connect(other, project) as socket:
            await socket.send(resume(project, seen[0], len(seen)))
            seen += await take(socket)
        assert text(seen) == (await asyncio.to_thread(stored, seen[0])).content


@pytest.mark.matrix
async def test_what_is_forgotten_here_ends_there(client, processes, upstream, project):
    one, other = processes
    marker = f"forgotten-{project.domain}"
    async with connect(one, project) as socket:
        await socket.send(ask(project, context=fake("endless", marker)))
        seen = await take(socket, 15)
        body = {"fp": "reader-1", "threadId": seen[0]["messageMetadata"]["threadId"]}
        url = f"{other.url}/discovery/v1/assistant/{project.domain}/forget"
        assert (await client.post(url, json=body, headers=project.assistant)).status_code == 204
        assert [event["type"] for event in await take(socket)][-2:] == ["abort", "finish"]
    await until(lambda: upstream.last(marker)["ended"] == "closed by the client", "the upstream to be closed")
    await asyncio.sleep(0.5)
    async with connect(other, project) as socket:
        await socket.send(resume(project, seen[0], 1))
        (refusal,) = await take(socket)
    assert (refusal["type"], refusal["status"]) == ("error", 404)


@pytest.mark.matrix
async def test_a_redis_that_restarts_without_its_memory_costs_no_token(start, upstream, project, own_redis):
    url, restart = own_redis
    environment = {"OPENAI_BASE_URL": f"{upstream.url}/v1", "REDIS_URL": url}
    one, other = start.fresh(**environment), start.fresh(**environment)
    for cut_after in (3, 10):
        async with connect(one, project) as socket:
            await socket.send(ask(project, context=fake("slow")))
            seen = await take(socket, cut_after)
            await asyncio.to_thread(restart)
            socket.transport.abort()
        await asyncio.sleep(1.3)  # until the process tells the new one
        async with connect(other, project) as socket:
            await socket.send(resume(project, seen[0], len(seen)))
            seen += await take(socket)
        assert seen[-1]["type"] == "finish", seen[-1]
        assert text(seen) == (await asyncio.to_thread(stored, seen[0])).content
    async with connect(one, project) as socket:
        await socket.send(ask(project, context=fake("slow")))
        seen = await take(socket, 9)
        socket.transport.abort()
    async with connect(other, project) as socket:
        await socket.send(resume(project, seen[0], len(seen)))
        seen += await take(socket, 4)
        await asyncio.to_thread(restart)
        seen += await take(socket)
    assert text(seen) == (await asyncio.to_thread(stored, seen[0])).content, "also for one who is reading elsewhere"
