"""The OpenAI format: server-sent events and completions, from servers that break the rules."""

import gc
import json
import weakref
from contextlib import aclosing

import pytest

from assistant.answering.tools import TOOLS
from assistant.upstream import Delta, Model, UpstreamError, Usage, formats, openai, relay
from assistant.upstream.completion import Completion
from assistant.upstream.event_parser import MAX_EVENT_SIZE, EventParser
from assistant.upstream.relay import Bounds


@pytest.mark.parametrize(
    "event",
    [
        {"choices": [5]},
        {"choices": "abc"},
        {"choices": [{"delta": "abc"}]},
        {"error": {"code": 500}},
        {"choices": None},
    ],
)
def test_an_event_of_the_wrong_shape_is_a_failure_of_the_model_server(event):
    with pytest.raises(UpstreamError):
        read(event)


@pytest.mark.parametrize(
    "event",
    [
        {"error": {"message": "it broke", "code": "500"}},
        {"error": "it broke"},
        {"error": [{"message": "it broke"}]},
        {"object": "error", "message": "it broke", "code": 500},
        {"error": {"message": "it broke"}, "choices": [{"delta": {"content": ""}, "finish_reason": "error"}]},
    ],
)
def test_an_error_inside_a_stream_is_read_in_every_shape(event):
    with pytest.raises(UpstreamError, match="the model server reported an error") as failure:
        read(event)
    assert "it broke" in failure.value.message


@pytest.mark.parametrize(
    ("base_url", "asked"),
    [
        ("https://x.example/v1", "https://x.example/v1/chat/completions"),
        ("https://x.example/v1/chat/completions", "https://x.example/v1/chat/completions"),
        ("https://x.example/d?api-version=1", "https://x.example/d/chat/completions?api-version=1"),
        ("http://[::1]:8000", "http://[::1]:8000/chat/completions"),
    ],
)
def test_the_address_that_is_asked(base_url, asked):
    assert openai.completions_url(Model(base_url, "x")) == asked


def test_an_address_in_the_log_has_no_secrets():
    model = Model("https://me:secret@x.example:8000/v1?key=secret", "x")
    assert model.address == "https://x.example:8000/v1"


def read(*events: dict) -> list:
    completion = Completion()
    items = [item for event in events for item in completion.parse(event)]
    completion.end()
    return items


def test_text_and_counts_arrive_so_that_they_can_be_stored():
    texts = ("Hello \ud83d", "\ude00 you\x00", "\udc00 end \ud83d")
    events = [{"choices": [{"delta": {"content": text}}]} for text in texts]
    usage = {"prompt_tokens": 10**30, "completion_tokens": 7}
    events.append({"choices": [{"finish_reason": "stop"}], "usage": usage})
    items = read(*events)
    assert "".join(item.text for item in items if isinstance(item, Delta)) == "Hello 😀 you\ufffd end "
    assert items[-1] == Usage(0, 7)


FURTHER = [
    {"choices": [{"delta": {"content": "a"}}, {"delta": {"content": "b"}}]},
    {"choices": [{"delta": {"content": "a"}, "finish_reason": "length"}]},
    {"choices": [{"delta": {"content": "a", "reasoning_content": "because"}}]},
    {"choices": [{"delta": {"content": "a", "tool_calls": [{"index": 0, "function": {"name": "f"}}]}}]},
    {"choices": [{"delta": {"content": "a", "reasoning_details": [1]}}]},
    {"choices": [{"delta": {"content": [{"type": "text", "text": "a"}]}}]},
    {"choices": [{"delta": {"content": ""}}]},
    {"choices": [{"delta": {"content": "a"}}], "usage": {"prompt_tokens": 1}},
    {"choices": [{"delta": {"content": "a"}}], "x_groq": {"usage": {"prompt_tokens": 1}}},
    {"choices": [{"delta": {"content": "a"}}], "error": {"message": "full"}},
    {"choices": [{"delta": {"content": "a"}}], "object": "error"},
    {"choices": [{"delta": {"content": "\ud83d"}}]},
    {"choices": [{"message": {"content": "a"}}]},
    {"choices": None},
]


def as_chunk(event: object) -> bytes:
    return f"data: {json.dumps(event)}\n\n".encode()


def test_a_chunk_with_a_text_alone_is_parsed_as_such():
    parser = EventParser()
    plain = as_chunk({"id": "x", "object": "o", "choices": [{"index": 0, "delta": {"content": "é <"}}], "usage": None})
    assert parser.parse_text(plain) == "", "the first chunk may begin in another way"
    assert len([*parser.feed(plain)]) == 1
    nulls = {"role": "assistant", "reasoning_content": None, "tool_calls": None}
    for chunk in (plain, as_chunk({"choices": [{"delta": {"content": "é <", **nulls}, "finish_reason": None}]})):
        assert parser.parse_text(chunk) == "é <"
        assert parser.parse_text(chunk + chunk) == parser.parse_text(chunk[:-1]) == parser.parse_text(chunk[1:]) == ""
    assert [parser.parse_text(as_chunk(event)) for event in FURTHER] == [""] * len(FURTHER)
    assert [*parser.feed(b"data: {")] == []
    assert parser.parse_text(plain) == "", "inside of another event"


@pytest.mark.parametrize("text", ["a", "\x00", "a\x00b", "é", "<think>", "</think>b", "[1]"])
@pytest.mark.parametrize("before", ["", "Yes", "<think>", "\ud83d"])
def test_a_text_alone_gives_the_same_items(before, text):
    alone, general = Completion(), Completion()
    for completion in (alone, general):
        completion.parse({"choices": [{"delta": {"content": before}}]})
    assert alone.feed_text(text) == general.parse({"choices": [{"delta": {"content": text}}]})
    assert [*alone.feed([None])] == [*general.feed([None])]


def parse(*chunks: bytes) -> list:
    parser = EventParser()
    return [*(event for chunk in chunks for event in parser.feed(chunk)), *parser.end()]


@pytest.mark.parametrize(
    "body",
    [
        b'\xef\xbb\xbfdata: {"n": 1}\n\ndata: {"n": 2}\n\ndata: [DONE]\n\n',
        b'data:{"n": 1}\r\n\r\n: comment\r\nevent: x\r\ndata:{"n": 2}\r\n\r\ndata:[DONE]\r\n\r\n',
        b'data: {"n":\ndata: 1}\n\ndata: {"n": 2}\n\ndata: [DONE]',
        b'data: {"n":\r\ndata: 1}\r\n\r\ndata: {"n":\r\ndata: 2}\r\n\r\ndata: [DONE]\r\n\r\n',
        b'data: {"n": 1}\rdata: {"n": 2}\r\rdata: [DONE]\r\r',
        b'data: {"n": 1}\ndata: {"n": 2}\ndata: [DONE]\n',
        b'data\ndata:\n\n\ndata: {"n": 1}\n\nid: 1\nretry: 5\ndata: {"n": 2}\n\ndata: [DONE]\n\n',
    ],
)
@pytest.mark.parametrize("size", [1, 2, 5, 1000])
def test_server_sent_events_however_they_are_written_and_cut(body, size):
    chunks = [body[at : at + size] for at in range(0, len(body), size)]
    assert parse(*chunks) == [{"n": 1}, {"n": 2}, None]


def test_chunks_that_are_whole_events_are_read_like_others():
    events = [b'data: {"n": 1}\n\n', b'data: {"n": 2}\n\n', b'data: {"n": "\\n"}\n\n', b"data: [DONE]\n\n"]
    assert parse(*events) == parse(b"".join(events)) == [{"n": 1}, {"n": 2}, {"n": "\n"}, None]
    assert parse(events[0], b'data: {"n":\ndata: 2}\n\n', events[0]) == [{"n": 1}, {"n": 2}, {"n": 1}]
    assert parse(events[0], b'data: {"n": ', b"2}\n\n", events[0]) == [{"n": 1}, {"n": 2}, {"n": 1}]
    for broken in (b"data: {2}\n\n", b'data: {"n": 1}{\n\n'):
        with pytest.raises(UpstreamError):
            parse(events[0], broken)


def test_an_event_of_many_lines_may_be_cut_anywhere():
    body = b'data: {"n":\r\ndata: 1}\r\n\r\ndata: {"n":\r\ndata: 2}\r\n\r\ndata: [DONE]\r\n\r\n'
    for at in range(len(body)):
        assert parse(body[:at], b"", body[at:]) == [{"n": 1}, {"n": 2}, None]


@pytest.mark.parametrize(
    "body",
    [
        b"data: {broken\n\n",
        b'data: {"n": 1\n\ndata: }\n\n',
        b"data: [1]\n\n",
        b"data: {",
        b"data: [\n" * 200,
        b"data: " + b"x" * (MAX_EVENT_SIZE + 1),
    ],
)
def test_an_invalid_event_is_a_failure(body):
    with pytest.raises(UpstreamError):
        parse(body)


async def test_after_a_failed_call_the_model_is_asked_without_tools_this_once(upstream):
    model = Model(f"{upstream.url}/v1", "fake:failed_call")
    for _ in range(2):
        items = [item async for item in relay.stream(model, [{"role": "user", "content": "How?"}], Bounds(), TOOLS)]
        assert any(isinstance(item, Delta) for item in items)
    await formats.close()
    assert ["tools" in sent for sent in upstream.log[-4:]] == [True, False, True, False]


async def test_after_two_refusals_that_name_nothing_the_tools_are_left_out(upstream):
    model = Model(f"{upstream.url}/v1", "fake:nameless")
    answered = []
    for _ in range(4):
        items = [item async for item in relay.stream(model, [{"role": "user", "content": "How?"}], Bounds(), TOOLS)]
        answered.append(any(isinstance(item, Delta) for item in items))
    await formats.close()
    assert answered == [False, False, True, True]
    assert ["tools" in sent for sent in upstream.log[-4:]] == [True, True, False, False]
    assert openai.refused_parameters(model) == {"tools"}


class Text(str):
    """A text of a request that tells when it is gone."""


async def test_the_texts_of_a_request_are_gone_when_its_answer_begins(upstream):
    built = []

    def build():
        text = Text("How? " * 1_000)
        built.append(weakref.ref(text))
        yield {"role": "user", "content": text}

    model = Model(f"{upstream.url}/v1", "fake:stall")
    async with aclosing(relay.stream(model, build(), Bounds())) as items:
        assert isinstance(await anext(items), Delta)
        gc.collect()
        assert [text() for text in built] == [None]
        everything = (part for thing in gc.get_objects() for part in gc.get_referents(thing) if isinstance(part, bytes))
        assert not [len(body) for body in everything if b"How? How?" in body]
    await formats.close()


async def test_texts_that_arrive_together_are_one_text(upstream):
    model = Model(f"{upstream.url}/v1", "fake:together")
    async with aclosing(relay.stream(model, [{"role": "user", "content": "How?"}], Bounds())) as items:
        found = [item async for item in items]
    await formats.close()
    assert [item.text for item in found if isinstance(item, Delta)] == ["One, two ", "[1], ", "three."]


async def test_thoughts_without_their_opening_tag_are_shown_once(upstream):
    model = Model(f"{upstream.url}/v1", "fake:obey thoughts")
    texts = []
    for expected in ("Hm.</think>Use it.", "Oh.</think>Use it.", "Use it.", "Use it."):
        asked = [{"role": "user", "content": f"How? SAY: {expected}"}]
        items = [item async for item in relay.stream(model, asked, Bounds())]
        texts.append("".join(item.text for item in items if isinstance(item, Delta)))
    await formats.close()
    assert texts == ["Hm.Use it.", "Use it.", "Use it.", "Use it."]


def test_texts_before_an_error_are_kept():
    def items():
        yield Delta("One, ")
        yield Delta("two")
        raise UpstreamError("it broke")

    joined = openai._join_deltas(items())
    assert next(joined) == Delta("One, two")
    with pytest.raises(UpstreamError):
        next(joined)
