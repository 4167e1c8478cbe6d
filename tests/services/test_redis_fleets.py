"""Two processes of the service over a real cluster of Redis, and over a real Sentinel that fails over."""

import asyncio
import subprocess
from collections.abc import Iterator

import httpx
import pytest

from tests.assistant.asking.test_message_v2 import text
from tests.assistant.asking.test_socket import ask, connect
from tests.assistant.running_answers.test_resume import resume, stored, take, until
from tests.conftest import PATIENCE, fake, question, wait_for
from tests.grown.parts import Part
from tests.grown.profile import Profile
from tests.ports import free_port
from tests.services.conftest import start_redis

pytestmark = pytest.mark.services


def cli(port: int, *command: str) -> str:
    """What redis-cli prints."""
    ran = subprocess.run(["redis-cli", "-p", str(port), *command], capture_output=True, text=True)
    return ran.stdout


@pytest.fixture(scope="module")
def cluster(tmp_path_factory) -> Iterator[str]:
    """Address of a cluster of three nodes."""
    ports = [free_port() for _ in range(3)]
    nodes = []
    for port in ports:
        folder = tmp_path_factory.mktemp("node")
        nodes.append(
            start_redis(port, "--cluster-enabled", "yes", "--cluster-port", str(free_port()), "--dir", str(folder))
        )
    hosts = [f"127.0.0.1:{port}" for port in ports]
    subprocess.run(["redis-cli", "--cluster", "create", *hosts, "--cluster-yes"], check=True, capture_output=True)
    wait_for(lambda: all("cluster_state:ok" in cli(port, "cluster", "info") for port in ports), "the cluster")
    yield f"redis+cluster://{hosts[0]},{hosts[1]}"
    for node in nodes:
        node.kill()
        node.wait(PATIENCE)


@pytest.fixture(scope="module")
def sentinel() -> Iterator[tuple[str, Part]]:
    """Address of a primary with a replica behind three Sentinels, of which the first is away, and the primary."""
    profile = Profile()
    profile.start_redis()
    profile.parts["sentinel-1"].kill()
    yield profile.environment["REDIS_URL"], profile.parts["redis-1"]
    profile.end()


@pytest.fixture(scope="module")
def start_two(start, upstream):
    """Start two processes of one service over a Redis."""

    def start_two(url: str, **environment: str):
        environment |= {"OPENAI_BASE_URL": f"{upstream.url}/v1", "REDIS_URL": url}
        return start.fresh(**environment), start.fresh(**environment)

    return start_two


async def answer_across(one, other, upstream, project, marker: str) -> None:
    """An answer goes on in the other process, and another one is stopped from there."""
    async with connect(one, project) as socket:
        await socket.send(ask(project, context=fake("slow"), id=f"chat-{marker}"))
        seen = await take(socket, 9)
        socket.transport.abort()
    async with connect(other, project) as socket:
        await socket.send(resume(project, seen[0], len(seen)))
        seen += await take(socket)
    assert seen[-1]["type"] == "finish", seen[-1]
    assert text(seen) == (await asyncio.to_thread(stored, seen[0])).content
    async with connect(one, project) as socket:
        await socket.send(ask(project, context=fake("endless", marker)))
        seen = await take(socket, 15)
    async with connect(other, project) as socket:
        await socket.send(resume(project, seen[0], len(seen)))
        await take(socket, 5)
        await socket.send('{"type": "stop"}')
        assert [event["type"] for event in await take(socket)][-2:] == ["abort", "finish"]
    await until(lambda: upstream.last(marker)["ended"] == "closed by the client", "the upstream to be closed")


@pytest.mark.matrix
async def test_a_cluster_keeps_answers_and_counts_limits(cluster, start_two, upstream, project):
    one, other = start_two(cluster, LIMIT_ASSISTANT_IP="5/h")
    await answer_across(one, other, upstream, project, f"cluster-{project.domain}")
    async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as http:

        async def post(service) -> int:
            url = f"{service.url}/discovery/v1/assistant/{project.domain}/message"
            return (
                await http.post(url, json=question("How do I install acme?"), headers=project.assistant)
            ).status_code

        statuses = await asyncio.gather(*(post(service) for service in (one, other) * 4))
        assert sorted(statuses) == [200] * 3 + [429] * 5, "two were asked before"
        for service in (one, other):
            assert (await http.get(f"{service.url}/health/ready")).json()["limits"] == "ok"
    lines = [line for service in (one, other) for line in service.log.read_text().splitlines()]
    failures = [line for line in lines if "Redis does not work" in line]
    assert [line for line in failures if "TimeoutError" not in line] == []  # 0.25 s are few on a busy machine


@pytest.mark.matrix  # a cluster is the other fleet
async def test_after_a_failover_of_sentinel_answers_go_on(sentinel, start_two, upstream, project):
    url, primary = sentinel
    one, other = start_two(url)
    await answer_across(one, other, upstream, project, f"before-{project.domain}")
    async with connect(one, project) as socket:
        await socket.send(ask(project, context=fake("endless", f"during-{project.domain}")))
        seen = await take(socket, 15)
        await asyncio.to_thread(primary.kill)
        seen += await take(socket, 15)
        await socket.send('{"type": "stop"}')
        assert (await take(socket))[-1]["type"] == "finish", "its reader loses nothing"
    async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as http:

        async def is_ready(service) -> bool:
            return (await http.get(f"{service.url}/health/ready")).status_code == 200

        for service in (one, other):
            async with asyncio.timeout(PATIENCE):
                while not await is_ready(service):
                    await asyncio.sleep(0.1)
    await answer_across(one, other, upstream, project, f"after-{project.domain}")
