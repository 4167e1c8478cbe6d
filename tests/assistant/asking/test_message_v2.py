"""Message v2 over real sockets: the events of the stream, asking again, and the record of it."""

import json

import httpx
import pytest

from assistant.models import Message, Thread
from docsite.site import navigation
from tests.conftest import assert_error, fake
from tests.variants import first_of

INSTALL = "How do I install acme with pip?"
SOURCE = "How do I install acme from source?"


def address(service, tenant) -> str:
    return f"{service.url}/discovery/v2/assistant/{tenant.domain}/message"


def question(text=INSTALL, **body):
    message = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": text}]}
    return {"fp": "reader-1", "id": "chat-1", "trigger": "submit-message", "messages": [message], **body}


def ask(http, service, tenant, text=INSTALL, **body):
    return http.post(address(service, tenant), json=question(text, **body), headers=tenant.assistant)


def events(response: httpx.Response) -> list[dict]:
    """The parts of a stream, which ends as it must."""
    assert response.status_code == 200, response.text
    *blocks, end, rest = response.content.decode().split("\n\n")
    assert (end, rest) == ("data: [DONE]", "")
    return [json.loads(block.removeprefix("data: ")) for block in blocks if not block.startswith(":")]


def text(stream) -> str:
    return "".join(event.get("delta", "") for event in stream)


def stored(stream) -> Message:
    return Message.objects.get(message_id=stream[0]["messageId"])


def test_the_stream_has_its_parts_in_order(http, model_service, project):
    response = ask(http, model_service, project)
    assert response.headers["content-type"] == "text/event-stream"
    assert response.headers["x-vercel-ai-ui-message-stream"] == "v1"
    assert response.headers["cache-control"] == "no-store, no-transform"
    assert response.headers["x-accel-buffering"] == "no"
    thread_id = response.headers["x-thread-id"]
    stream = events(response)
    types = [event["type"] for event in stream]
    assert types[:8] == [
        *("start", "data-thread", "start-step", "tool-input-start", "tool-input-available"),
        *("tool-output-available", "finish-step", "start-step"),
    ]
    assert types[8:10] == ["data-status", "text-start"]
    assert types[-4:] == ["data-status", "text-end", "finish-step", "finish"]
    assert set(types[10:-4]) == {"text-delta", "source-url"}
    assert stream[0]["messageMetadata"] == stream[-1]["messageMetadata"] == {"threadId": thread_id}
    assert stream[1] == {"type": "data-thread", "data": {"threadId": thread_id}, "transient": True}
    assert all(event["providerExecuted"] for event in stream if event["type"].startswith("tool-"))
    assert stream[5]["output"][0]["url"] == "https://docs.acme.example/install#with-pip"
    answer = stored(stream)
    assert (answer.state, answer.rung, answer.content) == ("done", "model", text(stream))
    assert answer.thread.thread_id == thread_id
    assert answer.steps == [{"rung": "model"}]


@pytest.mark.parametrize(
    ("accept", "has_id"),
    first_of(
        [
            ("*/*", False),
            ("text/event-stream", False),
            ("application/*", False),
            ("application/jsonp, application/problem+json", False),
            ("application/json", True),
            ("text/event-stream, Application/JSON; charset=utf-8; q=0.5", True),
        ],
        2,
    ),
)
def test_a_client_that_sends_no_trigger_gets_the_thread_id_in_finish_if_it_names_json(
    http, service, project, accept, has_id
):
    def post(**body):
        headers = {**project.assistant, "Accept": accept}
        return http.post(address(service, project), json=body, headers=headers)

    usual = events(post(**question(id="chat-1")))
    body = question(id="chat-2")
    del body["trigger"]
    response = post(**body)
    thread = {"threadId": response.headers["x-thread-id"]}
    stream = events(response)
    assert stream[5]["output"] == {"results": usual[5]["output"]}
    assert stream[-1] == {"type": "finish", "messageMetadata": thread, **(thread if has_id else {})}
    assert "threadId" not in usual[-1]
    assert text(stream) == text(usual)


def test_both_protocols_send_the_same_events(http, model_service, project):
    first = text(events(ask(http, model_service, project)))
    v1 = address(model_service, project).replace("v2", "v1")
    second = http.post(v1, json=question(), headers=project.assistant).text
    assert first == "".join(json.loads(line[2:]) for line in second.splitlines() if line.startswith("0:"))


def test_the_alias_without_discovery_answers(http, service, project):
    url = address(service, project).replace("/discovery", "")
    stream = events(http.post(url, json=question(), headers=project.assistant))
    assert "pip install acme" in text(stream)
    resume = f"{url}/chat-1/stream"
    assert http.get(resume, headers=project.assistant).status_code == 204


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"trigger": "resume"}, "trigger: "),
        ({"id": 5}, "id: "),
        ({"id": "x" * 257}, "id: "),
        ({"resumable": "yes"}, "resumable: "),
        ({"messageId": 5}, "messageId: "),
        ({"fp": ""}, "fp: "),
        ({"messages": [{"role": "user", "parts": []}]}, "messages: the last message has no text"),
    ],
)
def test_a_bad_question_names_its_field(http, service, project, change, field):
    response = http.post(address(service, project), json={**question(), **change}, headers=project.assistant)
    assert_error(response, 400, field)


def test_an_answer_that_breaks_off_ends_with_an_error_part(http, model_service, project):
    stream = events(ask(http, model_service, project, context=fake("cut")))
    assert stream[-1] == {"type": "error", "errorText": "The answer broke off. Please try again."}
    assert text(stream).startswith("To install acme")
    assert (stored(stream).state, stored(stream).content) == ("error", text(stream))


@pytest.mark.parametrize("mode", ["happy", "cut", "refuse"])
def test_every_line_is_explained_in_the_documentation(http, model_service, project, mode):
    first, second = navigation.pages()["streaming"].body.split("## Version 2")
    for event in events(ask(http, model_service, project, context=fake(mode))):
        assert f"`{event['type']}`" in second
        for key in event:
            assert f'"{key}":' in second, key
    v1 = address(model_service, project).replace("v2", "v1")
    body = question(context=fake(mode))
    for line in http.post(v1, json=body, headers=project.assistant).text.splitlines():
        value = json.loads(line[2:])
        assert f"| `{line[0]}` |" in first
        for key in value if isinstance(value, dict) else ():
            assert f'"{key}":' in first, key


def thread_of(response: httpx.Response) -> list[tuple[str, str]]:
    messages = Thread.objects.get(thread_id=response.headers["x-thread-id"]).messages.all()
    return [(message.role, message.content) for message in messages]


def test_asking_again_replaces_the_last_answer(http, model_service, upstream, project):
    first = ask(http, model_service, project)
    thread_id = first.headers["x-thread-id"]
    second = ask(http, model_service, project, SOURCE, threadId=thread_id)
    again = ask(
        http, model_service, project, SOURCE, threadId=thread_id, trigger="regenerate-message",
        context=fake("happy", f"again-{project.domain}"),
    )  # fmt: skip
    assert again.headers["x-thread-id"] == thread_id
    assert stored(events(again)).message_id != events(second)[0]["messageId"]
    assert not Message.objects.filter(message_id=events(second)[0]["messageId"]).exists()
    assert thread_of(again) == [
        ("user", INSTALL),
        ("assistant", text(events(first))),
        ("user", SOURCE),
        ("assistant", text(events(again))),
    ]
    messages = upstream.last(f"again-{project.domain}")["messages"]
    assert [message["role"] for message in messages] == ["system", "user", "assistant", "user"], (
        "not the question twice"
    )


def test_asking_for_an_earlier_answer_again_deletes_the_messages_after_it(http, model_service, project):
    first = ask(http, model_service, project)
    thread_id = first.headers["x-thread-id"]
    ask(http, model_service, project, SOURCE, threadId=thread_id)
    again = ask(
        http, model_service, project, threadId=thread_id, trigger="regenerate-message",
        messageId=events(first)[0]["messageId"],
    )  # fmt: skip
    assert thread_of(again) == [("user", INSTALL), ("assistant", text(events(again)))]


def test_a_client_that_names_no_answer_is_understood_by_its_question(http, service, project):
    first = ask(http, service, project)
    thread_id = first.headers["x-thread-id"]
    ask(http, service, project, SOURCE, threadId=thread_id)
    again = ask(http, service, project, threadId=thread_id, trigger="regenerate-message", messageId="client-made")
    assert thread_of(again) == [("user", INSTALL), ("assistant", text(events(again)))]


def test_asking_again_without_a_thread_is_a_first_question(http, service, project):
    again = ask(http, service, project, trigger="regenerate-message")
    assert [role for role, _ in thread_of(again)] == ["user", "assistant"]


def test_another_readers_answer_cannot_be_replaced(http, service, project):
    first = ask(http, service, project)
    thread_id, message_id = first.headers["x-thread-id"], events(first)[0]["messageId"]
    other = ask(
        http, service, project, fp="reader-2", threadId=thread_id, messageId=message_id, trigger="regenerate-message"
    )
    assert other.headers["x-thread-id"] != thread_id
    assert thread_of(first) == [("user", INSTALL), ("assistant", text(events(first)))]
