"""The registries: every stream protocol encodes every answer, and another one is a module and a line."""

import json
from typing import get_args

import pytest

from assistant import wire
from assistant.events import (
    Abort,
    Event,
    Excerpt,
    Failure,
    Finish,
    SearchCall,
    SearchResult,
    Source,
    Start,
    Status,
    Text,
)
from assistant.wire import PROTOCOLS, without_trigger

BEGINNING: list[Event] = [
    Start("msg_1", "thr_1"),
    SearchCall("call_1", "how?"),
    SearchResult("call_1", [Excerpt("/a", "https://x.example/a", "A", "B", "words", 0.5)]),
    Status("model"),
    Source(1, "https://x.example/a", "A"),
    Text("one\n\u2028\ud83d"),
    Text('"two"'),
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
        PROTOCOLS[name].encoder().encode(SearchResult("call_1", [excerpt]))


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
def test_two_parts_differ_for_a_client_that_sends_no_trigger(end):
    differing = {}
    other, v2 = without_trigger.PROTOCOL.encoder(), PROTOCOLS["v2"].encoder()
    for event in [*BEGINNING, end]:
        for sent, part in zip(map(json.loads, other.encode(event)), map(json.loads, v2.encode(event)), strict=True):
            if sent != part:
                differing[part["type"]] = (sent, part)
    sent, part = differing.pop("tool-output-available")
    assert sent == {**part, "output": {"results": part["output"]}}
    if not isinstance(end, Failure):
        sent, part = differing.pop("finish")
        assert sent == {**part, "threadId": "thr_1"}
    assert differing == {}
