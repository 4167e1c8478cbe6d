"""Readers who leave, who stop reading, and who are too many: nobody else notices, and nothing is left behind.

Ways to leave: the connection closes (v1, v2), is reset, or the socket says
`stop`; before the request is answered at all, before the first token, and after it.
"""

import asyncio
import itertools
import json
import re
import socket
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
import websockets
from websockets.sync.client import connect

from assistant.answering import pipeline
from assistant.answering.question import Question
from assistant.answering.record import Outcome
from assistant.answering.retriever import Retrieved
from assistant.models import Message, Thread
from assistant.upstream.relay import ModelChain
from tests.conftest import PATIENCE, assert_error, fake, question, wait_for
from tests.processes import constants
from tests.variants import first_of

pytestmark = pytest.mark.slow

INSTALL = "How do I install acme with pip?"
ORIGIN = "https://docs.acme.example"
AT_ONCE = 20  # readers in a wave; more than the database's threads, so that these all exist after one wave
NEVER = "3600"  # seconds: a limit that no test waits for


@pytest.fixture(scope="module")
def model(start: Any, upstream: Any) -> Any:
    """A service of these tests' own, since its open files are counted. Huge answers must not use up its tokens."""
    more = {"OPENAI_MODEL": "fake-1", "DAILY_TOKENS_PER_PROJECT": "1000000000"}
    # A silent answer ends when its reader leaves, and for no other reason.
    for name in ("OPENAI_FIRST_TOKEN_SECONDS", "OPENAI_BETWEEN_TOKENS_SECONDS", "OPENAI_ANSWER_SECONDS"):
        more[name] = NEVER
    silent = constants({"assistant.running_answers.running.KEEP_ALIVE_SECONDS": float(NEVER)})
    return start.fresh(OPENAI_BASE_URL=f"{upstream.url}/v1", **more, **silent)


@pytest.fixture(scope="module")
def narrow(start: Any, upstream: Any) -> Any:
    """A service with two slots."""
    more = {"OPENAI_MODEL": "fake-1", "MAX_RUNNING_ANSWERS": "2"}
    return start.fresh(OPENAI_BASE_URL=f"{upstream.url}/v1", **more)


def body_of(mode: str, marker: str, protocol: str = "v1") -> dict[str, Any]:
    body = question(INSTALL, context=fake(mode, marker))
    if protocol != "v1":
        body["trigger"] = "submit-message"
        body["messages"] = [{"id": "m1", "role": "user", "parts": [{"type": "text", "text": INSTALL}]}]
    return body


def address(service: Any, tenant: Any, protocol: str) -> str:
    return f"{service.url}/discovery/{protocol}/assistant/{tenant.domain}/message"


def raw_request(tenant: Any, protocol: str, mode: str, marker: str) -> bytes:
    """The same request for a bare connection."""
    body = json.dumps(body_of(mode, marker, protocol)).encode()
    head = f"POST /discovery/{protocol}/assistant/{tenant.domain}/message HTTP/1.1\r\nHost: localhost\r\n"
    fields = f"Authorization: Bearer {tenant.assistant_key}\r\nContent-Type: application/json\r\n"
    return f"{head}{fields}Content-Length: {len(body)}\r\n\r\n".encode() + body


def socket_of(service: Any, tenant: Any) -> str:
    return f"{service.ws}/discovery/v1/assistant/{tenant.domain}/socket"


def socket_ask(tenant: Any, mode: str, marker: str) -> str:
    return json.dumps({"type": "ask", "key": tenant.assistant_key, **body_of(mode, marker, "socket")})


def status(service: Any, name: str) -> int:
    """A number of the process's status, such as `Threads`, or `VmRSS` in kB."""
    text = Path(f"/proc/{service.process.pid}/status").read_text()
    return int(re.findall(rf"^{name}:\s+(\d+)", text, re.MULTILINE)[0])


def open_files(service: Any) -> int:
    return len(list(Path(f"/proc/{service.process.pid}/fd").iterdir()))


def open_sockets(service: Any) -> int:
    """Its connections. Each of its threads keeps files of the database open, and there may come more."""
    count = 0
    for link in Path(f"/proc/{service.process.pid}/fd").iterdir():
        with suppress(FileNotFoundError):  # closed meanwhile
            count += str(link.readlink()).startswith("socket:")
    return count


def at_rest(service: Any) -> tuple[int, int]:
    """Its open files and threads, when those that are about to end have ended."""
    counts = [(-1, -1)]
    while counts[-3:] != [counts[-1]] * 3:
        time.sleep(0.1)
        counts.append((open_files(service), status(service, "Threads")))
    return counts[-1]


def answers(tenant: Any) -> Any:
    return Message.objects.filter(thread__project=tenant.project, role="assistant")


def assert_answers(http: httpx.Client, service: Any, tenant: Any) -> None:
    """A happy question gets its whole answer."""
    response = http.post(address(service, tenant, "v1"), json=body_of("happy", ""), headers=tenant.assistant)
    assert response.status_code == 200, response.text
    assert answers(tenant).order_by("-pk")[0].content.endswith("nothing in.")


# ---- Who leaves.

WAYS = [
    # protocol, mode, what the reader waits for, how it leaves
    ("v1", "endless", b'\n0:"', "close"),
    ("v1", "endless", b'\n0:"', "reset"),
    ("v1", "silent", b'"rung":"model"', "close"),
    ("v1", "hang", b'"rung":"model"', "reset"),
    ("v1", "endless", b"", "close"),
    ("v2", "endless", b"text-delta", "close"),
    ("v2", "endless", b"text-delta", "reset"),
    ("v2", "silent", b"data-status", "close"),
    ("v2", "silent", b"", "reset"),
    ("socket", "endless", b"text-delta", "stop"),
    ("socket", "silent", b"data-status", "stop"),
]


async def come_and_leave(service: Any, tenant: Any, way: tuple[str, str, bytes, str], marker: str) -> float:
    """Ask, read up to what is waited for, leave; returns when that was."""
    protocol, mode, wanted, how = way
    async with asyncio.timeout(PATIENCE):
        if protocol == "socket":
            async with websockets.connect(socket_of(service, tenant), origin=ORIGIN, proxy=None) as opened:
                await opened.send(socket_ask(tenant, mode, marker))
                while wanted not in (await opened.recv()).encode():
                    pass
                left = time.monotonic()
                await opened.send('{"type": "stop"}')
                while json.loads(await opened.recv())["type"] != "finish":
                    pass
                return left
        reader, writer = await asyncio.open_connection("127.0.0.1", int(service.url.rsplit(":", 1)[1]))
        writer.write(raw_request(tenant, protocol, mode, marker))
        await writer.drain()
        seen = b""
        while wanted not in seen:
            chunk = await reader.read(65536)
            assert chunk, "the answer ended by itself"
            seen += chunk
        left = time.monotonic()
        if how == "reset":
            writer.transport.abort()  # unread bytes make the system send a reset
        else:
            writer.close()
        return left


async def wave(service: Any, tenant: Any, marker: str, readers: int) -> dict[str, float]:
    """Many readers who leave, in all ways; returns when each did, by its marker."""
    room = asyncio.Semaphore(AT_ONCE)

    async def one(number: int) -> tuple[str, float]:
        async with room:
            own = f"{marker}-{number}-"
            return own, await come_and_leave(service, tenant, WAYS[number % len(WAYS)], own)

    return dict(await asyncio.gather(*map(one, range(readers))))


@pytest.mark.matrix
@pytest.mark.parametrize("readers", [40, 100])  # of one wave
def test_waves_of_readers_who_leave_leave_nothing_behind(http, model, upstream, project, readers):
    used = []
    for turn in (1, 2, 3):
        marker = f"left-{uuid.uuid4().hex}"
        began = time.monotonic()
        left = asyncio.run(wave(model, project, marker, readers))
        seconds = time.monotonic() - began
        wait_for(lambda: not answers(project).filter(state="running").exists(), "the partial answers to be stored")
        wait_for(lambda marker=marker: all(e["ended"] for e in upstream.asked(marker)), "the upstreams to be closed")
        asked = upstream.asked(marker)
        assert {entry["ended"] for entry in asked} == {"closed by the client"}
        late = []
        for entry in asked:
            own = re.findall(rf"{marker}-\d+-", entry["messages"][-1]["content"])[0]
            late.append(entry["ended_at"] - left[own])
        after_a_token = sum(mode == "endless" and bool(wanted) for _, mode, wanted, _ in WAYS)
        assert len(late) >= readers * after_a_token // len(WAYS)
        # A busy machine slows down the readers of the wave as much as the service.
        assert max(late) < max(1.0, seconds), "a reader who leaves cancels the upstream call within a second"

        mine = answers(project).order_by("pk")
        assert set(mine.values_list("state", flat=True)) == {"aborted"}
        assert mine.filter(content__startswith="on").count() >= turn * (readers * after_a_token // len(WAYS))
        used.append(at_rest(model))
    # What readers leave behind grows with every wave; a thread that only now got its connection does not.
    files, threads = zip(*used, strict=True)
    assert min(later - before for before, later in itertools.pairwise(files)) <= 5
    assert min(later - before for before, later in itertools.pairwise(threads)) <= 2
    assert_answers(http, model, project)
    assert "Traceback" not in model.log.read_text()


@pytest.mark.parametrize(
    "way",
    [*WAYS[:4], *(pytest.param(way, marks=pytest.mark.matrix) for way in WAYS[4:])],
    ids=lambda way: "-".join([way[0], way[1], way[3]]),
)
def test_the_text_so_far_is_stored_when_the_reader_leaves(model, upstream, project, way):
    marker = uuid.uuid4().hex
    asyncio.run(come_and_leave(model, project, way, marker))
    if way[2]:
        wait_for(lambda: answers(project).filter(state="aborted").exists(), "the partial answer to be stored")
        (answer,) = answers(project)
        assert answer.rung == "model"
        assert (answer.outcome, answer.cut_by) == ("cut", "reader" if way[3] == "stop" else "connection")
        assert answer.content.startswith("on") if way[1] == "endless" else answer.content == ""
    else:  # whether the request was begun at all depends on who was faster
        time.sleep(0.3)
    wait_for(lambda: all(entry["ended"] for entry in upstream.asked(marker)), "the upstream to be closed")
    wait_for(lambda: set(answers(project).values_list("state", flat=True)) <= {"aborted"}, "the answer to end")


@pytest.mark.parametrize("protocol", first_of(["v1", "v2"], 1))
def test_a_reader_who_leaves_as_the_answer_ends_leaves_no_answer_running(service, project, protocol):
    """Quotes come at once, so their readers leave at every moment of the end."""
    way = (protocol, "happy", b"Installing acme", "close")

    async def many() -> None:
        await asyncio.gather(*(come_and_leave(service, project, way, "") for _ in range(20)))

    asyncio.run(many())
    wait_for(lambda: not answers(project).filter(state="running").exists(), "the answers to be stored")
    for answer in answers(project):
        assert answer.state == "aborted" or "pip install acme" in answer.content


async def test_leaving_while_a_whole_answer_is_being_stored_does_not_lose_it():
    """The same without luck: the reader leaves in the middle of the last save."""
    saved: list[str] = []
    saving = asyncio.Event()

    class Slow:
        thread_id, message_id, history = "thr_x", "msg_x", ()

        async def save(self, outcome: Outcome) -> None:
            saving.set()
            await asyncio.sleep(0.05)
            saved.append(outcome.state)

    class Library:
        async def search(self, question: Question, passage_tokens: int) -> Retrieved:
            return Retrieved([], 0.9, {})

    async def read() -> None:
        async for _ in pipeline.answer(Question("words"), Slow(), Library(), ModelChain(), Outcome()):
            pass

    reading = asyncio.create_task(read())
    await saving.wait()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert saved[-1:] in (["done"], ["aborted"])


# ---- Who stops reading.


@contextmanager
def neglected(service: Any, tenant: Any, number: int, marker: str) -> Iterator[None]:
    """Connections that ask for more than fits and never read."""
    opened = []
    for protocol in itertools.islice(itertools.cycle(["v1", "v2"]), number):
        reader = socket.socket()
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        reader.connect(("127.0.0.1", int(service.url.rsplit(":", 1)[1])))
        reader.sendall(raw_request(tenant, protocol, "huge", marker))
        opened.append(reader)
    yield
    for reader in opened:
        reader.close()


@pytest.mark.matrix
@pytest.mark.parametrize("number", [15, 50])
def test_readers_who_stop_reading_disturb_nobody(http, model, upstream, project, number):
    assert_answers(http, model, project)
    sockets, memory = open_sockets(model), status(model, "VmRSS")
    marker = uuid.uuid4().hex
    with neglected(model, project, number, marker):
        wait_for(lambda: len(upstream.asked(marker)) == number, "all of them to be answered")
        for _ in range(3):
            assert_answers(http, model, project)
        with http.stream(
            "POST", address(model, project, "v2"), json=body_of("slow", "", "v2"), headers=project.assistant
        ) as response:
            arrived = [time.monotonic() for chunk in response.iter_raw() if b"text-delta" in chunk]
        longest = max(late - early for early, late in itertools.pairwise(arrived))
        assert longest < (arrived[-1] - arrived[0]) / 2, "the others' streams flow"
        assert status(model, "VmRSS") - memory < 2_000 * number, "what waits for a reader is bounded"
    wait_for(lambda: all(entry["ended"] for entry in upstream.asked(marker)), "the upstreams to be closed")
    wait_for(lambda: not answers(project).filter(state="running").exists(), "their answers to be stored")
    wait_for(lambda: open_sockets(model) <= sockets + 5, "their connections to be closed")
    assert_answers(http, model, project)


# ---- Who is one too many.


@pytest.mark.matrix
def test_one_answer_too_many_is_refused_until_a_slot_is_free(http, narrow, upstream, project):
    marker = uuid.uuid4().hex
    request = {"json": body_of("happy", marker), "headers": project.assistant}
    with httpx.Client(trust_env=False, timeout=PATIENCE) as other, connect(
        socket_of(narrow, project), origin=ORIGIN, proxy=None
    ) as opened:  # fmt: skip
        running = {"json": body_of("endless", "", "v2"), "headers": project.assistant}
        with other.stream("POST", address(narrow, project, "v2"), **running) as first:
            assert first.status_code == 200
            with other.stream("POST", address(narrow, project, "v2"), **running) as second:
                assert second.status_code == 200
                for protocol in ("v1", "v2"):
                    refused = http.post(
                        address(narrow, project, protocol), **{**request, "json": body_of("happy", marker)}
                    )
                    body = assert_error(refused, 503)
                    assert "Too many answers" in body["error"]
                    assert int(refused.headers["retry-after"]) >= 1
                opened.send(socket_ask(project, "happy", marker))
                event = json.loads(opened.recv(timeout=PATIENCE))
                assert (event["type"], event["status"]) == ("error", 503)
                assert event["retryAfter"] >= 1
                assert "Too many answers" in event["errorText"]
                assert upstream.asked(marker) == []
                assert Thread.objects.filter(project=project.project).count() == 2, "what is refused is not stored"
            wait_for(
                lambda: http.post(address(narrow, project, "v1"), **request).status_code == 200, "a slot to be free"
            )
            wait_for(lambda: answers(project).filter(state="done").count() == 1, "its answer")
            opened.send(socket_ask(project, "happy", marker))
            while (event := json.loads(opened.recv(timeout=PATIENCE)))["type"] != "finish":
                assert event["type"] != "error"


@pytest.mark.matrix
def test_answers_at_once_are_limited_by_address_and_organization(http, start, upstream, project, make_project):
    limits = {"MAX_RUNNING_ANSWERS_IP": "1", "MAX_RUNNING_ANSWERS_ORG": "2", "TRUSTED_PROXIES": "127.0.0.1"}
    service = start(OPENAI_BASE_URL=f"{upstream.url}/v1", OPENAI_MODEL="fake-1", **limits)

    def request(tenant: Any, client: str, mode: str) -> dict[str, Any]:
        headers = {**tenant.assistant, "X-Forwarded-For": client}
        return {"url": address(service, tenant, "v1"), "json": body_of(mode, ""), "headers": headers}

    first, second, third = "2001:db8:5:1::1", "2001:db8:5:2::1", "2001:db8:5:3::1"
    with http.stream("POST", **request(project, first, "endless")) as running:
        assert running.status_code == 200
        neighbour = http.post(**request(make_project(), "2001:db8:5:1:ffff::1", "happy"))  # of the same /64
        assert "Too many answers" in assert_error(neighbour, 503)["error"]
        with http.stream("POST", **request(project, second, "endless")) as running:
            assert running.status_code == 200
            assert "Too many answers" in assert_error(http.post(**request(project, third, "happy")), 503)["error"]
            assert http.post(**request(make_project(), third, "happy")).status_code == 200


@pytest.mark.matrix
def test_every_end_of_an_answer_gives_its_slot_back(http, narrow, project):
    headers = project.assistant
    for mode in ("status401", "cut", "malformed_start", "huge"):
        for each in (mode, mode, mode, "happy"):  # never so many failures that the model server would rest
            response = http.post(address(narrow, project, "v1"), json=body_of(each, ""), headers=headers)
            assert response.status_code == 200, mode
    for way in (WAYS[0], WAYS[2], WAYS[5], WAYS[9], WAYS[10]):
        for _ in range(2):
            asyncio.run(come_and_leave(narrow, project, way, ""))
            wait_for(lambda: not answers(project).filter(state="running").exists(), "the answer to end")
    bad = http.post(address(narrow, project, "v1"), json={"fp": "x"}, headers=headers)
    assert bad.status_code == 400
    assert_answers(http, narrow, project)
    assert_answers(http, narrow, project)
