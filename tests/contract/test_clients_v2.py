"""The clients of AI SDK 5, 6 and 7, as their users run them, against the running service.

The oldest release of each major and the ones called strict read strictly: one key that they do not
know and the answer is an error. `v5.mjs` is the page.
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

# The newest of each are in test_examples, too.
RELEASES = first_of(["ai5-oldest", "ai7-newest", "ai6-oldest", "ai7-oldest", "ai5-strict", "ai6-strict"], 1)


@pytest.fixture(scope="module", params=RELEASES)
def browser(request: pytest.FixtureRequest) -> Iterator[Browser]:
    with opened("v5", request.param) as browser:
        yield browser


def parts_of(turn: Turn, kind: str) -> list[dict[str, Any]]:
    """What `onData` was given."""
    return [item["data"] for item in turn["data"] if item["type"] == kind]


def contents(turn: Turn) -> list[str]:
    """The turn's thread as the service keeps it."""
    return [message.content for message in Thread.objects.get(thread_id=turn["threadId"]).messages.all()]


def test_the_text_arrives_in_pieces_and_whole(visit):
    turn = visit(context=fake("slow")).ask(INSTALL)
    assert (turn["status"], turn["error"]) == ("ready", None)
    assert len(turn["lengths"]) >= 2
    assert turn["lengths"] == sorted(turn["lengths"])
    [request] = turn["requests"]
    assert len([chunk for chunk in request["chunks"] if '"text-delta"' in chunk]) >= 2
    assert (request["events"][0]["type"], request["events"][-1]["type"]) == ("start", "finish")
    assert request["chunks"][-1].endswith("data: [DONE]\n\n")
    answer = stored(turn)
    assert (answer.rung, answer.state) == ("model", "done")
    assert turn["text"] == turn["shown"] == answer.content
    assert [part["state"] for part in parts(turn, "text")] == ["done"]


def test_the_request_carries_what_the_page_set(visit):
    turn = visit().ask(INSTALL)
    [request] = turn["requests"]
    body = request["body"]
    assert (body["fp"], body["retrievalPageSize"], body["threadId"]) == ("anonymous", 3, None)
    assert (body["id"], body["trigger"]) == (turn["chatId"], "submit-message")
    assert stored(turn).page_path == body["currentPath"] == "/embed"


def test_the_ids_reach_every_place_a_client_can_look(visit):
    turn = visit().ask(INSTALL)
    assert (turn["status"], turn["error"]) == ("ready", None)
    thread, message = {"threadId": turn["threadId"]}, turn["message"]
    [request] = turn["requests"]
    assert request["threadId"] == turn["threadId"]
    assert parts_of(turn, "data-thread") == [thread]
    assert turn["begun"] == message["metadata"] == turn["finished"]["metadata"] == thread
    assert request["events"][0]["messageMetadata"] == request["events"][-1]["messageMetadata"] == thread
    assert turn["ids"] == [message["id"]] == [turn["finished"]["id"]], "one id from the first part to the last"
    assert message["id"].startswith("msg_")
    assert stored(turn).thread.thread_id == turn["threadId"]


def test_an_application_that_replaces_the_body_gets_whole_answers(visit):
    page = visit(replacesBody=True)
    first, second = page.ask(INSTALL), page.ask(SOURCE)
    for turn in (first, second):
        [request] = turn["requests"]
        assert "trigger" not in request["body"]
        assert (turn["status"], turn["error"]) == ("ready", None)
        assert turn["text"] == stored(turn).content
        assert turn["message"]["metadata"] == {"threadId": first["threadId"]} == {"threadId": request["threadId"]}
        [tool] = parts(turn, "tool-search")
        assert tool["output"]["results"][0]["url"].startswith("https://docs.acme.example/")


def test_sources_are_the_cited_pages(visit):
    turn = visit().ask(INSTALL)
    sources = parts(turn, "source-url")
    assert sources
    assert [{"title": source["title"], "url": source["url"]} for source in sources] == stored(turn).sources
    assert len({source["sourceId"] for source in sources}) == len(sources)
    for source in sources:
        assert source["url"].startswith("https://docs.acme.example/")
        assert f"]({source['url']}" in turn["text"], "cited in the text"


def test_the_search_is_a_finished_tool_call_with_an_array(visit):
    turn = visit().ask(INSTALL)
    [tool] = parts(turn, "tool-search")
    assert (tool["state"], tool["input"]) == ("output-available", {"query": INSTALL})
    assert tool["providerExecuted"] is True
    assert turn["tools"] == 0, "the page is not asked to run it"
    assert isinstance(tool["output"], list)
    assert 0 < len(tool["output"]) <= 3
    for hit in tool["output"]:
        assert hit["url"].startswith("https://docs.acme.example/")
        assert hit["metadata"]["title"]
    kinds = [part["type"] for part in turn["message"]["parts"]]
    assert kinds[:3] == ["step-start", "tool-search", "step-start"], "two steps"


def test_the_client_does_not_ask_again_by_itself(visit):
    turn = visit(sendAutomatically=True).ask(INSTALL)
    assert turn["status"] == "ready"
    assert len(turn["requests"]) == 1
    assert len(contents(turn)) == 2


def test_the_searches_of_a_model_are_finished_tool_calls(visit):
    turn = visit(context=SEARCHES, sendAutomatically=True).ask(INSTALL)
    assert (turn["status"], turn["error"]) == ("ready", None)
    assert len(turn["requests"]) == 1
    assert turn["tools"] == 0
    own, search = parts(turn, "tool-search")
    [read] = parts(turn, "tool-read_page")
    assert search["input"] == {"query": "print a label on a thermal printer"}
    assert read["input"] == {"path": "/configure"}
    assert {tool["state"] for tool in (own, search, read)} == {"output-available"}
    assert len({tool["toolCallId"] for tool in (own, search, read)}) == 3
    assert [source["title"] for source in parts(turn, "source-url")] == ["Printing labels"]
    assert [part["state"] for part in parts(turn, "text")] == ["done", "done"], "before the searches, and after them"
    assert turn["text"].replace("\n\n", "") == stored(turn).content.replace("\n\n", "")


def test_a_second_question_continues_the_thread(visit, upstream, project):
    page = visit(context=fake("happy", project.domain))
    first, second = page.ask(INSTALL), page.ask(SOURCE)
    [request] = second["requests"]
    assert request["body"]["threadId"] == first["threadId"] == second["threadId"] == request["threadId"]
    assert len(request["body"]["messages"]) == 3, "the client sends the whole conversation"
    assert contents(second) == [INSTALL, first["text"], SOURCE, second["text"]]
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


def test_a_regenerated_answer_replaces_the_last_one(visit, upstream, project):
    page = visit(context=fake("happy", project.domain))
    first, second = page.ask(INSTALL), page.ask(SOURCE)
    again = page.regenerate(body={"context": fake("refuse", project.domain)})
    [request] = again["requests"]
    assert request["body"]["trigger"] == "regenerate-message"
    assert [message["role"] for message in request["body"]["messages"]] == ["user", "assistant", "user"]
    assert (again["status"], again["error"]) == ("ready", None)
    assert again["threadId"] == request["body"]["threadId"] == first["threadId"]
    assert again["text"] not in ("", second["text"])
    assert contents(again) == [INSTALL, first["text"], SOURCE, again["text"]]
    assert stored(again).content == again["text"], "under the id that the client shows"
    assert len(again["messages"]) == 4
    history = upstream.last(project.domain)["messages"]
    assert [message["content"] for message in history].count(second["text"]) == 0, "the model does not see it"


def test_an_answer_can_be_regenerated_by_its_id(visit):
    page = visit()
    first = page.ask(INSTALL)
    again = page.regenerate(messageId=first["message"]["id"], body={"context": fake("refuse")})
    [request] = again["requests"]
    assert request["body"]["messageId"] == first["message"]["id"]
    assert again["text"] not in ("", first["text"])
    assert contents(again) == [INSTALL, again["text"]]


def test_an_answer_at_its_length_limit_is_kept_and_says_so(visit, browser):
    turn = visit(context=fake("length")).ask(INSTALL)
    assert turn["text"] == stored(turn).content
    assert turn["requests"][0]["events"][-1]["finishReason"] == "length"
    if browser.release == "ai5-oldest":  # which refuses the key, as docsite/site/content/streaming.md says
        assert turn["status"] == "error"
    else:
        assert (turn["status"], turn["error"]) == ("ready", None)
        assert turn["finished"].get("finishReason", "length") == "length"


def test_an_answer_that_breaks_off_is_an_error_with_its_text_kept(visit):
    turn = visit(context=fake("cut")).ask(INSTALL)
    assert (turn["status"], turn["error"], turn["shown"]) == ("error", SORRY, SORRY)
    assert turn["text"].startswith("To install acme")
    assert turn["text"] == stored(turn).content
    assert stored(turn).state == "error"
    assert turn["message"]["metadata"] == {"threadId": turn["threadId"]}
    [request] = turn["requests"]
    assert request["events"][-1] == {"type": "error", "errorText": SORRY}


def test_a_model_that_refuses_is_replaced_by_quotes(visit):
    turn = visit(context=fake("refuse")).ask(INSTALL)
    assert (turn["status"], turn["error"]) == ("ready", None)
    assert "pip install acme" in turn["text"]
    assert turn["text"] == stored(turn).content
    assert {"rung": "extractive", "reason": "the model server answered 500"} in parts_of(turn, "data-status")
    assert "secret details" not in json.dumps(turn)


def test_stop_closes_the_model_and_keeps_the_text(visit, upstream, project):
    turn = visit(context=fake("endless", project.domain)).ask(INSTALL, stopAfter=60)
    assert (turn["status"], turn["error"]) == ("ready", None)
    wait_for(lambda: upstream.last(project.domain)["ended"], "the model request to be closed")
    wait_for(lambda: stored(turn).state != "running", "the answer to be stored")
    assert upstream.last(project.domain)["ended"] == "closed by the client"
    answer = stored(turn)
    assert answer.state == "aborted"
    assert len(turn["text"]) >= 60
    assert answer.content.startswith(turn["text"])


def test_a_wrong_key_is_an_error_in_words(visit, project):
    project.assistant_key = "svc_dsc_wrong"
    turn = visit().ask(INSTALL)
    assert [request["status"] for request in turn["requests"]] == [401]
    assert turn["status"] == "error"
    assert json.loads(turn["error"]) == {"error": "Unknown, revoked or expired API key."}, "the body as it is"
    assert turn["message"] is None


def test_resuming_when_nothing_runs_is_quiet(visit, browser):
    asked, fresh = visit(), visit(resume=True)
    asked.ask(INSTALL)
    at_rest = "submitted" if browser.release == "ai5-oldest" else "ready"  # 5.0.0 forgets to say so after a 204
    for page, turn in ((asked, asked.resume()), (fresh, fresh.opened)):
        assert [(request["method"], request["status"]) for request in turn["requests"]] == [("GET", 204)]
        assert (turn["status"], turn["error"]) == (at_rest, None)
        assert page.ask(SOURCE)["status"] == "ready"


def test_a_reader_who_lost_the_network_gets_the_whole_answer(visit, upstream, project):
    lost = visit(context=fake("slow", project.domain)).ask(INSTALL, dropAfter=10, body={"resumable": True})
    assert lost["status"] == "error"
    again = visit(chatId=lost["chatId"], messages=lost["messages"][:1])
    turn = again.resume()
    assert [(request["method"], request["status"]) for request in turn["requests"]] == [("GET", 200)]
    assert (turn["status"], turn["error"]) == ("ready", None)
    assert [message["role"] for message in turn["messages"]] == ["user", "assistant"]
    assert turn["message"]["id"] == lost["message"]["id"]
    assert len(lost["text"]) < len(turn["text"]), "it was cut off while it was being written"
    assert len(turn["lengths"]) >= 2, "and read on while it was being written"
    answer = stored(turn)
    assert answer.state == "done"
    assert turn["text"] == turn["shown"] == answer.content
    assert turn["message"]["metadata"] == {"threadId": turn["threadId"]}
    [asked] = upstream.asked(project.domain)
    assert asked["ended"] == "complete"
    assert Message.objects.filter(thread=answer.thread).count() == 2


def test_a_reader_who_cannot_resume_is_not_waited_for(visit, upstream, project):
    lost = visit(context=fake("endless", project.domain)).ask(INSTALL, dropAfter=60)
    assert lost["status"] == "error"
    wait_for(lambda: upstream.last(project.domain)["ended"], "the model request to be closed")
    turn = visit(chatId=lost["chatId"], messages=lost["messages"][:1]).resume()
    assert [request["status"] for request in turn["requests"]] == [204]
