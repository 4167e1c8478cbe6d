"""An answer that a limit or a filter of the model server cut is told apart from a complete one, on every channel."""

import asyncio
import json
from typing import Any

import pytest

from assistant.improving.question_groups.problems import problem_of
from assistant.models import GroupedQuestion, Message
from tests.assistant.asking import test_socket
from tests.conftest import fake, question
from tests.variants import first_of

INSTALL = "How do I install acme with pip?"
GERMAN = "Wie installiere ich acme mit pip?"
REPEATED = "The answer ends here, because it had begun to repeat itself."
# mode of the model server: why the stream ends, as both protocols say it; what is stored
ENDS = {
    "happy": ("stop", "answered", ""),
    "length": ("length", "cut", "length_limit"),
    "max_tokens": ("length", "cut", "length_limit"),
    "filtered": ("content-filter", "cut", "filter"),
    "safety": ("content-filter", "cut", "filter"),
    "loop": ("other", "cut", "repetition"),
    "refused_at_length": ("stop", "refused", ""),
    "refuse": ("stop", "answered", ""),  # quoted instead
}


@pytest.fixture(scope="module")
def tenant(make_acme: Any) -> Any:
    """A project for all rows."""
    return make_acme()


def post(http: Any, service: Any, tenant: Any, version: str, mode: str, text: str = INSTALL) -> Any:
    body = question(text, trigger="submit-message", context=fake(mode, tenant.domain))
    body["messages"][0]["parts"] = [{"type": "text", "text": text}]
    url = f"{service.url}/discovery/{version}/assistant/{tenant.domain}/message"
    return http.post(url, json=body, headers=tenant.assistant)


async def ask_on_socket(service: Any, tenant: Any, mode: str) -> list[dict[str, Any]]:
    async with test_socket.connect(service, tenant) as socket:
        await socket.send(test_socket.ask(tenant, context=fake(mode)))
        return await test_socket.read(socket)


def stored(thread_id: str) -> Message:
    return Message.objects.get(thread__thread_id=thread_id, role="assistant")


def facts(answer: Message) -> tuple[Any, ...]:
    return answer.outcome, answer.cut_by, answer.state


@pytest.mark.parametrize("mode", first_of(ENDS, 1))
def test_every_channel_says_why_an_answer_ends(http, model_service, tenant, mode):
    reason, outcome, cut_by = ENDS[mode]
    response = post(http, model_service, tenant, "v1", mode)
    end = json.loads(response.text.splitlines()[-1].removeprefix("d:"))
    assert end["finishReason"] == reason
    answer = stored(response.headers["x-thread-id"])
    assert facts(answer) == (outcome, cut_by, "done")
    assert problem_of(answer, None) == (outcome if outcome in ("cut", "refused") else None)

    response = post(http, model_service, tenant, "v2", mode)
    *_, finish, done, _ = response.text.split("\n\n")
    finish = json.loads(finish.removeprefix("data: "))
    assert done == "data: [DONE]"
    assert finish.get("finishReason", "stop") == reason
    assert ("finishReason" in finish) == (reason != "stop"), "early releases of the AI SDK refuse the key"
    assert facts(stored(response.headers["x-thread-id"])) == (outcome, cut_by, "done")

    events = asyncio.run(ask_on_socket(model_service, tenant, mode))
    assert events[-1] == {**finish, "messageMetadata": events[0]["messageMetadata"]}

    call = {"name": "ask_docs", "arguments": {"question": f"{INSTALL} fake:{mode}"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    result = http.post(f"{model_service.url}/mcp/{tenant.domain}", json=body).json()["result"]
    data = result["structuredContent"]
    assert (data["cutBy"], data["isAnswered"]) == (cut_by, outcome == "answered")
    assert ("This answer is cut" in result["content"][0]["text"]) == bool(cut_by)


def test_an_answer_that_repeats_itself_ends_with_a_sentence(http, model_service, upstream, tenant):
    for text, sentence in (
        (INSTALL, REPEATED),
        (GERMAN, "Die Antwort endet hier, weil sie sich nur noch wiederholte."),
    ):
        answer = stored(post(http, model_service, tenant, "v1", "loop", text).headers["x-thread-id"])
        assert answer.content.count("Restart the server and try it again.") in (4, 5)
        assert answer.content.endswith(f"\n\n{sentence}")
        assert upstream.last(tenant.domain)["ended"] == "closed by the client"


def test_a_cut_answer_is_continued_with_its_question(http, model_service, upstream, tenant):
    first = post(http, model_service, tenant, "v1", "length")
    thread_id = first.headers["x-thread-id"]
    body = question("Continue", threadId=thread_id, context=fake("happy", thread_id))
    url = f"{model_service.url}/discovery/v1/assistant/{tenant.domain}/message"
    second = http.post(url, json=body, headers=tenant.assistant)
    assert second.headers["x-thread-id"] == thread_id
    assert json.loads(second.text.splitlines()[1].removeprefix("9:"))["args"] == {"query": INSTALL}
    assert [message["role"] for message in upstream.last(thread_id)["messages"]][1:3] == ["user", "assistant"]


def test_a_cut_answer_is_a_gap_even_with_a_source():
    cut = Message(outcome="cut", cut_by="length_limit", sources=[{"title": "a", "url": "https://a.example"}])
    assert problem_of(cut, None) == GroupedQuestion.Problem.CUT
