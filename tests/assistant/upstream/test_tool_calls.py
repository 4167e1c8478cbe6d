"""Tool calls of model servers, whole or in pieces, however they are numbered."""

import json

import pytest

from assistant.upstream import Delta, Progress, ToolCall, ToolCalls
from assistant.upstream.completion import Completion
from assistant.upstream.tool_calls import MAX_ARGUMENTS, MAX_CALLS

WHERE = '{"query": "where"}'


def piece(arguments=None, *, name=None, **more) -> dict:
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return {**more, "function": function}


def read(*deltas: dict | list, reason: str | None = "tool_calls", key: str = "delta") -> list:
    """The items of a stream. A list is the pieces of calls in one event."""
    completion = Completion()
    choices = [{key: delta if isinstance(delta, dict) else {"tool_calls": delta}} for delta in deltas]
    if reason:
        choices[-1]["finish_reason"] = reason
    return list(completion.feed([*({"choices": [choice]} for choice in choices), None]))


def calls_of(items: list) -> list[tuple]:
    [calls] = [item for item in items if isinstance(item, ToolCalls)]
    sent = [(call["id"], call["function"]["name"]) for call in calls.message["tool_calls"]]
    assert sent == [(call.id, call.name) for call in calls.calls]
    return [(call.name, call.arguments) for call in calls.calls]


FIRST = piece("", name="search", id="a", type="function")
TWO = [("search", {"query": "where"}), ("read_page", {"path": "/a"})]


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        (
            [[{**FIRST, "index": 0}], [piece('{"query"', index=0)], [piece(': "where"}', index=0)]],
            [("search", {"query": "where"})],
        ),
        ([[FIRST], [piece(WHERE[:5])], [piece(WHERE[5:])]], [("search", {"query": "where"})]),
        ([[piece(WHERE[:5], name="search")], [piece(WHERE[5:], name="search")]], [("search", {"query": "where"})]),
        ([[piece({"query": "where"}, name="search")]], [("search", {"query": "where"})]),
        ([[piece(name="search", id="a")]], [("search", {})]),
        (
            [
                [{**FIRST, "index": 0}, piece("", name="read_page", id="b", index=1)],
                [piece('{"path": "/a"}', index=1), piece(WHERE, index=0)],
            ],
            TWO,
        ),
        ([[piece(WHERE, name="search", id="a", index=0)], [piece('{"path": "/a"}', name="read_page", index=0)]], TWO),
        ([[piece(WHERE, name="search", id="a"), piece('{"path": "/a"}', name="read_page", id="b")]], TWO),
        ([[piece(WHERE, name="search")], [piece(WHERE, name="search")]], [("search", {"query": "where"})] * 2),
        ([[piece('{"query": ', name="search", id="a")]], [("search", None)]),
        ([[piece('["where"]', name="search", id="a")]], [("search", None)]),
        ([[piece("[" * 9_000, name="search", id="a")]], [("search", None)]),
    ],
    ids=lambda value: None,
)
@pytest.mark.parametrize("reason", ["tool_calls", "stop", "function_call", "length", None])
def test_calls_are_put_together(deltas, calls, reason):
    items = read(*deltas, reason=reason)
    assert calls_of(items) == calls
    assert items.count(Progress()) == len(deltas), "each event with a piece is a sign of life"


def test_a_whole_completion_has_its_calls():
    items = read([piece(WHERE, name="search", id="a"), piece(WHERE, name="search", id="b")], key="message")
    assert calls_of(items) == [("search", {"query": "where"})] * 2


def test_the_message_to_send_back_has_what_servers_want_back():
    google = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    details = [{"type": "reasoning.encrypted", "data": "x"}]
    [calls] = [
        item
        for item in read(
            {"reasoning_content": "Hm, ", "reasoning_details": details},
            {"reasoning_content": "so.", "tool_calls": [{**FIRST, **google, "index": 0}]},
            [piece(WHERE, index=0)],
        )
        if isinstance(item, ToolCalls)
    ]
    function = {"name": "search", "arguments": WHERE}
    assert calls.message == {
        "role": "assistant",
        "content": None,
        "reasoning_content": "Hm, so.",
        "reasoning_details": details,
        "tool_calls": [{"id": "a", "type": "function", "function": function, **google}],
    }


def test_arguments_that_are_no_object_are_not_sent_back():
    [calls] = [item for item in read([piece("{oops", name="search")]) if isinstance(item, ToolCalls)]
    [call] = calls.message["tool_calls"]
    assert call["function"]["arguments"] == "{}"
    assert call["id"].isalnum(), "an id of ours"
    assert calls.calls == [ToolCall(call["id"], "search", None)]


def test_a_call_that_no_request_can_hold_is_made_sendable():
    broken = piece('{"query": "\ud800"}', name="search", id="\udfff", extra="\ud800")
    [calls] = [item for item in read([broken]) if isinstance(item, ToolCalls)]
    json.dumps(calls.message, ensure_ascii=False).encode()
    assert calls.message["tool_calls"][0]["id"] == calls.calls[0].id == "?"


def test_calls_are_limited():
    many = [[piece(WHERE, name="search", id=str(number), index=number)] for number in range(50)]
    assert len(calls_of(read(*many))) == MAX_CALLS
    unnumbered = [[piece(WHERE, name="search", id=str(number))] for number in range(50)]
    assert calls_of(read(*unnumbered)) == [("search", {"query": "where"})] * MAX_CALLS
    assert calls_of(read([FIRST], *[[piece("x" * MAX_ARGUMENTS)]] * 3)) == [("search", None)]


@pytest.mark.parametrize("calls", [None, {}, "x", [None, 1, {}], [{"function": None}], [{"function": {"name": 1}}]])
def test_nonsense_is_no_call(calls):
    assert not [item for item in read({"tool_calls": calls, "content": "x"}) if isinstance(item, ToolCalls)]


def test_calls_in_the_text_are_calls():
    text = '<tool_call>{"name": "search", "arguments": {"query": "where"}}</tool_call>\n<tool_call>'
    rest = '{"name": "read_page", "arguments": {"path": "/a"}}</tool_call><tool_call>no JSON</tool_call>'
    items = read({"content": text}, {"content": rest}, reason="stop")
    assert calls_of(items) == TWO
    assert not [item for item in items if isinstance(item, Delta)]
