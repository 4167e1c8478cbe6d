"""The clients of AI SDK 4, as their users run them, against the running service.

What the service writes is tested elsewhere; here, what the published packages
make of it. `v4.mjs` is the page, configured as our documentation shows.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from assistant.models import Message, Thread
from tests.conftest import fake, wait_for
from tests.contract.browser import INSTALL, SEARCHES, SORRY, SOURCE, Browser, Turn, opened, parts, stored
from tests.variants import first_of

pytestmark = pytest.mark.node


# The oldest is 4.1.35 with hook 1.1.12: earlier ones end with an error at the first source (`h`).
@pytest.fixture(scope="module", params=first_of(["ai4-oldest", "ai4-newest"], 1))
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    with opened("v4", request.param) as browser:
        yield browser


def finishes(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [item for item in items if item["type"] == "finish"]


def statuses(turn: Turn) -> list[dict[str, Any]]:
    return [item for item in turn["data"] if item["type"] == "status"]


@pytest.mark.matrix
def test_the_text_arrives_in_pieces_and_whole(visit):
    turn = visit(context=fake("slow")).ask(INSTALL)
    assert (turn["status"], turn["error"]) == ("ready", None)
    assert len(turn["lengths"]) >= 2
    assert turn["lengths"] == sorted(turn["lengths"])
    [request] = turn["requests"]
    assert len([chunk for chunk in request["chunks"] if chunk.startswith("0:")]) >= 2
    assert (request["kinds"][0], request["kinds"][-1]) == ("start_step", "finish_message")
    answer = stored(turn)
    assert (answer.rung, answer.state) == ("model", "done")
    assert turn["message"]["content"] == turn["shown"] == answer.content
    assert "".join(part["text"] for part in parts(turn, "text")) == answer.content


def test_the_request_carries_what_the_page_set(visit):
    turn = visit().ask(INSTALL)
    [request] = turn["requests"]
    body = request["body"]
    assert (body["fp"], body["retrievalPageSize"], body["threadId"]) == ("anonymous", 3, None)
    assert body["messages"][-1]["id"], "sendExtraMessageFields"
    assert stored(turn).page_path == body["currentPath"] == "/embed"


def test_the_ids_reach_every_place_a_client_can_look(visit):
    turn = visit().ask(INSTALL)
    assert (turn["status"], turn["error"]) == ("ready", None)
    thread_id, message = turn["threadId"], turn["message"]
    finish = [{"type": "finish", "threadId": thread_id}]
    assert thread_id
    assert finishes(turn["data"]) == finish
    assert finishes(turn["finished"]["annotations"]) == finishes(message["annotations"]) == finish
    assert turn["ids"] == [message["id"]] == [turn["finished"]["id"]], "one id from the first part to the last"
    assert message["id"].startswith("msg_")
    assert stored(turn).thread.thread_id == thread_id
    assert turn["finished"]["finishReason"] == "stop"
    assert turn["finished"]["usage"]["completionTokens"] == 21


def test_sources_are_the_cited_pages(visit):
    turn = visit().ask(INSTALL)
    sources = [part["source"] for part in parts(turn, "source")]
    assert sources
    assert [{"title": source["title"], "url": source["url"]} for source in sources] == stored(turn).sources
    for source in sources:
        assert source["sourceType"] == "url"
        assert source["url"].startswith("https://docs.acme.example/")
        assert f"]({source['url']}" in turn["message"]["content"], "cited in the text"


def test_the_search_is_a_finished_tool_call_with_an_array(visit):
    turn = visit().ask(INSTALL)
    [tool] = [part["toolInvocation"] for part in parts(turn, "tool-invocation")]
    assert (tool["toolName"], tool["state"], tool["args"]) == ("search", "result", {"query": INSTALL})
    assert isinstance(tool["result"], list)
    assert 0 < len(tool["result"]) <= 3
    for hit in tool["result"]:
        assert hit["url"].startswith("https://docs.acme.example/")
        assert hit["metadata"]["title"]
    [request] = turn["requests"]
    assert request["kinds"].count("start_step") == request["kinds"].count("finish_step") == 2
    assert request["kinds"].index("finish_step") < request["kinds"].index("text"), "the search is a step of its own"


def test_the_searches_of_a_model_are_finished_tool_calls(visit):
    turn = visit(context=SEARCHES, maxSteps=3).ask(INSTALL)
    assert (turn["status"], turn["error"]) == ("ready", None)
    assert len(turn["requests"]) == 1
    tools = [part["toolInvocation"] for part in parts(turn, "tool-invocation")]
    assert [(tool["toolName"], tool["state"]) for tool in tools] == [
        *(("search", "result"), ("search", "result"), ("read_page", "result"))
    ]
    assert tools[2]["args"] == {"path": "/configure"}
    assert [part["source"]["title"] for part in parts(turn, "source")] == ["Printing labels"]
    assert "printLabel" in turn["message"]["content"]


def test_the_client_does_not_ask_again_by_itself(visit):
    turn = visit(maxSteps=3).ask(INSTALL)
    assert turn["status"] == "ready"
    assert len(turn["requests"]) == 1
    assert Message.objects.filter(thread__thread_id=turn["threadId"]).count() == 2


def test_a_second_question_continues_the_thread(visit, upstream, project):
    page = visit(context=fake("happy", project.domain))
    first, second = page.ask(INSTALL), page.ask(SOURCE)
    [request] = second["requests"]
    assert request["body"]["threadId"] == first["threadId"] == second["threadId"]
    assert len(request["body"]["messages"]) == 3, "the client sends the whole conversation"
    messages = Thread.objects.get(thread_id=first["threadId"]).messages.all()
    assert [message.content for message in messages] == [
        INSTALL,
        first["message"]["content"],
        SOURCE,
        second["message"]["content"],
    ]
    assert first["message"]["id"] != second["message"]["id"]
    messages = upstream.last(project.domain)["messages"]
    assert {
        "role": "assistant",
        "content": "To install acme, run the command in. More is in, and nothing in.",
    } in messages


def test_an_unknown_thread_id_starts_a_new_thread(visit):
    turn = visit(threadId="thr_unknown").ask(INSTALL)
    assert turn["requests"][0]["body"]["threadId"] == "thr_unknown"
    assert turn["threadId"] not in (None, "thr_unknown")
    assert turn["error"] is None
    assert stored(turn).thread.thread_id == turn["threadId"]


def test_an_answer_that_breaks_off_is_an_error_with_its_text_kept(visit):
    turn = visit(context=fake("cut")).ask(INSTALL)
    assert (turn["status"], turn["error"], turn["shown"]) == ("error", SORRY, SORRY)
    assert turn["message"]["content"].startswith("To install acme")
    assert turn["message"]["content"] == stored(turn).content
    assert stored(turn).state == "error"
    assert finishes(turn["data"]) == [{"type": "finish", "threadId": turn["threadId"]}]
    assert turn["finished"] is None


def test_a_model_that_refuses_is_replaced_by_quotes(visit):
    turn = visit(context=fake("refuse")).ask(INSTALL)
    assert (turn["status"], turn["error"]) == ("ready", None)
    assert "pip install acme" in turn["message"]["content"]
    assert turn["message"]["content"] == stored(turn).content
    assert {"type": "status", "rung": "extractive", "reason": "the model server answered 500"} in statuses(turn)
    assert "secret details" not in json.dumps(turn)


def test_stop_closes_the_model_and_keeps_the_text(visit, upstream, project):
    turn = visit(context=fake("endless", project.domain)).ask(INSTALL, stopAfter=60)
    assert (turn["status"], turn["error"], turn["finished"]) == ("ready", None, None)
    wait_for(lambda: upstream.last(project.domain)["ended"], "the model request to be closed")
    wait_for(lambda: stored(turn).state != "running", "the answer to be stored")
    assert upstream.last(project.domain)["ended"] == "closed by the client"
    answer = stored(turn)
    assert answer.state == "aborted"
    assert len(turn["message"]["content"]) >= 60
    assert answer.content.startswith(turn["message"]["content"])


def test_a_wrong_key_is_an_error_in_words(visit, project):
    project.assistant_key = "svc_dsc_wrong"
    turn = visit().ask(INSTALL)
    assert [request["status"] for request in turn["requests"]] == [401]
    assert turn["status"] == "error"
    assert json.loads(turn["error"]) == {"error": "Unknown, revoked or expired API key."}, "the body as it is"
    assert turn["message"] is None
