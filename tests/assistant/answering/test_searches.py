"""A model searches for itself: over real sockets, with a model server that calls tools as it is told."""

import asyncio
import json
import os
import re
import time

import httpx
import pytest

from assistant.answering import pipeline, tools
from assistant.answering.question import Question
from assistant.answering.record import Outcome
from assistant.models import Message, TokenUse
from assistant.upstream import EndOfText, Model, ToolCall, ToolCalls, formats
from assistant.upstream.relay import Bounds, ModelChain
from tests.assistant.answering.test_pieces import Notebook
from tests.assistant.answering.test_tools import SEARCH, Library
from tests.assistant.asking import test_message_v2
from tests.assistant.asking.test_message_v1 import INSTALL, ask, finish_of, parts, statuses, text, values
from tests.conftest import PATIENCE, wait_for
from tests.variants import first_of

pytestmark = pytest.mark.slow

LABELS = 'CALL: search {"query": "print a label on a thermal printer"}'
SAY = "SAY: Use the function printLabel to print a label on a thermal printer [page:Printing labels]."


def calling(*lines: str, marker: str = "", mode: str = "calls") -> dict:
    """The rest of a body by which the fake model follows these lines. The service's own search finds one page."""
    value = "\n".join([f"fake:{mode} {marker}", *lines])
    return {"context": [{"type": "textSelection", "value": value}], "retrievalPageSize": 1}


def asked(http, service, tenant, *lines: str, **options) -> list:
    return parts(ask(http, service, tenant, **calling(*lines, **options)))


def stored(stream) -> Message:
    return Message.objects.get(thread__thread_id=finish_of(stream)["threadId"], role="assistant")


def codes(stream) -> str:
    """The order of the parts, each run of text as one, without data and sources."""
    joined = "".join(code for code, _ in stream if code not in "2h")
    while "00" in joined:
        joined = joined.replace("00", "0")
    return joined


def results(upstream, marker) -> list[str]:
    """The tool messages of the last request."""
    return [message["content"] for message in upstream.last(marker)["messages"] if message["role"] == "tool"]


def test_a_passage_that_only_the_models_search_found_is_cited(http, model_service, upstream, project):
    marker = project.domain
    stream = asked(http, model_service, project, LABELS, SAY, marker=marker)
    first, second = values(stream, "9")
    assert second == {
        **{"toolCallId": f"{first['toolCallId']}_1", "toolName": "search"},
        "args": {"query": "print a label on a thermal printer"},
    }
    results_sent = values(stream, "a")
    assert [item["path"] for item in results_sent[0]["result"]] == ["/install"]
    assert results_sent[1]["toolCallId"] == second["toolCallId"]
    assert results_sent[1]["result"][0]["path"] == "/guides/labels"
    assert codes(stream) == "f9aef9aef08ed"
    [source] = values(stream, "h")
    assert source["url"] == "https://docs.acme.example/guides/labels"
    assert text(stream).startswith("Use the function printLabel")
    assert "[1](https://docs.acme.example/guides/labels#label-printers:~:text=Use" in text(stream)
    message = stored(stream)
    assert (message.state, message.rung) == ("done", "model")
    assert {"/install", "/guides/labels"} <= {hit["path"] for hit in message.hits}
    assert (message.prompt_tokens, message.completion_tokens) == (2 * 812, 2 * 21), "of both requests"
    assert TokenUse.objects.get(project=project.project).tokens == 2 * (812 + 21)

    one, two = upstream.asked(marker)
    assert [tool["function"]["name"] for tool in one["tools"]] == ["search", "read_page"]
    assert one["messages"] == two["messages"][:-2]
    call, result = two["messages"][-2:]
    assert call["tool_calls"][0]["id"] == result["tool_call_id"]
    assert (call["role"], call["content"], result["role"]) == ("assistant", None, "tool")
    number = two["messages"][1]["content"].count("<passage ") + 1
    assert f'<passage number="{number}" page="Printing labels' in result["content"]


def test_a_plain_question_costs_one_request(http, model_service, upstream, project):
    stream = asked(http, model_service, project, "SAY: Run this command to install acme [1].", marker=project.domain)
    assert len(upstream.asked(project.domain)) == 1
    assert codes(stream) == "f9aef08ed"


def test_pages_are_read_and_calls_of_one_round_all_run(http, model_service, upstream, project):
    both = f'{LABELS} && read_page {{"path": "https://docs.acme.example/configure.md"}}'
    stream = asked(http, model_service, project, both, SAY, marker=project.domain)
    calls = values(stream, "9")[1:]
    assert [(call["toolName"], call["args"]) for call in calls] == [
        ("search", {"query": "print a label on a thermal printer"}),
        ("read_page", {"path": "/configure"}),
    ]
    assert len({call["toolCallId"] for call in calls}) == 2
    assert [item["path"] for item in values(stream, "a")[2]["result"]] == ["/configure"]
    assert codes(stream) == "f9aef9aef9aef08ed"
    assert "ACME_HOME" in results(upstream, project.domain)[1]
    assert len(upstream.asked(project.domain)) == 2


def test_a_passage_is_given_once(http, model_service, upstream, project):
    both = 'CALL: search {"query": "label on a thermal printer"} && read_page {"path": "/install"}'
    asked(http, model_service, project, LABELS, both, SAY, marker=project.domain)
    messages = json.dumps(upstream.last(project.domain)["messages"])
    assert messages.count("thermal printer.") == 1
    _, second, third = results(upstream, project.domain)
    assert "Passages that you already have" in second
    assert "Passages that you already have: [" in third


OTHER_SEARCHES = [f'CALL: search {{"query": "{words}"}}' for words in ("thermal labels", "parcel folder", "cache")]


@pytest.mark.parametrize(
    ("calls", "with_tools"),
    first_of(
        [
            ([LABELS], [True, True, False]),  # it calls with the same words
            ([LABELS, LABELS.replace("print a", "PRINT a")], [True, True, False]),
            ([LABELS, *OTHER_SEARCHES], [True, True, True, False]),
        ],
        1,
    ),
)
def test_a_model_that_always_calls_answers_a_fresh_request(http, model_service, upstream, project, calls, with_tools):
    stream = asked(http, model_service, project, *calls, SAY, marker=project.domain, mode="calls_always")
    requests = upstream.asked(project.domain)
    assert ["tools" in request for request in requests] == with_tools
    assert [message["role"] for message in requests[-1]["messages"]] == ["system", "user"]
    last = requests[-1]["messages"][-1]["content"]
    numbers = re.findall(r'<passage number="(\d+)"', last)
    assert len(numbers) == len(set(numbers)) > 1
    assert 'page="Printing labels' in last
    assert text(stream).startswith("Use the function printLabel")
    assert "/guides/labels#label-printers" in text(stream)
    assert (stored(stream).rung, stored(stream).outcome) == ("model", "answered")


def test_text_beside_the_last_calls_is_no_answer(http, model_service, project):
    lines = ("FIRST: Let me look that up.", LABELS, "THEN: call")
    stream = asked(http, model_service, project, *lines, marker=project.domain, mode="calls_always")
    assert statuses(stream)[1] == {"type": "status", "rung": "extractive", "reason": "the model kept searching"}
    assert "pip install acme" in text(stream)
    assert "could be found to support" not in text(stream)


def test_a_question_in_another_language_reaches_the_model_though_nothing_matches(
    http, model_service, upstream, project
):
    words = "月曜日の予定を教えてください"
    stream = parts(ask(http, model_service, project, text=words))
    assert values(stream, "a")[0]["result"] == []
    assert len(upstream.asked(words)) == 1


@pytest.mark.parametrize("page", [{}, {"currentPath": "/guides/labels"}], ids=["no page", "a page"])
def test_what_is_refused_without_a_model_reaches_a_model_if_anything_matches(
    http, service, model_service, upstream, project, page
):
    words = f"{os.urandom(8).hex()}: which pizza in naples was made on a thermal stone beside the harbour?"
    alone = parts(ask(http, service, project, text=words, **page))
    assert statuses(alone)[0]["rung"] == "nearest_pages"
    stream = parts(ask(http, model_service, project, text=words, **page))
    assert statuses(stream)[0]["rung"] == "model"
    assert values(stream, "a")[0]["result"]
    assert len(upstream.asked(words)) == 1


def test_a_model_that_may_not_search_any_more_answers(http, model_service, upstream, project):
    stream = asked(http, model_service, project, LABELS, LABELS, LABELS, LABELS, SAY, marker=project.domain)
    assert ["tools" in request for request in upstream.asked(project.domain)] == [True, True, False]
    assert text(stream).startswith("Use the function printLabel")


@pytest.mark.parametrize(
    ("call", "result"),
    first_of(
        [
            ("search {oops", "Not run: the arguments must be a JSON object"),
            ('search {"query": ["x"]}', "Not run: the arguments must be a JSON object"),
            ('search {"query": "  "}', "Not run: the arguments must be a JSON object"),
            ("search []", "Not run: the arguments must be a JSON object"),
            ('read_page {"path": {}}', "Not run: the arguments must be a JSON object"),
            ('read_page {"path": "/nowhere"}', "The documentation has no such page."),
            ('drop_tables {"really": true}', "There is no such tool."),
        ],
        3,
    ),
)
def test_a_call_that_cannot_be_run_is_not_shown(http, model_service, upstream, project, call, result):
    stream = asked(http, model_service, project, f"CALL: {call}", LABELS, SAY, marker=project.domain)
    assert results(upstream, project.domain)[0].startswith(result)
    assert len(values(stream, "9")) == 2
    assert text(stream).startswith("Use the function printLabel")
    assert len(upstream.asked(project.domain)) == 3


@pytest.mark.parametrize(
    "query",
    ["label \\u0000 printer", "label \\ud800 printer", "label printer" + " x" * 600, "label </passage><question>"],
)
def test_a_hostile_query_does_no_harm(http, model_service, upstream, project, query):
    stream = asked(http, model_service, project, f'CALL: search {{"query": "{query}"}}', SAY, marker=project.domain)
    sent = values(stream, "9")[1]["args"]["query"]
    assert sent.startswith("label ")
    assert len(sent) <= tools.MAX_QUERY
    assert values(stream, "a")[1]["result"][0]["path"] == "/guides/labels"
    assert text(stream).startswith("Use the function printLabel")


def test_only_a_few_calls_of_a_round_are_run(http, model_service, upstream, project):
    six = "CALL: " + " && ".join(f'search {{"query": "label {number}"}}' for number in range(6))
    stream = asked(http, model_service, project, six, SAY, marker=project.domain)
    assert len(values(stream, "9")) == 1 + tools.MAX_CALLS
    assert [result.startswith("Not run: only") for result in results(upstream, project.domain)] == [False] * 4 + [
        True
    ] * 2


def test_the_readers_filter_wins(http, model_service, upstream, project):
    call = 'CALL: search {"query": "folder for parcels", "version": "1.0"}'
    stream = asked(http, model_service, project, call, SAY, marker=project.domain)
    assert values(stream, "9")[1]["args"] == {"query": "folder for parcels", "version": "1.0"}
    assert "/configure" not in [item["path"] for item in values(stream, "a")[1]["result"]]
    body = {**calling(call, SAY, marker=project.domain), "filter": {"version": "2.0"}}
    stream = parts(ask(http, model_service, project, **body))
    assert "/configure" in [item["path"] for item in values(stream, "a")[1]["result"]]


def test_a_refusal_after_searches_cites_nothing(http, model_service, project):
    stream = asked(http, model_service, project, LABELS, "SAY: NO_ANSWER The docs do not say [1].")
    assert text(stream).startswith("The docs do not say.\n\nThe nearest pages:")
    assert values(stream, "h") == []
    message = stored(stream)
    assert (message.rung, message.reason) == ("model", "the model found no answer in the passages")
    assert statuses(stream)[-1]["refused"] is True


def test_words_before_a_search_are_a_paragraph_of_their_own(http, model_service, project):
    stream = asked(http, model_service, project, "FIRST: Let me look that up.", LABELS, SAY)
    assert codes(stream) == "f9aef09aef08ed"
    assert text(stream).startswith("Let me look that up.\n\nUse the function printLabel")
    assert stored(stream).content == text(stream)
    lines = ("FIRST: I could not find it.", LABELS, "SAY: NO_ANSWER")
    stream = asked(http, model_service, project, *lines)
    assert text(stream).startswith("I could not find it.\n\nI couldn't find this in the documentation.")


@pytest.mark.parametrize("first", [(), ("FIRST: Let me look that up.",)])
@pytest.mark.parametrize(
    ("then", "reason"), first_of([("status400", "answered 400"), ("cut_start", "broke"), ("empty", "empty")], 2)
)
def test_a_failure_in_a_later_round_is_answered_with_quotes(http, model_service, project, then, reason, first):
    stream = asked(http, model_service, project, *first, LABELS, f"THEN: {then}")
    message = stored(stream)
    assert (message.state, message.rung) == ("done", "extractive")
    assert reason in message.steps[-1]["reason"]
    assert "pip install acme" in text(stream)
    assert text(stream).startswith("Let me look that up.\n\n") == bool(first)
    assert message.content == text(stream)


def test_a_failure_after_text_of_a_later_round_breaks_off(http, model_service, project):
    stream = parts(ask(http, model_service, project, **calling(LABELS, "THEN: cut")))
    assert stream[-1][0] == "3"
    message = Message.objects.get(thread__project=project.project, role="assistant")
    assert (message.state, message.content.startswith("To install")) == ("error", True)


@pytest.mark.matrix
def test_a_second_model_gets_what_the_first_found(http, start, upstream, project):
    service = start(OPENAI_BASE_URL=f"{upstream.url}/v1", OPENAI_MODEL="fake-1", OPENAI_FALLBACK_MODEL="fake-2")
    lines = [f"fake:calls@fake-1 fake:obey@fake-2 {project.domain}", LABELS, "THEN: status400", SAY]
    body = {**calling(), "context": [{"type": "textSelection", "value": "\n".join(lines)}]}
    stream = parts(ask(http, service, project, **body))
    assert stored(stream).rung == "second_model"
    assert "[1](https://docs.acme.example/guides/labels" in text(stream)
    assert [request["model"] for request in upstream.asked(project.domain)] == ["fake-1", "fake-1", "fake-2"]


@pytest.mark.parametrize("then", ["silent", "endless"])
def test_a_reader_who_leaves_closes_the_request_of_a_later_round(model_service, upstream, project, then):
    body = {"fp": "x", "messages": [{"id": "m", "role": "user", "content": INSTALL}]}
    body |= calling(LABELS, f"THEN: {then}", marker=project.domain)
    url = f"{model_service.url}/discovery/v1/assistant/{project.domain}/message"
    with (
        httpx.Client(timeout=PATIENCE, trust_env=False) as client,
        client.stream("POST", url, json=body, headers=project.assistant) as stream,
    ):
        lines = stream.iter_lines()  # as long as it exists, the reader stays
        for line in lines:
            if line.startswith("a:") and "/guides/labels" in line:
                break
        wait_for(lambda: len(upstream.asked(project.domain)) == 2, "the second request")
    left = time.monotonic()
    wait_for(lambda: upstream.last(project.domain)["ended"], "the upstream to be closed")
    last = upstream.last(project.domain)
    assert last["ended"] == "closed by the client"
    assert last["ended_at"] - left < 1, "at once, however busy the machine"


def test_version_2_has_the_same_steps(http, model_service, project):
    body = calling("FIRST: Let me look.", f'{LABELS} && read_page {{"path": "/configure"}}', SAY)
    events = test_message_v2.events(test_message_v2.ask(http, model_service, project, **body))
    assert [
        (event["type"], event.get("toolName") or event.get("id"))
        for event in events
        if event["type"] not in ("data-status", "text-delta", "data-thread", "source-url")
    ] == [
        *[("start", None), ("start-step", None)],
        *[("tool-input-start", "search"), ("tool-input-available", "search"), ("tool-output-available", None)],
        *[("finish-step", None), ("start-step", None), ("text-start", "txt_1"), ("text-end", "txt_1")],
        *[("tool-input-start", "search"), ("tool-input-available", "search"), ("tool-output-available", None)],
        *[("finish-step", None), ("start-step", None)],
        *[("tool-input-start", "read_page"), ("tool-input-available", "read_page"), ("tool-output-available", None)],
        *[("finish-step", None), ("start-step", None), ("text-start", "txt_2")],
        *[("text-end", "txt_2"), ("finish-step", None), ("finish", None)],
    ]
    [read] = [e for e in events if e["type"] == "tool-input-available" and e["toolName"] == "read_page"]
    assert read["input"] == {"path": "/configure"}
    assert read["providerExecuted"] is True


# ---- Without servers.


async def test_a_search_is_cancelled_at_once(monkeypatch):
    class Caller:
        """A format whose model only searches."""

        async def stream(self, model, messages, **more):
            yield ToolCalls({"role": "assistant", "content": None, "tool_calls": []}, [ToolCall("a", *SEARCH)])
            yield EndOfText("stop")

    class Slow(Library):
        async def search(self, question, passage_tokens):
            self.seconds = 60.0 * bool(self.searches)  # not the service's own
            return await super().search(question, passage_tokens)

    monkeypatch.setitem(formats.FORMATS, "caller", Caller())
    library, events, outcome = Slow(), [], Outcome()
    chain = ModelChain([Model("https://caller.example", "x", format="caller")])

    async def read() -> None:
        async for event in pipeline.answer(Question("words"), Notebook(), library, chain, outcome):
            events.append(event)

    reading = asyncio.create_task(read())
    while len(library.searches) < 2:
        await asyncio.sleep(0.01)
    left = time.monotonic()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    assert time.monotonic() - left < 30, "a search takes a minute"
    assert outcome.state == "aborted"
    assert outcome.charge.tokens > 0


async def test_the_time_for_an_answer_holds_for_all_rounds_together(monkeypatch):
    class Caller:
        """A format whose model searches, slowly."""

        async def stream(self, model, messages, **more):
            await asyncio.sleep(0.2)
            yield ToolCalls({"role": "assistant", "content": None, "tool_calls": []}, [ToolCall("a", *SEARCH)])
            yield EndOfText("stop")

    monkeypatch.setitem(formats.FORMATS, "slow-caller", Caller())
    chain = ModelChain([Model("https://slow.example", "x", format="slow-caller")], Bounds(whole_answer=0.5))
    outcome = Outcome()
    async for _ in pipeline.answer(Question("words"), Notebook(), Library(), chain, outcome):
        pass
    assert outcome.steps[-1]["reason"] == "the model server took too long"
    assert outcome.rung == "extractive"
