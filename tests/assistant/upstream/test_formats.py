"""Formats of model servers: the relay asks the one that the model names."""

import asyncio
import time

from assistant.upstream import Delta, EndOfText, Model, Progress, UpstreamError, formats, relay
from assistant.upstream.relay import Bounds, StreamFailure
from docsite.core import request_times
from tests.conftest import PATIENCE

MESSAGES = [{"role": "user", "content": "How?"}]


class Parrot:
    """A format whose server repeats the question."""

    closed = False

    async def stream(self, model, messages, *, max_tokens, connect_seconds, **more):
        yield Delta(messages[-1]["content"])
        yield EndOfText("stop")

    async def close(self):
        self.closed = True


class Broken(Parrot):
    """A format whose server fails before a word comes; `tries` counts the requests."""

    tries = 0

    async def stream(self, model, messages, *, max_tokens, connect_seconds, **more):
        self.tries += 1
        raise UpstreamError("it is asleep", retryable=True)
        yield Delta("never")


async def items(model: Model, bounds: Bounds | None = None) -> list:
    return [item async for item in relay.stream(model, MESSAGES, bounds or Bounds())]


async def test_a_model_is_asked_in_its_own_format(monkeypatch):
    parrot = Parrot()
    monkeypatch.setitem(formats.FORMATS, "parrot", parrot)
    model = Model("https://parrot.example", "polly", format="parrot")
    assert await items(model) == [Delta("How?"), EndOfText("stop")]
    await formats.close()
    assert parrot.closed


async def test_a_passing_failure_is_retried_once(monkeypatch):
    broken = Broken()
    monkeypatch.setitem(formats.FORMATS, "broken", broken)
    assert await items(Model("https://broken.example", "x", format="broken")) == [StreamFailure("it is asleep")]
    assert broken.tries == 2


async def test_an_unknown_format_is_a_failure_and_no_exception():
    assert await items(Model("https://x.example", "x", format="none")) == [
        StreamFailure("the model server could not be read")
    ]


class Thinker(Parrot):
    """A format whose model writes thoughts, with a pause before each, and then the answer."""

    def __init__(self, thoughts: int, pause: float) -> None:
        self.thoughts, self.pause = thoughts, pause

    async def stream(self, model, messages, *, max_tokens, connect_seconds, **more):
        for _ in range(self.thoughts):
            await asyncio.sleep(self.pause)
            yield Progress()
        yield Delta("at last")
        yield EndOfText("stop")


async def test_thoughts_may_take_longer_than_silence(monkeypatch):
    monkeypatch.setitem(formats.FORMATS, "thinker", Thinker(14, 0.05))
    bounds = Bounds(first_token=0.5, between_tokens=0.5)
    assert await items(Model("https://thinker.example", "x", format="thinker"), bounds) == [
        Delta("at last"),
        EndOfText("stop"),
    ]


async def test_thoughts_may_not_take_longer_than_an_answer(monkeypatch, caplog):
    monkeypatch.setitem(formats.FORMATS, "endless", Thinker(10_000, 0.01))
    assert await items(Model("https://endless.example", "x", format="endless"), Bounds(whole_answer=0.1)) == [
        StreamFailure("the model server took too long")
    ]
    assert "OPENAI_ANSWER_SECONDS" in caplog.text


async def test_an_answer_of_thoughts_alone_is_named_in_the_log(monkeypatch, caplog):
    class Silent(Parrot):
        async def stream(self, model, messages, *, max_tokens, connect_seconds, **more):
            yield Progress()
            yield EndOfText("length")

    monkeypatch.setitem(formats.FORMATS, "silent", Silent())
    assert await items(Model("https://quiet.example", "x", format="silent")) == [EndOfText("length")]
    assert "OPENAI_MAX_TOKENS" in caplog.text


class Silent(Parrot):
    """A format whose server falls silent after some items, until the relay closes its stream."""

    def __init__(self, *items):
        self.items = items

    async def stream(self, model, messages, *, max_tokens, connect_seconds, **more):
        for item in self.items:
            yield item
        await asyncio.Event().wait()


async def test_a_server_that_falls_silent_after_a_word_is_given_up(monkeypatch):
    monkeypatch.setitem(formats.FORMATS, "silent", Silent(Delta("one")))
    bounds = Bounds(first_token=1000, between_tokens=0.05, whole_answer=1000)
    async with asyncio.timeout(PATIENCE):
        assert await items(Model("https://silent.example", "x", format="silent"), bounds) == [
            Delta("one"),
            StreamFailure("the model server took too long"),
        ]


async def test_a_server_that_does_not_close_a_complete_answer_is_not_waited_for(monkeypatch):
    monkeypatch.setitem(formats.FORMATS, "silent", Silent(Delta("one"), EndOfText("stop")))
    monkeypatch.setattr(relay, "USAGE_SECONDS", 0.05)
    bounds = Bounds(first_token=1000, between_tokens=1000, whole_answer=1000)
    async with asyncio.timeout(PATIENCE):
        assert await items(Model("https://silent.example", "y", format="silent"), bounds) == [
            Delta("one"),
            EndOfText("stop"),
        ]


class Sleepy(Parrot):
    """A format whose server takes a moment before its first token, and longer for the rest."""

    async def stream(self, model, messages, *, max_tokens, connect_seconds, **more):
        await asyncio.sleep(0.05)
        yield Delta("first")
        await asyncio.sleep(0.2)
        yield EndOfText("stop")


async def test_the_wait_for_the_first_token_is_measured(monkeypatch, caplog):
    caplog.set_level("INFO")
    monkeypatch.setitem(formats.FORMATS, "sleepy", Sleepy())
    request_times.begin()
    began = time.monotonic()
    await items(Model("https://sleepy.example", "x", format="sleepy"))
    total = time.monotonic() - began
    request_times.report("first words", "msg_1", 6.0, request_times.SLOW_ANSWER_SECONDS)
    (seconds,) = [record.seconds for record in caplog.records if record.name == request_times.__name__]
    assert 0.05 <= seconds["model"] <= total - 0.2 + 0.001
