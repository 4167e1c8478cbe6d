"""Going on with an answer: after a reload, a lost network, in another tab; and who may not."""

import asyncio
import json
import random

import httpx
import pytest
import websockets

from assistant.models import Message
from tests.assistant.asking.test_message_v2 import address, events, question, text
from tests.assistant.asking.test_socket import ask, connect
from tests.conftest import PATIENCE, fake, wait_for
from tests.variants import first_of

pytestmark = pytest.mark.slow


def resume(tenant, first, after, change=None):
    return json.dumps(
        {
            "type": "resume", "key": tenant.assistant_key, "fp": "reader-1", "after": after,
            "threadId": first["messageMetadata"]["threadId"], "messageId": first["messageId"], **(change or {}),
        }
    )  # fmt: skip


async def take(socket, limit=10_000) -> list[dict]:
    """Events up to the end of an answer, or as many as asked for."""
    seen = []
    async with asyncio.timeout(PATIENCE):
        while len(seen) < limit and (not seen or seen[-1]["type"] not in ("finish", "error")):
            seen.append(json.loads(await socket.recv()))
    return seen


def stored(first) -> Message:
    return Message.objects.get(message_id=first["messageId"])


async def until(condition, what) -> None:
    await asyncio.to_thread(wait_for, condition, what)


@pytest.mark.parametrize("cut_after", first_of([8, 1, 12, 20], 1))
async def test_a_socket_that_is_cut_goes_on_where_it_was(model_service, project, cut_after):
    async with connect(model_service, project) as socket:
        await socket.send(ask(project, context=fake("slow")))
        seen = await take(socket, cut_after)
        socket.transport.abort()  # as a lost network does: without a word
    async with connect(model_service, project) as socket:
        await socket.send(resume(project, seen[0], len(seen)))
        seen += await take(socket)
        await socket.send(ask(project))
        assert (await take(socket))[-1]["type"] == "finish", "the socket serves the next question"
    assert seen[-1]["type"] == "finish"
    assert text(seen) == (await asyncio.to_thread(stored, seen[0])).content
    assert [event["type"] for event in seen].count("start") == 1


async def test_an_answer_that_ended_meanwhile_is_there_to_the_last_word(model_service, project):
    async with connect(model_service, project) as socket:
        await socket.send(ask(project, context=fake("slow")))
        seen = await take(socket, 10)
    await until(lambda: stored(seen[0]).state == "done", "the answer to end without a reader")
    async with connect(model_service, project) as socket:
        await socket.send(resume(project, seen[0], len(seen)))
        seen += await take(socket)
    assert text(seen) == (await asyncio.to_thread(stored, seen[0])).content


@pytest.mark.matrix
async def test_a_reader_who_does_not_come_back_is_waited_for_and_then_not(start, upstream, project):
    service = start(OPENAI_BASE_URL=f"{upstream.url}/v1", RESUME_SECONDS="2")
    marker = f"grace-{project.domain}"
    async with connect(service, project) as socket:
        await socket.send(ask(project, context=fake("endless", marker)))
        seen = await take(socket, 15)
    await asyncio.sleep(0.3)
    assert upstream.last(marker)["ended"] == "", "within the grace period it runs on"
    await until(lambda: upstream.last(marker)["ended"] == "closed by the client", "the upstream to be closed")
    await until(lambda: stored(seen[0]).state == "aborted", "the record")
    assert (await asyncio.to_thread(stored, seen[0])).content.startswith(text(seen))
    await asyncio.sleep(2.2)
    async with connect(service, project) as socket:
        await socket.send(resume(project, seen[0], len(seen)))
        (refusal,) = await take(socket)
    assert (refusal["type"], refusal["status"]) == ("error", 404)


async def test_a_resumed_answer_can_be_stopped(model_service, upstream, project):
    marker = f"stopped-{project.domain}"
    async with connect(model_service, project) as socket:
        await socket.send(ask(project, context=fake("endless", marker)))
        seen = await take(socket, 15)
    async with connect(model_service, project) as socket:
        await socket.send(resume(project, seen[0], len(seen)))
        await take(socket, 3)
        await socket.send('{"type": "stop"}')
        rest = await take(socket)
    assert [event["type"] for event in rest][-2:] == ["abort", "finish"]
    await until(lambda: upstream.last(marker)["ended"] == "closed by the client", "the upstream to be closed")
    assert (await asyncio.to_thread(stored, seen[0])).state == "aborted"


@pytest.mark.parametrize(
    ("change", "status"),
    first_of(
        [
            ({"fp": "reader-2"}, 404),
            ({"threadId": "thr_other"}, 404),
            ({"messageId": "msg_other"}, 404),
            ({"messageId": None}, 400),
            ({"after": -1}, 400),
            ({"after": "5"}, 400),
            ({"key": "svc_dsc_wrong"}, 401),
            ({"key": "FOREIGN"}, 404),
        ],
        1,
    ),
)
async def test_only_the_reader_who_asked_may_resume(model_service, project, make_project, change, status):
    if change.get("key") == "FOREIGN":
        change = {"key": (await asyncio.to_thread(make_project)).assistant_key}
    async with connect(model_service, project) as socket:
        await socket.send(ask(project, context=fake("slow")))
        seen = await take(socket, 9)
    async with connect(model_service, project) as socket:
        await socket.send(resume(project, seen[0], len(seen), change))
        (refusal,) = await take(socket)
        assert (refusal["type"], refusal["status"]) == ("error", status)
        await socket.send(resume(project, seen[0], len(seen)))
        assert text(seen + await take(socket)) == (await asyncio.to_thread(stored, seen[0])).content


async def test_random_cuts_lose_and_double_nothing(model_service, project):
    """Twenty readers lose the network ten times each, at any moment, also while nothing was sent."""

    async def unlucky(seed: int) -> None:
        chance = random.Random(seed)
        message = ask(project, fp=f"reader-{seed}", context=fake("slow"))
        seen: list[dict] = []
        for cut in range(10):
            async with connect(model_service, project) as socket:
                await socket.send(resume(project, seen[0], len(seen), {"fp": f"reader-{seed}"}) if seen else message)
                seen += await take(socket, chance.randint(1, 4) if cut < 9 else 10_000)
                if seen[-1]["type"] == "finish":
                    break
                await asyncio.sleep(chance.random() * 0.1)
                socket.transport.abort()
        assert seen[-1]["type"] == "finish"
        assert text(seen) == (await asyncio.to_thread(stored, seen[0])).content

    await asyncio.gather(*(unlucky(seed) for seed in range(20)))


@pytest.mark.matrix  # the test above over the other transport
async def test_random_cuts_over_http_lose_and_double_nothing(client, model_service, project):
    """A GET begins anew each time, so each reading must be a beginning of the one answer, and the last one all of it.

    A 204 means that all of it had reached the reader's machine: its end may come in one
    piece with what precedes it, of which the reader here may have looked at a part only.
    """

    async def unlucky(seed: int) -> None:
        chance = random.Random(seed)
        headers = {**project.assistant, "X-Seed": str(seed)}
        asking = question(id=f"chat-{seed}", resumable=True, context=fake("slow"))
        request = client.build_request("POST", address(model_service, project), json=asking, headers=headers)
        received = []
        for _ in range(6):
            response = await client.send(request, stream=True)
            if response.status_code == 204:
                break
            received.append("")
            limit = chance.randint(1, 12)
            async for chunk in response.aiter_text():
                received[-1] += chunk
                if not (limit := limit - 1):
                    break
            await response.aclose()
            request = client.build_request("GET", chat(model_service, project, f"chat-{seed}"), headers=headers)
            await asyncio.sleep(chance.random() * 0.1)
        else:
            response = await client.get(request.url, headers=headers)
            received += [response.text] if response.status_code == 200 else []
        whole = max(received, key=len)
        assert all(whole.startswith(part) for part in received)
        *blocks, nothing = whole.split("\n\n")
        stream = [json.loads(block[6:]) for block in blocks if block.startswith("data: {")]
        answer = await asyncio.to_thread(stored, stream[0])
        if response.status_code == 204:
            assert answer.content.startswith(text(stream))
        else:
            assert (text(stream), nothing, blocks[-1]) == (answer.content, "", "data: [DONE]")

    await asyncio.gather(*(unlucky(seed) for seed in range(16)))


def chat(service, tenant, chat_id="chat-1") -> str:
    return f"{address(service, tenant)}/{chat_id}/stream"


async def asked_and_left(client, service, tenant, chunks=3, headers=None, **body) -> list[str]:
    """Ask over v2 and drop the connection after some chunks."""
    got = []
    json_body = question(**{"resumable": True, "context": fake("slow"), **body})
    async with client.stream(
        "POST", address(service, tenant), json=json_body, headers={**tenant.assistant, **(headers or {})}
    ) as response:
        assert response.status_code == 200
        async for chunk in response.aiter_text():
            got.append(chunk)
            if len(got) >= chunks:
                break
    return got


@pytest.fixture
async def client():
    async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as client:
        yield client


async def test_v2_replays_the_answer_from_its_start_and_goes_on(client, model_service, project):
    got = await asked_and_left(client, model_service, project, 12)
    response = await client.get(chat(model_service, project), headers=project.assistant)
    stream = events(response)
    assert response.text.startswith("".join(got))
    assert stream[-1]["type"] == "finish"
    assert text(stream) == (await asyncio.to_thread(stored, stream[0])).content
    assert response.headers["x-thread-id"] == stream[0]["messageMetadata"]["threadId"]
    again = await client.get(chat(model_service, project), headers=project.assistant)
    assert again.status_code == 204, "read to its end, there is nothing to resume"
    assert not {"content-length", "content-type"} & set(again.headers)


@pytest.mark.matrix
async def test_an_answer_that_is_not_resumable_can_be_read_along_while_it_runs(client, model_service, project):
    async with client.stream(
        "POST",
        address(model_service, project),
        json=question(context=fake("slow")),
        headers=project.assistant,
    ) as response:
        first = response.aiter_text()
        await anext(first)
        along = await client.get(chat(model_service, project), headers=project.assistant)
        assert text(events(along)) == (await asyncio.to_thread(stored, events(along)[0])).content
        assert "".join([chunk async for chunk in first]).endswith("data: [DONE]\n\n")


async def test_an_answer_that_is_not_resumable_ends_with_its_reader(client, model_service, upstream, project):
    marker = f"gone-{project.domain}"
    await asked_and_left(client, model_service, project, 12, resumable=False, context=fake("endless", marker))
    await until(lambda: upstream.last(marker)["ended"] == "closed by the client", "the upstream to be closed")
    await until(lambda: Message.objects.filter(thread__project=project.project, state="aborted").exists(), "the record")
    assert (await client.get(chat(model_service, project), headers=project.assistant)).status_code == 204


@pytest.mark.parametrize("case", first_of(["chat", "project", "origin", "no origin"], 1))
async def test_v2_resumes_only_chats_that_certainly_belong_to_the_same_browser(
    client, model_service, project, make_project, case
):
    page = {"Origin": "https://docs.acme.example"}
    asking = page if case == "no origin" else None
    await asked_and_left(client, model_service, project, headers=asking)
    headers, url = project.assistant, chat(model_service, project)
    if case == "chat":
        url = chat(model_service, project, "chat-2")
    elif case == "project":
        other = await asyncio.to_thread(make_project)
        headers, url = other.assistant, chat(model_service, other)
    elif case == "origin":
        headers = {**headers, **page}
    assert (await client.get(url, headers=headers)).status_code == 204
    right = {**project.assistant, **(asking or {})}
    assert (await client.get(chat(model_service, project), headers=right)).status_code == 200


@pytest.mark.matrix
async def test_the_services_own_origin_is_meant_where_a_get_names_none(client, model_service, project):
    await asked_and_left(client, model_service, project, headers={"Origin": model_service.url})
    assert (await client.get(chat(model_service, project), headers=project.assistant)).status_code == 200


@pytest.mark.matrix
async def test_another_address_cannot_resume(client, start, upstream, project):
    service = start(OPENAI_BASE_URL=f"{upstream.url}/v1", TRUSTED_PROXIES="127.0.0.1")
    await asked_and_left(client, service, project, headers={"X-Forwarded-For": "203.0.113.5"})
    url = chat(service, project)
    for address_, status in (("203.0.113.6", 204), ("203.0.113.5", 200)):
        response = await client.get(url, headers={**project.assistant, "X-Forwarded-For": address_})
        assert response.status_code == status


async def test_a_chat_id_that_two_readers_use_resumes_for_neither(client, model_service, project):
    await asked_and_left(client, model_service, project)
    await client.post(address(model_service, project), json=question("Acme?", fp="reader-2"), headers=project.assistant)
    assert (await client.get(chat(model_service, project), headers=project.assistant)).status_code == 204


@pytest.mark.matrix
async def test_a_chat_id_may_hold_any_character(client, model_service, project):
    await asked_and_left(client, model_service, project, id="a/b ü?")
    url = chat(model_service, project, "a%2Fb%20%C3%BC%3F")
    assert (await client.get(url, headers=project.assistant)).status_code == 200


@pytest.mark.matrix
async def test_resuming_takes_a_key_and_counts_against_no_limit(client, start, upstream, project):
    service = start(OPENAI_BASE_URL=f"{upstream.url}/v1", LIMIT_ASSISTANT_ORG="1/d")
    await asked_and_left(client, service, project)
    url = chat(service, project)
    assert (await client.get(url)).status_code == 401
    for _ in range(2):
        response = await client.get(url, headers=project.assistant)
        assert '"assistant-org";r=0' in response.headers["ratelimit"]
        assert response.status_code in (200, 204)


@pytest.mark.parametrize("resumable", first_of([True, False], 1))
async def test_an_answer_of_version_1_goes_on_over_the_socket_in_its_own_encoding(
    client, model_service, project, resumable
):
    """A resumable one after its reader left, any other while it is read."""
    url = address(model_service, project).replace("/v2/", "/v1/")
    asking = question(resumable=resumable, context=fake("slow"))
    async with client.stream("POST", url, json=asking, headers=project.assistant) as response:
        body = response.aiter_text()
        received = ""
        while '\n0:"' not in received:
            received += await anext(body)
        message_id = json.loads(received.partition("\n")[0].removeprefix("f:"))["messageId"]
        first = {"messageId": message_id, "messageMetadata": {"threadId": response.headers["x-thread-id"]}}
        if resumable:
            await response.aclose()
        async with connect(model_service, project) as socket:
            await socket.send(resume(project, first, 0))
            seen = await take(socket)
        if not resumable:
            received += "".join([chunk async for chunk in body])
    assert seen[0] == {"type": "start", **first}
    assert seen[-1]["type"] == "finish"
    assert text(seen) == (await asyncio.to_thread(stored, first)).content
    lines = [line for line in received.split("\n") if line.startswith("0:")]
    assert text(seen).startswith("".join(json.loads(line[2:]) for line in lines if line.endswith('"')))
    async with connect(model_service, project) as socket:
        if resumable:
            await socket.send(resume(project, first, 12))
            assert await take(socket) == seen[12:], "events are counted as the socket sends them"


async def test_v1_has_nothing_to_resume(client, service, project):
    url = address(service, project).replace("v2", "v1")
    response = await client.get(f"{url}?chatId=chat-1", headers=project.assistant)
    assert response.status_code == 405
    assert response.headers["allow"] == "POST"


async def test_a_socket_that_dies_while_asking_leaves_nothing_running(model_service, upstream, project):
    """The question may be stored and its answer begun for a reader who is already gone."""
    for delay in (0, 0.001, 0.003, 0.01):
        socket = await websockets.connect(
            f"{model_service.ws}/discovery/v1/assistant/{project.domain}/socket", proxy=None
        )
        await socket.send(ask(project, context=fake("happy")))
        await asyncio.sleep(delay)
        socket.transport.abort()
    await until(
        lambda: not Message.objects.filter(thread__project=project.project, state="running").exists(),
        "every answer to end",
    )


@pytest.mark.matrix
async def test_a_reader_who_left_before_having_read_everything_is_given_it_again(model_service, project):
    """The whole answer is on its way, and the connection ends with bytes that nobody read."""
    port = int(model_service.url.rsplit(":", 1)[1])
    body = json.dumps(question(resumable=True))
    answers = Message.objects.filter(thread__project=project.project, role="assistant")
    for begun, pause in enumerate((0.05, 0.3, 0.8), 1):
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=256)
        writer.write(
            f"POST /discovery/v2/assistant/{project.domain}/message HTTP/1.1\r\nHost: {model_service.url[7:]}\r\n"
            f"Authorization: Bearer {project.assistant_key}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
        )
        reader._transport.pause_reading()  # the kernel takes the answer, the reader does not
        await until(lambda begun=begun: answers.count() == begun, "the answer to begin")
        await asyncio.sleep(pause)
        writer.transport.abort()
        async with httpx.AsyncClient(timeout=PATIENCE, trust_env=False) as client:
            response = await client.get(chat(model_service, project), headers=project.assistant)
            stream = events(response)
            assert text(stream) == (await asyncio.to_thread(stored, stream[0])).content
            again = await client.get(chat(model_service, project), headers=project.assistant)
            assert again.status_code == 204


@pytest.mark.parametrize("after", [0, 5, 10**6])
async def test_an_ended_answer_always_tells_its_end(model_service, project, after):
    async with connect(model_service, project) as socket:
        await socket.send(ask(project))
        seen = await take(socket)
    async with connect(model_service, project) as socket:
        await socket.send(resume(project, seen[0], after))
        assert await take(socket) == (seen[after:] or seen[-1:])


@pytest.mark.parametrize("running", [True, False])
async def test_a_deleted_conversation_cannot_be_resumed(client, model_service, upstream, project, running):
    marker = f"forgotten-{project.domain}"
    async with connect(model_service, project) as socket:
        await socket.send(ask(project, context=fake("endless" if running else "happy", marker)))
        seen = await take(socket, 15 if running else 10_000)
    body = {"fp": "reader-1", "threadId": seen[0]["messageMetadata"]["threadId"]}
    url = f"{model_service.url}/discovery/v1/assistant/{project.domain}/forget"
    assert (await client.post(url, json=body, headers=project.assistant)).status_code == 204
    async with connect(model_service, project) as socket:
        await socket.send(resume(project, seen[0], 1))
        (refusal,) = await take(socket)
    assert (refusal["type"], refusal["status"]) == ("error", 404)
    await until(lambda: upstream.last(marker)["ended"], "the upstream to be closed")


@pytest.mark.matrix
async def test_of_two_who_replace_one_answer_the_second_replaces_the_firsts(client, model_service, upstream, project):
    first = await client.post(address(model_service, project), json=question(), headers=project.assistant)
    marker = f"twice-{project.domain}"
    again = question(threadId=first.headers["x-thread-id"], trigger="regenerate-message", context=fake("slow", marker))
    both = await asyncio.gather(
        *(client.post(address(model_service, project), json=again, headers=project.assistant) for _ in range(2))
    )
    endings = sorted(events(response)[-2]["type"] for response in both)
    assert endings == ["abort", "finish-step"]
    messages = Message.objects.filter(thread__project=project.project)
    assert [(m.role, m.state) async for m in messages] == [("user", "done"), ("assistant", "done")]


async def test_asking_again_replaces_a_first_question_whose_answer_never_arrived(client, model_service, project):
    await asked_and_left(client, model_service, project, chunks=1, id="chat-1")
    again = question(id="chat-1", trigger="regenerate-message")
    for fp in ("reader-1", "reader-2"):
        await client.post(address(model_service, project), json={**again, "fp": fp}, headers=project.assistant)
    messages = Message.objects.filter(thread__project=project.project)
    rows = messages.order_by("thread__fp", "pk").values_list("thread__fp", "role", "state")
    kept = [row async for row in rows]
    assert [(role, state) for fp, role, state in kept if fp == "reader-1"] == [("user", "done"), ("assistant", "done")]
    assert len(kept) == 4


@pytest.mark.matrix
async def test_a_head_of_a_running_answer_has_no_body_and_reads_nothing(client, model_service, project):
    await asked_and_left(client, model_service, project)
    url = chat(model_service, project)
    port = int(model_service.url.rsplit(":", 1)[1])
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    head = f"HEAD {url[len(model_service.url) :]} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n"
    writer.write(f"{head}Authorization: Bearer {project.assistant_key}\r\nConnection: close\r\n\r\n".encode())
    answer = (await reader.read()).decode()
    assert answer.startswith("HTTP/1.1 200 ")
    assert answer.endswith("\r\n\r\n")
    writer.close()
    assert (await client.get(url, headers=project.assistant)).status_code == 200


async def test_who_used_a_chat_id_once_used_it_for_good(client, model_service, project):
    """A second thread, or forgetting the first, must not make an id look like one reader's."""
    url = address(model_service, project)
    theirs = await client.post(url, json=question("Acme?", fp="reader-2"), headers=project.assistant)
    thread_id = theirs.headers["x-thread-id"]
    moved = question("Acme?", fp="reader-2", id="chat-2", threadId=thread_id)
    await client.post(url, json=moved, headers=project.assistant)
    forget = url.replace("v2", "v1").replace("message", "forget")
    await client.post(forget, json={"fp": "reader-2", "threadId": thread_id}, headers=project.assistant)
    await asked_and_left(client, model_service, project)
    assert (await client.get(chat(model_service, project), headers=project.assistant)).status_code == 204
