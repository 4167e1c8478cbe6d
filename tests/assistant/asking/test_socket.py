"""The widget's socket: who may open it, one answer at a time, and how each ends."""

import asyncio
import contextlib
import json
import re

import pytest
import websockets

from assistant.models import Message
from tests.assistant.answering.test_searches import LABELS, SAY, calling
from tests.conftest import PATIENCE, fake, wait_for
from tests.processes import constants
from tests.variants import first_of

INSTALL = "How do I install acme with pip?"
SLOW = constants({"docsite.core.http.ratelimit.SLOW_DOWN_SECONDS": 1.5})


def connect(service, tenant, origin="https://docs.acme.example"):
    return websockets.connect(
        f"{service.ws}/discovery/v1/assistant/{tenant.domain}/socket", origin=origin, max_size=None, proxy=None
    )


def ask(tenant, text=INSTALL, **body):
    message = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": text}]}
    return json.dumps({"type": "ask", "key": tenant.assistant_key, "fp": "reader-1", "messages": [message], **body})


async def read(socket) -> list[dict]:
    """Events up to the end of one answer."""
    events = []
    async with asyncio.timeout(PATIENCE):
        while not events or events[-1]["type"] not in ("finish", "error"):
            events.append(json.loads(await socket.recv()))
    return events


async def test_an_answer_comes_as_v2_events(service, project):
    async with connect(service, project) as socket:
        await socket.send(ask(project, currentPath="/install"))
        events = await read(socket)
    types = [event["type"] for event in events]
    assert types[:8] == [
        *("start", "data-thread", "start-step", "tool-input-start", "tool-input-available"),
        *("tool-output-available", "finish-step", "start-step"),
    ]
    assert types[-3:] == ["text-end", "finish-step", "finish"]
    thread_id = events[0]["messageMetadata"]["threadId"]
    assert events[1] == {"type": "data-thread", "data": {"threadId": thread_id}, "transient": True}
    assert events[-1] == {"type": "finish", "messageMetadata": {"threadId": thread_id}}
    assert events[5]["output"][0]["url"] == "https://docs.acme.example/install#with-pip"
    assert {"type": "data-status", "data": {"rung": "extractive"}, "transient": True} in events
    answer = "".join(event["delta"] for event in events if event["type"] == "text-delta")
    stored = await Message.objects.aget(message_id=events[0]["messageId"])
    assert (stored.content, stored.caller, stored.page_path) == (answer, "web", "/install")


@pytest.mark.matrix
async def test_the_last_question_of_an_address_waits(start, project):
    service = start(LIMIT_ASSISTANT_IP="1/7919s", **SLOW)  # a window that no other test has
    async with connect(service, project) as socket:
        began = asyncio.get_running_loop().time()
        await socket.send(ask(project))
        await socket.recv()
        assert asyncio.get_running_loop().time() - began >= 1.5


async def test_the_searches_of_a_model_come_with_their_results(model_service, project):
    body = calling("FIRST: Let me look.", LABELS, 'CALL: read_page {"path": "/configure"}', SAY)
    async with connect(model_service, project) as socket:
        await socket.send(ask(project, **body))
        events = await read(socket)
    calls = [event for event in events if event["type"] == "tool-input-available"]
    assert [(call["toolName"], call["input"]) for call in calls[1:]] == [
        ("search", {"query": "print a label on a thermal printer"}),
        ("read_page", {"path": "/configure"}),
    ]
    outputs = [event for event in events if event["type"] == "tool-output-available"]
    assert [call["toolCallId"] for call in calls] == [output["toolCallId"] for output in outputs]
    assert [output["output"][0]["path"] for output in outputs] == ["/install", "/guides/labels", "/configure"]
    texts = {part: [event["id"] for event in events if event["type"] == part] for part in ("text-start", "text-end")}
    assert texts["text-start"] == texts["text-end"] == ["txt_1", "txt_2"]
    assert events[-1]["type"] == "finish"


async def test_the_socket_stays_open_for_the_next_question(service, project):
    async with connect(service, project) as socket:
        await socket.send(ask(project))
        thread_id = (await read(socket))[0]["messageMetadata"]["threadId"]
        await socket.send(ask(project, "and from source?", threadId=thread_id))
        events = await read(socket)
    assert events[0]["messageMetadata"]["threadId"] == thread_id
    assert "make install" in "".join(event.get("delta", "") for event in events)


@pytest.mark.parametrize(
    "origin",
    ["https://evil.example", "null", "http://docs.acme.example", "https://127.0.0.1", "https://DOCS.acme.example"],
)
async def test_a_foreign_origin_is_refused_at_the_handshake(service, project, origin):
    origin = origin.replace("https://127.0.0.1", service.url.replace("http:", "https:"))  # the scheme counts, too
    with pytest.raises(websockets.InvalidStatus) as refused:
        await connect(service, project, origin)
    assert refused.value.response.status_code == 403
    assert re.fullmatch("[0-9a-f]{16}", refused.value.response.headers["X-Request-Id"])


async def test_the_services_own_origin_and_none_are_let_in(service, project):
    for origin in (service.url, None):
        async with connect(service, project, origin) as socket:
            await socket.send(ask(project))
            assert (await read(socket))[-1]["type"] == "finish"


@pytest.mark.parametrize(
    ("change", "status"),
    first_of(
        [
            ({"key": "svc_dsc_wrong"}, 401),
            ({"key": None}, 401),
            ({"key": "ADMIN"}, 403),
            ({"key": "FOREIGN"}, 404),
            ({"fp": ""}, 400),
            ({"messages": []}, 400),
            ({"type": "dance"}, 400),
        ],
        3,
    ),
)
async def test_a_refused_question_has_the_status_of_http(service, project, make_project, change, status):
    keys = {"ADMIN": project.admin_key, "FOREIGN": (await asyncio.to_thread(make_project)).assistant_key}
    message = {**json.loads(ask(project)), **change}
    message["key"] = keys.get(message["key"], message["key"])
    async with connect(service, project) as socket:
        await socket.send(json.dumps(message))
        (event,) = await read(socket)
        assert (event["type"], event["status"]) == ("error", status)
        assert event["errorText"]
        await socket.send(ask(project))
        assert (await read(socket))[-1]["type"] == "finish", "the socket goes on"


@pytest.mark.slow
async def test_one_answer_at_a_time(model_service, project):
    async with connect(model_service, project) as socket:
        await socket.send(ask(project, context=fake("slow")))
        while json.loads(await socket.recv())["type"] != "text-delta":
            pass
        await socket.send(ask(project))
        events = [json.loads(await socket.recv())]
        while events[-1]["type"] != "finish":
            events.append(json.loads(await socket.recv()))
    errors = [event for event in events if event["type"] == "error"]
    assert [error["status"] for error in errors] == [409]
    assert "nothing in" in "".join(event.get("delta", "") for event in events), "the running answer is not disturbed"


async def test_stop_ends_the_answer_and_the_upstream(model_service, upstream, project):
    marker = "stopping marker"
    async with connect(model_service, project) as socket:
        await socket.send(ask(project, context=fake("endless", marker)))
        message_id = json.loads(await socket.recv())["messageId"]
        while json.loads(await socket.recv())["type"] != "text-delta":
            pass
        await socket.send('{"type": "stop"}')
        events = await read(socket)
        assert [event["type"] for event in events][-2:] == ["abort", "finish"]
        await socket.send(ask(project, context=fake("happy")))
        assert (await read(socket))[-1]["type"] == "finish"
    assert (await Message.objects.aget(message_id=message_id)).state == "aborted"
    await asyncio.to_thread(
        wait_for, lambda: upstream.last(marker)["ended"] == "closed by the client", "the upstream to be closed"
    )


async def test_a_cut_answer_ends_with_an_error(model_service, project):
    async with connect(model_service, project) as socket:
        await socket.send(ask(project, context=fake("cut")))
        events = await read(socket)
    assert events[-1] == {"type": "error", "errorText": "The answer broke off. Please try again.", "status": 503}


async def close_code(socket) -> int:
    async with asyncio.timeout(PATIENCE):
        await socket.wait_closed()
    return socket.close_code


async def test_a_binary_message_closes_with_4003(service, project):
    async with connect(service, project) as socket:
        await socket.send(b"\x00")
        assert await close_code(socket) == 4003


async def test_a_message_over_2_mib_closes_with_4009(service, project):
    async with connect(service, project) as socket:
        await socket.send("x" * (2 * 1024 * 1024 + 1))
        assert await close_code(socket) == 4009


@pytest.mark.matrix
async def test_without_a_valid_message_it_closes_with_4008(service, project):
    """Also for those who keep talking: nobody holds a socket open without a key."""
    first = ["", '{"type": "ask"}', '{"type": "ask", "key": "svc_dsc_bogus"}', '{"type": "stop"}']

    async def code(message: str) -> int:
        async with connect(service, project) as socket:
            if message:
                await socket.send(message)
            return await close_code(socket)

    assert set(await asyncio.gather(*map(code, first))) == {4008}


@pytest.mark.parametrize("message", ["", "{", "[]", '"x"', '{"type": NaN}', "{" * 3])
async def test_nonsense_is_an_error_and_the_socket_survives(service, project, message):
    async with connect(service, project) as socket:
        await socket.send(message)
        (event,) = await read(socket)
        assert (event["type"], event["status"]) == ("error", 400)


@pytest.mark.matrix
async def test_the_limit_is_shared_with_http(start, project, http):
    service = start(LIMIT_ASSISTANT_ORG="1/d")
    url = f"{service.url}/discovery/v1/assistant/{project.domain}/message"
    body = {"fp": "x", "messages": [{"role": "user", "content": INSTALL}]}
    assert http.post(url, json=body, headers=project.assistant).status_code == 200
    async with connect(service, project) as socket:
        await socket.send(ask(project))
        (event,) = await read(socket)
    assert event["status"] == 429
    assert event["retryAfter"] >= 1


LARGE = "[" * 1_000_000


@pytest.mark.parametrize(
    ("message", "status"),
    [
        (LARGE, 401),
        ('{"type": "ask", "key": "svc_dsc_bogus", "x": ' + LARGE, 401),
        ('{"type": "ask", "x": "' + "a" * 100_000 + '", "key": "KEY", "y": ' + LARGE, 400),
        ('{"type": "ask", "key": "OTHER", "x": ' + LARGE, 404),
    ],
)
async def test_the_key_of_a_large_message_is_checked_before_it_is_parsed(
    service, project, make_project, message, status
):
    other = await asyncio.to_thread(make_project)
    message = message.replace("KEY", project.assistant_key).replace("OTHER", other.assistant_key)
    async with connect(service, project) as socket:
        await socket.send(message)
        (event,) = await read(socket)
        assert (event["type"], event["status"]) == ("error", status)


async def test_a_large_question_is_answered(service, project):
    async with connect(service, project) as socket:
        await socket.send(ask(project, context=[{"value": "x" * 30_000}] * 10))
        assert (await read(socket))[-1]["type"] == "finish"


@pytest.mark.matrix
async def test_an_address_may_open_so_many_sockets(start, project):
    service = start(MAX_RUNNING_ANSWERS_IP="2")
    async with connect(service, project), connect(service, project):
        with pytest.raises(websockets.InvalidStatus) as refused:
            await connect(service, project)
        assert refused.value.response.status_code == 403
    async with asyncio.timeout(PATIENCE):
        while True:  # the others are closed
            with contextlib.suppress(websockets.InvalidStatus):
                async with connect(service, project) as socket:
                    await socket.send(ask(project))
                    assert (await read(socket))[-1]["type"] == "finish"
                    return


@pytest.mark.matrix
async def test_a_socket_without_a_further_question_is_closed(start, upstream, project):
    service = start(OPENAI_BASE_URL=f"{upstream.url}/v1", **constants({"assistant.asking.consumers.IDLE_SECONDS": 0.5}))
    async with connect(service, project) as socket:
        for context in (fake("slow"), fake("happy")):  # an answer may take longer
            await socket.send(ask(project, context=context))
            assert (await read(socket))[-1]["type"] == "finish"
        await socket.send('{"type": "stop"}')
        assert await close_code(socket) == 4008


async def test_who_sends_faster_than_messages_are_handled_is_cut_off(service, project):
    async with connect(service, project) as socket:
        async with asyncio.timeout(PATIENCE):
            while socket.state is websockets.State.OPEN:
                with contextlib.suppress(websockets.ConnectionClosed):
                    await asyncio.gather(*(socket.send('{"type": "x"}') for _ in range(1_000)))
    async with connect(service, project) as socket:
        await socket.send(ask(project))
        assert (await read(socket))[-1]["type"] == "finish"
