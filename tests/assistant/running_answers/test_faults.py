"""What a failing model server does to an answer: nothing the reader could be hurt by, and always an end.

Before any text the answer falls back (second model, quotes); after
some it breaks off with an error part. The faults are those of `tests.upstream`.
"""

import json
import re
import socket
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from assistant.models import Message, TokenUse
from tests.assistant.running_answers.breaker_clock import BreakerClock
from tests.conftest import PATIENCE, fake, question, wait_for
from tests.ports import free_port
from tests.processes import constants
from tests.variants import first_of

pytestmark = pytest.mark.slow

INSTALL = "How do I install acme with pip?"
SORRY = "The answer broke off. Please try again."
CITED = "https://docs.acme.example/install#with-pip:~:text=Run%20this%20command%20to%20install%20acme"
SPLIT = "Für 日本語\u2028und 😀 [1](https://docs.acme.example/install#with-pip:~:text=pip%20install%20acme)."
NEVER = "3600"  # seconds: a limit that no test waits for
NO_BREAKER = constants({"assistant.upstream.breaker.MAX_FAILURES": 100_000})  # they fail many times in a row
DAILY_TOKENS = 20_000
KEEP_ALIVE = 0.5  # seconds
TOO_LONG = "the model server took too long"
REST = 3600  # seconds that a failing model server is left alone
UNREACHABLE = "the model server cannot be reached"


# ---- Services. Each has its own settings, so each is a process.


def first_model(upstream: Any) -> dict[str, str]:
    return {"OPENAI_BASE_URL": f"{upstream.url}/v1", "OPENAI_API_KEY": "sk-first", "OPENAI_MODEL": "fake-1"}


@pytest.fixture(scope="module")
def one(start: Any, upstream: Any) -> Any:
    """One model."""
    return start(**first_model(upstream), **NO_BREAKER, OPENAI_MAX_TOKENS="77")


@pytest.fixture(scope="module")
def impatient(start: Any, upstream: Any) -> Any:
    """One model, which must write soon and go on soon. Its silence is noticed by these limits or never."""
    limits = {"OPENAI_FIRST_TOKEN_SECONDS": "1", "OPENAI_BETWEEN_TOKENS_SECONDS": "0.5", "OPENAI_ANSWER_SECONDS": NEVER}
    return start(**first_model(upstream), **limits, **NO_BREAKER)


@pytest.fixture(scope="module")
def two(start: Any, upstream: Any) -> Any:
    """Two models on one server, each with its key. Each must write soon."""
    second = {"OPENAI_FALLBACK_MODEL": "fake-2", "OPENAI_FALLBACK_API_KEY": "sk-second"}
    return start(
        **first_model(upstream), **second, **NO_BREAKER, OPENAI_FIRST_TOKEN_SECONDS="3", OPENAI_MAX_TOKENS="77"
    )


@pytest.fixture(scope="module")
def patient(start: Any, upstream: Any) -> Any:
    """One model that may be slow, with keep-alives for the reader; few tokens a day."""
    return start(
        **first_model(upstream),
        **constants({"assistant.running_answers.running.KEEP_ALIVE_SECONDS": KEEP_ALIVE}),
        DAILY_TOKENS_PER_PROJECT=str(DAILY_TOKENS),
    )


@pytest.fixture(scope="module")
def clock() -> BreakerClock:
    """The clock of the next one's breakers."""
    return BreakerClock()


@pytest.fixture(scope="module")
def weary(start: Any, upstream: Any, clock: BreakerClock) -> Any:
    """Two models, each left alone for an hour after three failures. Its tests end with an answer of the first."""
    rest = constants({"assistant.upstream.breaker.MAX_FAILURES": 3, "assistant.upstream.breaker.REST_SECONDS": REST})
    return start.fresh(clock.run, **first_model(upstream), **rest, OPENAI_FALLBACK_MODEL="fake-2")


# ---- Asking and reading.


@dataclass
class Reply:
    """What a reader received, in either protocol."""

    marker: str
    raw: bytes
    seconds: float
    thread_id: str
    kinds: list[str] = field(default_factory=list)  # codes or types, in order
    text: str = ""
    statuses: list[dict[str, Any]] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    end: dict[str, Any] | None = None  # the part that says that the answer is complete

    @property
    def rungs(self) -> list[tuple[str, str]]:
        """Rungs and reasons. The last status only adds what was searched."""
        assert "pages" in self.statuses[-1] or self.errors
        steps = self.statuses if self.errors else self.statuses[:-1]
        return [(step["rung"], step.get("reason", "")) for step in steps]

    @property
    def stored(self) -> Message:
        """The answer in the database, once it is complete there."""
        message = Message.objects.get(thread__thread_id=self.thread_id, role="assistant")
        wait_for(lambda: message.refresh_from_db() or message.state != "running", "the answer to be stored")
        return message


def request_of(service: Any, tenant: Any, protocol: str, mode: str, marker: str) -> dict[str, Any]:
    """The request that asks in a protocol."""
    body = question(INSTALL, context=fake(mode, marker))
    if protocol == "v2":
        body["trigger"] = "submit-message"
        body["messages"] = [{"id": "m1", "role": "user", "parts": [{"type": "text", "text": INSTALL}]}]
    url = f"{service.url}/discovery/{protocol}/assistant/{tenant.domain}/message"
    return {"method": "POST", "url": url, "json": body, "headers": tenant.assistant}


def ask(http: httpx.Client, service: Any, tenant: Any, mode: str, protocol: str = "v1") -> Reply:
    """Ask, read the whole stream, and check what holds for every one."""
    marker = uuid.uuid4().hex
    began = time.monotonic()
    raw = b""
    with http.stream(**request_of(service, tenant, protocol, mode, marker)) as response:
        assert response.status_code == 200
        for chunk in response.iter_raw():
            raw += chunk
            assert time.monotonic() - began < PATIENCE, "the answer does not end"
    reply = Reply(marker, raw, time.monotonic() - began, response.headers["x-thread-id"])
    (read_v1 if protocol == "v1" else read_v2)(reply)
    assert_discreet(reply, service)
    return reply


def read_v1(reply: Reply) -> None:
    lines = reply.raw.decode().split("\n")
    assert lines.pop() == "", "the stream ends with a whole line"
    for line in filter(None, lines):
        code, value = line[0], json.loads(line[2:])
        reply.kinds.append(code)
        match code:
            case "0":
                reply.text += value
            case "2":
                reply.statuses += [item for item in value if item["type"] == "status"]
            case "3":
                reply.errors.append(value)
            case "d":
                reply.end = value
    if reply.errors:
        assert reply.kinds[-2:] == ["2", "3"], "thread id, error, nothing more"
        finish = json.loads(lines[-2][2:])
        assert finish == [{"type": "finish", "threadId": reply.thread_id}]
    else:
        assert reply.kinds[-1] == "d"
        assert reply.end
        assert reply.end["threadId"] == reply.thread_id


def read_v2(reply: Reply) -> None:
    *events, nothing = reply.raw.decode().split("\n\n")
    assert nothing == "", "the stream ends with a whole event"
    assert events.pop() == "data: [DONE]"
    for event in events:
        part = json.loads(event.removeprefix("data: "))
        reply.kinds.append(part["type"])
        match part["type"]:
            case "start":
                assert part["messageMetadata"]["threadId"] == reply.thread_id
            case "text-delta":
                reply.text += part["delta"]
            case "data-status":
                assert part["transient"] is True
                reply.statuses.append(part["data"])
            case "error":
                reply.errors.append(part["errorText"])
            case "finish":
                reply.end = part
    assert reply.kinds[-1] == ("error" if reply.errors else "finish")


def assert_discreet(reply: Reply, service: Any) -> None:
    """Nothing of the model server reaches the reader; no key and no traceback reaches the log."""
    shown, logged = reply.raw.decode(), service.log.read_text()
    for word in ("secret", "10.0.0.7", "127.0.0.1", "sk-", "fake-", "completions", "Loading", "param", "Traceback"):
        assert word not in shown
    for word in ("sk-first", "sk-second", "Traceback"):
        assert word not in logged


def assert_stored_as_sent(reply: Reply) -> Message:
    """The record has what the reader received: text, last rung, reason, and every step."""
    stored = reply.stored
    assert stored.content.strip() == reply.text.strip()
    steps = [(step["rung"], step.get("reason", "")) for step in stored.steps]
    assert steps == reply.rungs
    assert stored.rung == steps[-1][0]
    return stored


def assert_quoted(reply: Reply, reason: str) -> None:
    """The model wrote nothing: the documentation is quoted, and the status has the reason."""
    assert [rung for rung, _ in reply.rungs] == ["model", "extractive"]
    assert reply.rungs[0] == ("model", "")
    assert re.fullmatch(reason, reply.rungs[1][1])
    assert "```sh\npip install acme\n```" in reply.text
    assert f"[1]({CITED})" in reply.text
    assert not reply.errors
    stored = assert_stored_as_sent(reply)
    assert (stored.state, stored.reason) == ("done", reply.rungs[1][1])


def assert_broken_off(reply: Reply, reason: str) -> None:
    """The model had begun: its text stays, and an error ends the answer."""
    assert reply.errors == [SORRY]
    assert reply.end is None
    assert reply.text.startswith("To install acme, run the ")
    stored = assert_stored_as_sent(reply)
    assert (stored.state, stored.rung) == ("error", "model")
    assert re.fullmatch(reason, stored.reason)


def answers_in_full(reply: Reply, rung: str = "model") -> bool:
    return reply.stored.state == "done" and reply.stored.rung == rung and reply.text.endswith("nothing in.")


# ---- Before any text.

REFUSED = [
    # mode, why the next rung answers, how often the model server was asked
    *((f"status{status}", f"the model server answered {status}", 1) for status in (400, 401, 403, 404)),
    ("status429", "the model server answered 429", 2),
    ("wait1", "the model server answered 429", 2),
    ("wait60", "the model server answered 429", 1),
    ("status500", "the model server answered 500", 2),
    ("numeric_error", "the model server answered 500", 2),
    ("loading", "the model server answered 503", 2),
    ("error_event", "the model server reported an error", 2),
    ("html", "the model server .*", 1),
    ("malformed_start", "the model server sent something that is not JSON", 1),
    ("endless_event", "the model server sent an event without end", 1),
    ("empty", "the model server sent an empty answer", 1),
    ("blank", "the model server sent an empty answer", 1),
]


@pytest.mark.parametrize(("mode", "reason", "requests"), first_of(REFUSED, 5, ids=[mode for mode, *_ in REFUSED]))
def test_a_fault_before_any_text_is_answered_with_quotes(http, one, upstream, project, mode, reason, requests):
    reply = ask(http, one, project, mode)
    assert_quoted(reply, reason)
    assert len(upstream.asked(reply.marker)) == requests


@pytest.mark.parametrize("mode", first_of(["silent", "hang", "slow_first", "processing"], 1))
def test_a_model_server_without_a_first_word_is_answered_with_quotes(http, impatient, upstream, project, mode):
    reply = ask(http, impatient, project, mode)
    assert_quoted(reply, TOO_LONG)
    assert len(upstream.asked(reply.marker)) == 1


@pytest.mark.parametrize("mode", ["status401", "malformed_start"])
def test_a_fault_before_any_text_is_answered_with_quotes_in_v2(http, one, upstream, project, mode):
    reason = next(reason for known, reason, _ in REFUSED if known == mode)
    reply = ask(http, one, project, mode, "v2")
    assert_quoted(reply, reason)
    assert reply.kinds.count("text-start") == reply.kinds.count("text-end") == 1


@pytest.mark.parametrize("mode", ["hang_up", "cut_start"])
def test_a_connection_that_breaks_before_any_text_is_answered_with_quotes(http, one, upstream, project, mode):
    reply = ask(http, one, project, mode)
    assert_quoted(reply, "the connection to the model server broke")
    assert len(upstream.asked(reply.marker)) <= 2, "tried again at most once"


def test_a_longer_wait_than_two_seconds_is_not_waited_for(http, one, upstream, project):
    reply = ask(http, one, project, "wait3")
    assert_quoted(reply, "the model server answered 429")
    assert len(upstream.asked(reply.marker)) == 1, "after a wait it would be asked again"


@pytest.mark.parametrize(("mode", "at_least"), first_of([("flaky500", 0.05), ("flaky429", 1.0)], 1))
def test_a_fault_that_passes_is_not_noticed(http, one, upstream, project, mode, at_least):
    reply = ask(http, one, project, mode)
    assert answers_in_full(reply)
    assert_stored_as_sent(reply)
    assert reply.rungs == [("model", "")]
    failed, worked = upstream.asked(reply.marker)
    assert failed["messages"] == worked["messages"]
    assert worked["at"] - failed["ended_at"] >= at_least, "what Retry-After asks for, and some jitter"


@contextmanager
def full_backlog() -> Iterator[str]:
    """A listener whose queue is full: further connections are neither accepted nor refused."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        queue = [socket.socket() for _ in range(4)]
        for waiting in queue:
            waiting.setblocking(False)
            waiting.connect_ex(listener.getsockname())
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        for waiting in queue:
            waiting.close()


@pytest.mark.matrix
def test_servers_that_cannot_be_reached_are_answered_with_quotes(http, start, project):
    nobody = {
        "OPENAI_BASE_URL": f"http://127.0.0.1:{free_port()}/v1",
        "OPENAI_FALLBACK_BASE_URL": "http://model.invalid/v1",  # RFC 6761: never resolves
        "OPENAI_FALLBACK_MODEL": "fake-2",
    }
    reply = ask(http, start(**nobody), project, "happy")
    assert reply.rungs == [("model", ""), ("second_model", UNREACHABLE), ("extractive", UNREACHABLE)]
    assert "```sh\npip install acme\n```" in reply.text
    assert_stored_as_sent(reply)
    assert "model.invalid" not in reply.raw.decode()


@pytest.mark.matrix
def test_a_server_that_accepts_nobody_gives_way_to_another_which_does_not_get_its_key(http, start, upstream, project):
    with full_backlog() as host:
        second = {
            "OPENAI_FALLBACK_BASE_URL": f"{upstream.url.replace('127.0.0.1', 'localhost')}/v1",
            "OPENAI_FALLBACK_MODEL": "fake-2",
        }
        service = start(
            **{**first_model(upstream), "OPENAI_BASE_URL": f"http://{host}/v1"},
            **second,
            **constants({"assistant.upstream.model_choice.CONNECT_SECONDS": 1}),
        )
        reply = ask(http, service, project, "happy")
    assert reply.rungs == [("model", ""), ("second_model", "the model server did not accept the connection in time")]
    assert answers_in_full(reply, "second_model")
    (asked,) = upstream.asked(reply.marker)
    assert asked["authorization"] == ""


# ---- After some text.

BROKEN = [
    ("cut", "the connection to the model server broke"),
    ("malformed", "the model server sent something that is not JSON"),
    ("error_event_late", "the model server reported an error"),
    ("unfinished", "the model server broke off"),
]


@pytest.mark.parametrize(("mode", "reason"), first_of(BROKEN, 2))
@pytest.mark.parametrize("protocol", ["v1", "v2"])
def test_a_fault_after_some_text_breaks_the_answer_off(http, one, upstream, project, mode, reason, protocol):
    reply = ask(http, one, project, mode, protocol)
    assert_broken_off(reply, reason)
    assert (reply.stored.outcome, reply.stored.cut_by) == ("failed", "model_server")
    assert len(upstream.asked(reply.marker)) == 1


@pytest.mark.parametrize("protocol", first_of(["v1", "v2"], 1))
def test_silence_after_some_text_breaks_the_answer_off(http, impatient, upstream, project, protocol):
    reply = ask(http, impatient, project, "stall", protocol)
    assert_broken_off(reply, TOO_LONG)
    assert (reply.stored.outcome, reply.stored.cut_by) == ("failed", "time_limit")
    wait_for(lambda: upstream.last(reply.marker)["ended"] == "closed by the client", "the upstream to be closed")
    assert len(upstream.asked(reply.marker)) == 1


@pytest.mark.parametrize("protocol", first_of(["v1", "v2"], 1))
def test_an_answer_over_256_kb_breaks_off(http, one, upstream, project, protocol):
    reply = ask(http, one, project, "huge", protocol)
    assert reply.errors == [SORRY]
    assert 250 * 1024 < len(reply.text) <= 256 * 1024
    stored = assert_stored_as_sent(reply)
    assert (stored.state, stored.reason) == ("error", "the answer grew too long")
    wait_for(lambda: upstream.last(reply.marker)["ended"] == "closed by the client", "the upstream to be closed")
    assert len(upstream.asked(reply.marker)) == 1


@pytest.mark.matrix
def test_an_answer_without_end_breaks_off_when_its_time_is_over(http, start, upstream, project):
    service = start(**first_model(upstream), OPENAI_ANSWER_SECONDS="1.5")
    reply = ask(http, service, project, "endless")
    assert reply.errors == [SORRY]
    assert reply.text.startswith("on on ")
    assert reply.seconds >= 1.5
    stored = assert_stored_as_sent(reply)
    assert (stored.state, stored.reason) == ("error", TOO_LONG)
    wait_for(lambda: upstream.last(reply.marker)["ended"] == "closed by the client", "the upstream to be closed")


# ---- Unusual, and right all the same.


@pytest.mark.parametrize(
    "mode", first_of(["no_done", "crlf", "no_finish", "no_usage", "null_usage", "no_choices", "happy"], 2)
)
def test_an_unusual_stream_is_read_whole(http, one, upstream, project, mode):
    reply = ask(http, one, project, mode)
    assert reply.rungs == [("model", "")]
    assert answers_in_full(reply)
    assert_stored_as_sent(reply)
    assert reply.end
    counted = {"promptTokens": 812, "completionTokens": 21}
    assert reply.end["usage"] == (counted if mode in ("happy", "no_done", "no_finish") else dict.fromkeys(counted, 0))
    (asked,) = upstream.asked(reply.marker)
    assert asked["ended"] in ("complete", "closed by the client")


@pytest.mark.matrix
@pytest.mark.parametrize("protocol", first_of(["v1", "v2"], 1))
def test_characters_and_events_cut_by_the_network_are_put_together(http, one, project, protocol):
    reply = ask(http, one, project, "split", protocol)
    assert reply.text == SPLIT
    assert reply.stored.content == SPLIT
    assert reply.stored.state == "done"


@pytest.mark.parametrize("protocol", ["v1", "v2"])
def test_an_answer_at_its_token_cap_is_kept_and_says_so(http, one, upstream, project, protocol):
    reply = ask(http, one, project, "length", protocol)
    assert answers_in_full(reply)
    assert reply.end
    assert reply.end["finishReason"] == "length"
    assert upstream.last(reply.marker)["max_tokens"] == 77


def test_the_model_is_not_asked_when_nothing_was_found(http, one, upstream, project):
    marker = "".join(chr(ord("g") + int(digit, 16)) for digit in uuid.uuid4().hex)  # no number, which pages may have
    body = question("What is the airspeed velocity of an unladen swallow?", context=fake("happy", marker))
    url = f"{one.url}/discovery/v1/assistant/{project.domain}/message"
    response = http.post(url, json=body, headers=project.assistant)
    reply = Reply(marker, response.content, 0, response.headers["x-thread-id"])
    read_v1(reply)
    assert reply.rungs == [("nearest_pages", "")]
    assert_stored_as_sent(reply)
    assert upstream.asked(marker) == []


# ---- The second model.


def models(upstream: Any, reply: Reply) -> list[str]:
    return [asked["model"] for asked in upstream.asked(reply.marker)]


@pytest.mark.parametrize(
    ("mode", "reason", "requests"),
    first_of(
        [
            ("status500", "the model server answered 500", 2),
            ("status401", "the model server answered 401", 1),
            ("silent", TOO_LONG, 1),
            ("empty", "the model server sent an empty answer", 1),
        ],
        1,
    ),
)
def test_a_second_model_answers_for_the_first(http, two, upstream, project, mode, reason, requests):
    reply = ask(http, two, project, f"{mode}@fake-1")
    assert reply.rungs == [("model", ""), ("second_model", reason)]
    assert answers_in_full(reply, "second_model")
    stored = assert_stored_as_sent(reply)
    assert stored.reason == reason
    assert (stored.model, stored.outcome, stored.cut_by) == ("fake-2", "answered", "")
    assert (stored.prompt_tokens, stored.completion_tokens) == (812, 21)
    assert models(upstream, reply) == [*["fake-1"] * requests, "fake-2"]
    assert upstream.asked(reply.marker)[0]["authorization"] == "Bearer sk-first"
    assert upstream.last(reply.marker)["authorization"] == "Bearer sk-second"


def test_version_2_also_streams_the_rungs(http, two, project):
    reply = ask(http, two, project, "status404@fake-1", "v2")
    assert reply.rungs == [("model", ""), ("second_model", "the model server answered 404")]
    assert answers_in_full(reply, "second_model")


def test_quotes_answer_when_both_models_fail(http, two, upstream, project):
    reply = ask(http, two, project, "status403@fake-1 fake:malformed_start@fake-2")
    assert reply.rungs == [
        ("model", ""),
        ("second_model", "the model server answered 403"),
        ("extractive", "the model server sent something that is not JSON"),
    ]
    assert "pip install acme" in reply.text
    assert_stored_as_sent(reply)
    assert models(upstream, reply) == ["fake-1", "fake-2"]


def test_a_second_model_is_not_asked_after_some_text(http, two, upstream, project):
    assert_broken_off(reply := ask(http, two, project, "cut@fake-1"), "the connection to the model server broke")
    assert models(upstream, reply) == ["fake-1"]


def test_a_second_model_may_break_off_too(http, two, project):
    reply = ask(http, two, project, "status500@fake-1 fake:cut@fake-2")
    assert reply.errors == [SORRY]
    stored = assert_stored_as_sent(reply)
    assert (stored.state, stored.rung, len(stored.steps)) == ("error", "second_model", 2)


def test_a_model_that_wants_the_other_name_of_the_token_cap_gets_it(http, two, upstream, project):
    mode = "status404@fake-1 fake:max_completion_tokens@fake-2"
    reply = ask(http, two, project, mode)
    assert answers_in_full(reply, "second_model")
    _, refused, answered = upstream.asked(reply.marker)
    assert refused["max_tokens"] == answered["max_completion_tokens"] == 77
    assert "max_tokens" not in answered
    again = ask(http, two, project, mode)
    _, answered = upstream.asked(again.marker)
    assert answered["max_completion_tokens"] == 77, "it is remembered"


# ---- The breaker.

RESTING = "the model server is resting after failures"


@pytest.mark.matrix
def test_a_model_server_rests_after_failures_and_is_tried_again(http, weary, clock, upstream, project):
    for _ in range(3):
        reply = ask(http, weary, project, "malformed_start@fake-1")
        assert models(upstream, reply) == ["fake-1", "fake-2"]
    reply = ask(http, weary, project, "happy")
    assert reply.rungs == [("model", ""), ("second_model", RESTING)]
    assert_stored_as_sent(reply)
    assert models(upstream, reply) == ["fake-2"], "each model has a breaker of its own"
    clock.move_on(REST)
    failed = ask(http, weary, project, "malformed_start@fake-1")
    assert models(upstream, failed) == ["fake-1", "fake-2"], "one request tries"
    assert models(upstream, ask(http, weary, project, "happy")) == ["fake-2"], "and failed, so it rests again"
    clock.move_on(REST)
    for _ in range(2):
        assert models(upstream, ask(http, weary, project, "happy")) == ["fake-1"], "it is well again"


@pytest.mark.matrix
def test_only_one_request_tries_a_resting_server_even_if_its_reader_leaves(http, weary, clock, upstream, project):
    for _ in range(3):
        ask(http, weary, project, "malformed_start@fake-1")
    clock.move_on(REST)
    with http.stream(**request_of(weary, project, "v1", "slow_first@fake-1", marker := uuid.uuid4().hex)):
        wait_for(lambda: upstream.asked(marker), "the one that tries")
        assert models(upstream, ask(http, weary, project, "happy")) == ["fake-2"]
    clock.move_on(REST)
    assert models(upstream, ask(http, weary, project, "happy")) == ["fake-1"], "a reader who left decides nothing"


@pytest.mark.parametrize("mode", first_of(["status400", "leaving", "huge"], 1))
def test_only_failures_of_the_server_open_the_breaker(http, weary, upstream, project, mode):
    for _ in range(4):
        if mode == "leaving":
            with http.stream(**request_of(weary, project, "v1", "silent@fake-1", marker := uuid.uuid4().hex)):
                wait_for(lambda marker=marker: upstream.asked(marker), "the question to reach the model")
        else:
            ask(http, weary, project, f"{mode}@fake-1")
    assert models(upstream, ask(http, weary, project, "happy")) == ["fake-1"]


# ---- Limits of a day, and signs of life.


def test_a_project_that_used_up_its_tokens_gets_quotes(http, patient, upstream, project, make_project):
    assert answers_in_full(ask(http, patient, project, "happy"))
    TokenUse.objects.filter(project=project.project).update(tokens=DAILY_TOKENS)
    reply = ask(http, patient, project, "happy")
    assert reply.rungs == [("extractive", "the project's daily token limit is reached")]
    assert "pip install acme" in reply.text
    assert_stored_as_sent(reply)
    assert upstream.asked(reply.marker) == []


def test_the_token_limit_is_of_one_project_and_one_day(http, patient, upstream, project, make_project):
    spender = make_project()
    TokenUse.objects.create(project=spender.project, day=datetime.now(UTC).date(), tokens=DAILY_TOKENS)
    yesterday = datetime.now(UTC).date() - timedelta(days=1)
    TokenUse.objects.create(project=project.project, day=yesterday, tokens=DAILY_TOKENS)
    reply = ask(http, patient, project, "happy")
    assert len(upstream.asked(reply.marker)) == 1


@pytest.mark.parametrize("mode", ["cut", "no_usage"])
def test_tokens_that_nobody_counted_are_estimated(http, patient, project, mode):
    ask(http, patient, project, mode)
    wait_for(lambda: TokenUse.objects.filter(project=project.project).exists(), "the tokens to be charged")
    assert TokenUse.objects.get(project=project.project).tokens > 200, "the passages alone have more"


@pytest.mark.matrix
@pytest.mark.parametrize("protocol", ["v1", "v2"])
def test_a_silent_stream_shows_signs_of_life(http, patient, project, protocol):
    began = time.monotonic()
    with http.stream(**request_of(patient, project, protocol, "slow_first", "")) as response:
        raw = response.read()
    seconds = time.monotonic() - began
    signs, rest = signs_of_life(raw, protocol)
    assert 2 <= signs <= seconds / KEEP_ALIVE, "one each 0.5 s, and 2 seconds of silence"
    reply = Reply("", rest, 0, response.headers["x-thread-id"])
    (read_v1 if protocol == "v1" else read_v2)(reply)
    assert answers_in_full(reply), "never inside a line or an event"


def signs_of_life(raw: bytes, protocol: str) -> tuple[int, bytes]:
    """How many a stream has, and what is left without them: empty lines, or events that are a comment."""
    sign, end = (b"", b"\n") if protocol == "v1" else (b": keep-alive", b"\n\n")
    *blocks, nothing = raw.split(end)
    assert nothing == b"", "the stream ends with a whole line or event"
    others = [block for block in blocks if block != sign]
    return len(blocks) - len(others), b"".join(block + end for block in others)


@pytest.mark.matrix
def test_a_stream_that_moves_needs_no_signs_of_life(http, patient, project):
    began = time.monotonic()
    with http.stream(**request_of(patient, project, "v1", "slow", "")) as response:
        raw = response.read()
    assert time.monotonic() - began > KEEP_ALIVE
    assert signs_of_life(raw, "v1") == (0, raw)
