"""`POST {base}/chat/completions` with `stream: true`, as OpenAI defined it and many servers speak it."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any
from weakref import WeakKeyDictionary

import httpx

from assistant.upstream import Model, Piece, UpstreamError, Usage

CONNECT_SECONDS = 5.0
MOST_STREAMS = 1_000
LONGEST_EVENT = 1024 * 1024
_NO_EVENT = "the model server sent something that is no event"

_clients: "WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient]" = WeakKeyDictionary()


def _client() -> httpx.AsyncClient:
    """One client for each event loop, made on first use since Daphne announces no start."""
    loop = asyncio.get_running_loop()
    if loop not in _clients:
        _clients[loop] = httpx.AsyncClient(
            timeout=httpx.Timeout(None, connect=CONNECT_SECONDS),  # silence is timed by the relay
            limits=httpx.Limits(max_connections=MOST_STREAMS, max_keepalive_connections=20),
            trust_env=False,
        )
    return _clients[loop]


async def stream(model: Model, messages: list[dict[str, str]]) -> AsyncGenerator[Piece | Usage, None]:
    """Yield the answer's pieces as they arrive. Raises `UpstreamError`; closing the iterator closes the request."""
    body = {
        "model": model.name,
        "messages": messages,
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    headers = {"Authorization": f"Bearer {model.api_key}"} if model.api_key else {}
    try:
        async with _client().stream("POST", f"{model.base_url}/chat/completions", json=body, headers=headers) as answer:
            if answer.status_code != 200:
                raise UpstreamError(f"the model server answered {answer.status_code}")
            async with aclosing(_events(answer)) as events:
                async for piece in _pieces(events):
                    yield piece
    except httpx.ConnectTimeout:
        raise UpstreamError("the model server did not accept the connection in time") from None
    except httpx.ConnectError:
        raise UpstreamError("the model server cannot be reached") from None
    except (httpx.HTTPError, httpx.InvalidURL):
        raise UpstreamError("the connection to the model server broke") from None


async def _pieces(events: AsyncIterator[dict[str, Any] | None]) -> AsyncGenerator[Piece | Usage, None]:
    """Text and usage of the events. A stream that ends without saying so was cut."""
    finished = False
    half = ""
    async for event in events:
        if event is None:
            return
        if event.get("error"):
            raise UpstreamError("the model server reported an error")
        choices = event.get("choices") or []
        if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
            raise UpstreamError(_NO_EVENT)
        for choice in choices:
            delta = choice.get("delta") or {}
            if not isinstance(delta, dict):
                raise UpstreamError(_NO_EVENT)
            text = delta.get("content")
            if isinstance(text, str) and text:
                whole, half = _whole_characters(half + text)
                if whole:
                    yield Piece(whole)
            finished = finished or bool(choice.get("finish_reason"))
        usage = event.get("usage")
        if isinstance(usage, dict):
            yield Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))
    if not finished:
        raise UpstreamError("the model server broke off")


def _whole_characters(text: str) -> tuple[str, str]:
    """Text that can be stored and sent, and half a surrogate pair that waits for its other half."""
    half = text[-1] if "\ud800" <= text[-1] <= "\udbff" else ""
    whole = text[: len(text) - len(half)].replace("\x00", "")
    return whole.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), half


def _count(value: Any) -> int:
    return value if isinstance(value, int) and 0 <= value < 2**31 else 0


async def _events(answer: httpx.Response) -> AsyncGenerator[dict[str, Any] | None, None]:
    """The JSON of each server-sent event, None for `[DONE]`. Split on bytes: text decoders also split on U+2028."""
    rest = b""
    async for chunk in answer.aiter_bytes():
        *lines, rest = (rest + chunk).split(b"\n")
        if len(rest) > LONGEST_EVENT:
            raise UpstreamError("the model server sent an event without end")
        for line in lines:
            if event := _event(line):
                yield event[0]
    if event := _event(rest):
        yield event[0]


def _event(line: bytes) -> tuple[dict[str, Any] | None] | None:
    name, _, value = line.strip(b"\r").partition(b":")
    if name != b"data" or not value.strip():
        return None  # a comment, another field, or an empty line
    if value.strip() == b"[DONE]":
        return (None,)
    try:
        event = json.loads(value)
    except (ValueError, RecursionError):
        raise UpstreamError("the model server sent something that is not JSON") from None
    if not isinstance(event, dict):
        raise UpstreamError(_NO_EVENT)
    return (event,)
