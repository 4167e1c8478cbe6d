"""Readers who stop an answer over HTTP, and who want the rest of it after all."""

import threading

import httpx
import pytest

from assistant.answering import follow_ups
from assistant.answering.question import Question, Turn
from assistant.models import Message, Thread
from tests.assistant.asking.test_message_v2 import ask as ask_v2
from tests.conftest import PATIENCE, assert_error, fake, wait_for
from tests.variants import first_of

pytestmark = pytest.mark.slow

INSTALL = "How do I install acme with pip?"


class Reader(threading.Thread):
    """Asks over version 2, and reads on in a thread of its own."""

    def __init__(self, service, tenant, fp="reader-1", **body):
        super().__init__(daemon=True)
        self.url = f"{service.url}/discovery/v2/assistant/{tenant.domain}"
        self.tenant, self.text, self.begun = tenant, "", threading.Event()
        message = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": INSTALL}]}
        self.body = {"fp": fp, "id": "chat-1", "trigger": "submit-message", "messages": [message], **body}

    def run(self):
        with (
            httpx.Client(timeout=PATIENCE, trust_env=False) as client,
            client.stream("POST", f"{self.url}/message", json=self.body, headers=self.tenant.assistant) as stream,
        ):
            self.thread_id = stream.headers["x-thread-id"]
            for piece in stream.iter_text():
                self.text += piece
                if "text-delta" in self.text:
                    self.begun.set()

    @property
    def answer(self) -> Message:
        return Message.objects.get(thread__thread_id=self.thread_id, role="assistant")


@pytest.fixture
def reading(model_service, project):
    """A reader of an endless answer that has begun."""

    def begin(marker, **body):
        reader = Reader(model_service, project, context=fake("endless", marker), **body)
        reader.start()
        assert reader.begun.wait(PATIENCE)
        return reader

    return begin


@pytest.fixture
def stop(http, model_service, project):
    """Ask to stop an answer."""

    def send(body, *, tenant=project, to=model_service, headers=None):
        url = f"{to.url}/discovery/v2/assistant/{tenant.domain}/stop"
        return http.post(url, json=body, headers=headers or tenant.assistant)

    return send


@pytest.mark.parametrize("resumable", [False, True])
def test_stop_ends_answer_and_upstream_request_and_stores_the_text(reading, stop, upstream, resumable):
    marker = f"stop-over-http-{resumable}"
    reader = reading(marker, resumable=resumable)
    answer = reader.answer
    sent = stop({"fp": "reader-1", "threadId": reader.thread_id, "messageId": answer.message_id})
    assert (sent.status_code, sent.text) == (204, "")
    answer.refresh_from_db()
    assert answer.state == "aborted", "stored when the answer comes"
    assert (answer.outcome, answer.cut_by) == ("cut", "reader")
    assert answer.content
    wait_for(lambda: upstream.last(marker)["ended"] == "closed by the client", "the upstream to be closed")
    reader.join(PATIENCE)
    assert not reader.is_alive()
    assert reader.text.rstrip().endswith("[DONE]")
    assert '"type":"abort"' in reader.text


def test_only_ones_own_answer_is_stopped(reading, stop, upstream, make_project):
    marker = "nobody-elses"
    reader = reading(marker)
    mine = {"fp": "reader-1", "threadId": reader.thread_id, "messageId": reader.answer.message_id}
    for wrong in ({"fp": "reader-2"}, {"threadId": "thr_x"}, {"messageId": "msg_x"}):
        assert stop({**mine, **wrong}).status_code == 204
    assert stop(mine, tenant=make_project()).status_code == 204
    assert reader.is_alive()
    assert reader.answer.state == "running"
    assert stop(mine).status_code == 204
    reader.join(PATIENCE)
    assert stop(mine).status_code == 204, "also when nothing runs any more"


@pytest.mark.parametrize(
    ("body", "fields"),
    [
        ({}, ("fp: ", "threadId: ", "messageId: ")),
        ({"fp": "", "threadId": "t", "messageId": "m"}, ("fp: ",)),
        ({"fp": "x", "threadId": 5, "messageId": "m"}, ("threadId: ",)),
        ({"fp": "x", "threadId": "t", "messageId": "m" * 129}, ("messageId: ",)),
    ],
)
def test_stopping_names_the_field_that_is_wrong(stop, service, body, fields):
    assert_error(stop(body, to=service), 400, *fields)


def test_stopping_takes_a_key_and_counts_against_no_limit(stop, start, http, project):
    limited = start(LIMIT_ASSISTANT_ORG="1/d")
    body = {"fp": "x", "threadId": "thr_x", "messageId": "msg_x"}
    for _ in range(3):
        answer = stop(body, to=limited)
        assert (answer.status_code, '"assistant-org";r=1;' in answer.headers["ratelimit"]) == (204, True)
    assert_error(stop(body, to=limited, headers={"Authorization": "Bearer svc_dsc_x"}), 401)
    assert_error(stop(body, to=limited, headers=project.admin), 403)
    allowed = {**project.assistant, "Origin": "https://docs.acme.example"}
    assert stop(body, to=limited, headers=allowed).headers["access-control-allow-origin"] == allowed["Origin"]
    assert_error(stop(body, to=limited, headers={**allowed, "Origin": "https://evil.example"}), 403)


# Continue


def thread_of(project, *turns) -> Thread:
    """A conversation; an answer with a state is told as (text, state)."""
    thread = Thread.objects.create(project=project.project, fp="reader-1")
    for number, turn in enumerate(turns):
        content, state = turn if isinstance(turn, tuple) else (turn, "done")
        role = "assistant" if number % 2 else "user"
        Message.objects.create(thread=thread, role=role, content=content, state=state)
    return thread


@pytest.mark.parametrize("words", first_of(["Continue", "continue", "go on", "Continue.", " Go on … "], 2))
@pytest.mark.parametrize("so_far", ["Run this", ""])
def test_without_a_model_continue_quotes_the_passages_again(http, service, project, words, so_far):
    thread = thread_of(project, INSTALL, (so_far, "aborted"))
    answer = ask_v2(http, service, project, words, threadId=thread.thread_id)
    assert answer.headers["x-thread-id"] == thread.thread_id
    assert f'"query":"{INSTALL}"' in answer.text
    stored = thread.messages.last()
    assert "pip install acme" in stored.content
    assert stored.rung == "extractive"
    assert thread.messages.order_by("-pk")[1].content == words.strip()


def test_a_second_continue_goes_on_with_the_same_question(http, service, project):
    thread = thread_of(project, INSTALL, ("Run", "aborted"), "Continue", ("Run this", "aborted"))
    assert f'"query":"{INSTALL}"' in ask_v2(http, service, project, "go on", threadId=thread.thread_id).text


def test_a_follow_up_is_continued_as_it_was_understood(http, service, project):
    thread = thread_of(project, INSTALL, "So.", "and from source?", ("Clone", "aborted"))
    answer = ask_v2(http, service, project, "Continue", threadId=thread.thread_id)
    assert f'"query":"{INSTALL} and from source?"' in answer.text
    assert "make install" in thread.messages.last().content


def test_the_model_sees_how_far_the_answer_got(http, model_service, upstream, project):
    thread = thread_of(project, INSTALL, ("Run this command:", "aborted"))
    ask_v2(http, model_service, project, "Continue", threadId=thread.thread_id, currentPath="/marker-of-continue")
    system, asked, so_far, now = upstream.last("/marker-of-continue")["messages"]
    assert system["role"] == "system"
    assert (asked["content"], so_far["content"]) == (INSTALL, "Run this command:")
    assert "pip install acme" in now["content"], "the passages of the question before"
    assert "<question>\nContinue\n</question>" in now["content"]


def history(*turns):
    return [Turn("assistant" if number % 2 else "user", text) for number, text in enumerate(turns)]


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("Continue", [*history("Q"), Turn("assistant", "A")]),  # it was whole
        ("Continue", []),
        ("Continue", [Turn("user", "Continue"), Turn("assistant", "A", broken_off=True)]),
        ("Continue with pip", [*history("Q"), Turn("assistant", "A", broken_off=True)]),
        ("How do I continue?", [*history("Q"), Turn("assistant", "A", broken_off=True)]),
        ("going on", [*history("Q"), Turn("assistant", "A", broken_off=True)]),
    ],
)
def test_anything_else_is_a_question_of_its_own(text, before):
    question = Question(text)
    assert follow_ups.resolve(question, before) == (question, before)
