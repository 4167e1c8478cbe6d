"""The registries: every stream protocol encodes every answer, and another one is a module and a line."""

import json
from typing import get_args

import pytest

from assistant import wire
from assistant.wire import PROTOCOLS, without_trigger
from assistant.wire.events import (
    Abort,
    Event,
    Excerpt,
    Failure,
    Finish,
    Source,
    Start,
    Status,
    Text,
    ToolCall,
    ToolResult,
)

BEGINNING: list[Event] = [
    Start("msg_1", "thr_1"),
    ToolCall("call_1", "search", {"query": "how?"}),
    ToolResult("call_1", [Excerpt("/a", "https://x.example/a", "A", "B", "words", 0.5)]),
    Status("model"),
    Source(1, "https://x.example/a", "A"),
    Text("one\n\u2028\ud83d"),
    Text('"two"'),
    ToolCall("call_2", "read_page", {"path": "/a"}),
    ToolResult("call_2", []),
    Text("three"),
]
ENDS: list[Event] = [Finish(), Failure("Sorry."), Abort()]


@pytest.mark.parametrize("name", PROTOCOLS)
@pytest.mark.parametrize("end", ENDS, ids=lambda end: type(end).__name__)
def test_every_protocol_encodes_every_event(name, end):
    protocol = PROTOCOLS[name]
    encoder = protocol.encoder()
    assert {type(event) for event in [*BEGINNING, *ENDS]} == set(get_args(Event)), "this test knows all events"
    for event in [*BEGINNING, end]:
        parts = encoder.encode(event)
        assert parts, event
        for part in parts:
            assert part.isascii()
            assert protocol.frame(part)


@pytest.mark.parametrize("name", PROTOCOLS)
def test_an_encoder_refuses_values_that_would_break_the_clients_parser(name):
    excerpt = Excerpt("/a", "https://x.example/a", "A", "B", "words", float("nan"))
    with pytest.raises(ValueError, match="JSON"):
        PROTOCOLS[name].encoder().encode(ToolResult("call_1", [excerpt]))


def test_two_readers_of_one_answer_get_the_same():
    for protocol in PROTOCOLS.values():
        one, other = protocol.encoder(), protocol.encoder()
        assert [one.encode(event) for event in BEGINNING] == [other.encode(event) for event in BEGINNING]


def test_the_socket_sends_the_parts_of_version_2():
    """A client that counts what it has seen may go on over either."""
    for end in ENDS:
        socket, v2 = (wire.PROTOCOLS[name].encoder() for name in ("socket", "v2"))
        for event in [*BEGINNING, end]:
            for sent, part in zip(socket.encode(event), v2.encode(event), strict=True):
                message = json.loads(sent)
                if message.pop("status", None):
                    assert isinstance(event, Failure)
                assert message == json.loads(part)


@pytest.mark.parametrize("end", ENDS, ids=lambda end: type(end).__name__)
@pytest.mark.parametrize("protocol", [without_trigger.PROTOCOL, without_trigger.JSON_PROTOCOL], ids=["any", "JSON"])
def test_two_parts_at_most_differ_for_a_client_that_sends_no_trigger(end, protocol):
    differing = {}
    other, v2 = protocol.encoder(), PROTOCOLS["v2"].encoder()
    for event in [*BEGINNING, end]:
        for sent, part in zip(map(json.loads, other.encode(event)), map(json.loads, v2.encode(event)), strict=True):
            if sent != part:
                differing[part["type"]] = (sent, part)
    sent, part = differing.pop("tool-output-available")
    assert sent == {**part, "output": {"results": part["output"]}}
    if protocol is without_trigger.JSON_PROTOCOL and not isinstance(end, Failure):
        sent, part = differing.pop("finish")
        assert sent == {**part, "threadId": "thr_1"}
    assert differing == {}


def test_a_text_part_ends_with_its_step():
    encoder = PROTOCOLS["v2"].encoder()
    parts = [json.loads(part) for event in [*BEGINNING, Finish()] for part in encoder.encode(event)]
    shown = [part.get("id") or part.get("toolName") or part["type"] for part in parts if part["type"] != "data-status"]
    assert shown[2:] == [
        *("start-step", "search", "search", "tool-output-available", "finish-step"),
        *("start-step", "source-url", "txt_1", "txt_1", "txt_1", "txt_1"),
        *("read_page", "read_page", "tool-output-available", "finish-step"),
        *("start-step", "txt_2", "txt_2", "txt_2", "finish-step", "finish"),
    ]
    assert [part["type"] for part in parts if part.get("id") == "txt_1"] == [
        *("text-start", "text-delta", "text-delta", "text-end"),
    ]
    [call] = [part for part in parts if part["type"] == "tool-input-available" and part["toolName"] == "read_page"]
    assert call == {
        **{"type": "tool-input-available", "toolCallId": "call_2", "toolName": "read_page"},
        **{"providerExecuted": True, "input": {"path": "/a"}},
    }


def test_a_call_ends_a_step_of_version_1():
    encoder = PROTOCOLS["v1"].encoder()
    lines = [line for event in [*BEGINNING, Finish()] for line in encoder.encode(event)]
    assert "".join(line[0] for line in lines) == "f9aef2h009aef082ed"
    assert lines[9] == '9:{"toolCallId":"call_2","toolName":"read_page","args":{"path":"/a"}}\n'
