"""Formats of model servers: the relay asks the one that the model names."""

import asyncio

from assistant.upstream import Delta, EndOfText, Model, Reasoning, UpstreamError, formats, relay
from assistant.upstream.relay import Bounds, StreamFailure

MESSAGES = [{"role": "user", "content": "How?"}]


class Parrot:
    """A format whose server repeats the question."""

    closed = False

    async def stream(self, model, messages, *, max_tokens, connect_seconds):
        yield Delta(messages[-1]["content"])
        yield EndOfText("stop")

    async def close(self):
        self.closed = True


class Broken(Parrot):
    """A format whose server fails before a word comes; `tries` counts the requests."""

    tries = 0

    async def stream(self, model, messages, *, max_tokens, connect_seconds):
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


async def test_a_silent_server_is_given_up(monkeypatch):
    class Silent(Parrot):
        async def stream(self, model, messages, *, max_tokens, connect_seconds):
            yield Delta("one")
            await asyncio.sleep(2)
            yield Delta("too late, although the limit for the first word is longer")

    monkeypatch.setitem(formats.FORMATS, "silent", Silent())
    bounds = Bounds(between_tokens=0.05)
    assert await items(Model("https://silent.example", "x", format="silent"), bounds) == [
        Delta("one"),
        StreamFailure("the model server took too long"),
    ]


class Thinker(Parrot):
    """A format whose model writes thoughts, with a pause before each, and then the answer."""

    def __init__(self, thoughts: int, pause: float) -> None:
        self.thoughts, self.pause = thoughts, pause

    async def stream(self, model, messages, *, max_tokens, connect_seconds):
        for _ in range(self.thoughts):
            await asyncio.sleep(self.pause)
            yield Reasoning()
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
        async def stream(self, model, messages, *, max_tokens, connect_seconds):
            yield Reasoning()
            yield EndOfText("length")

    monkeypatch.setitem(formats.FORMATS, "silent", Silent())
    assert await items(Model("https://quiet.example", "x", format="silent")) == [EndOfText("length")]
    assert "OPENAI_MAX_TOKENS" in caplog.text
