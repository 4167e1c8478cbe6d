"""`POST {base}/chat/completions` with `stream: true`, as OpenAI defined it and many servers speak it."""

import asyncio
import codecs
import email.utils
import json
import re
import time
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from typing import Any, Literal
from weakref import WeakKeyDictionary

import aiohttp
import httpx
from httpx_aiohttp import HttpxAiohttpClient

from assistant.upstream import Ended, Model, Piece, UpstreamError, Usage

MOST_STREAMS = 2_000  # above the cap on running answers: one more would wait in a queue, unseen by any timeout
LONGEST_EVENT = 1024 * 1024
MOST_LINES = 100  # of one event
LONGEST_ERROR = 16 * 1024
_NO_EVENT = "the model server sent something that is no event"
_NO_JSON = "the model server sent something that is not JSON"
_ENDS: dict[str, Literal["stop", "length", "content-filter"]] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content-filter",
}

_clients: "WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient]" = WeakKeyDictionary()
_cap_names: dict[tuple[str, str], str] = {}  # of models that refuse `max_tokens`


def _client(connect_seconds: float) -> httpx.AsyncClient:
    """One client for each event loop, made on first use since Daphne announces no start.

    The transport is aiohttp's, which takes less than half of httpx's own time for a token.
    """
    loop = asyncio.get_running_loop()
    if loop not in _clients:
        _clients[loop] = HttpxAiohttpClient(
            timeout=httpx.Timeout(None, connect=connect_seconds),  # silence is timed by the relay
            limits=httpx.Limits(max_connections=MOST_STREAMS, max_keepalive_connections=20),
            trust_env=False,
        )
    return _clients[loop]


async def close() -> None:
    """Close this loop's connections, since the process ends."""
    if client := _clients.pop(asyncio.get_running_loop(), None):
        await client.aclose()


async def stream(
    model: Model, messages: list[dict[str, str]], *, max_tokens: int, connect_seconds: float
) -> AsyncGenerator[Piece | Usage | Ended, None]:
    """Yield the answer's pieces as they arrive. Raises `UpstreamError`; closing the iterator closes the request."""
    headers = {"Authorization": f"Bearer {model.api_key}"} if model.api_key else {}
    request: dict[str, Any] = {
        **{"model": model.name, "messages": messages},
        **{"stream": True, "stream_options": {"include_usage": True}},
        **({} if model.temperature is None else {"temperature": model.temperature}),
    }
    upstream = (model.base_url, model.name)
    try:
        while True:
            cap = _cap_names.get(upstream, "max_tokens")
            async with _client(connect_seconds).stream(
                "POST", f"{model.base_url}/chat/completions", json={**request, cap: max_tokens}, headers=headers
            ) as answer:
                if answer.status_code == 400 and cap == "max_tokens" and await _wants_another_cap(answer):
                    _cap_names[upstream] = "max_completion_tokens"  # newer models of OpenAI's
                    continue
                if answer.status_code != 200:
                    raise _refusal(answer)
                async with aclosing(_events(answer)) as events, aclosing(_pieces(events)) as pieces:
                    async for piece in pieces:
                        yield piece
            return
    except (httpx.HTTPError, aiohttp.ClientError) as failure:
        raise _lost(failure.__cause__ or failure) from None
    except httpx.InvalidURL:
        raise UpstreamError("the model server's address is not valid") from None


def _lost(failure: BaseException) -> UpstreamError:
    """What aiohttp says of a connection; httpx's names for it are not exact."""
    if isinstance(failure, aiohttp.ClientConnectorError):
        return UpstreamError("the model server cannot be reached", again=True)
    if isinstance(failure, TimeoutError):
        return UpstreamError("the model server did not accept the connection in time", again=True)
    return UpstreamError("the connection to the model server broke", again=True)


async def _wants_another_cap(answer: httpx.Response) -> bool:
    body = b""
    async for chunk in answer.aiter_bytes():
        body += chunk
        if len(body) > LONGEST_ERROR:
            break
    return b"max_completion_tokens" in body


def _refusal(answer: httpx.Response) -> UpstreamError:
    status = answer.status_code
    return UpstreamError(
        f"the model server answered {status}",
        again=_is_passing(status),
        wait=_seconds(answer.headers.get("Retry-After", "")),
        theirs=status != 400,
    )


def _is_passing(status: int) -> bool:
    return status == 429 or 500 <= status <= 599


def _seconds(retry_after: str) -> float | None:
    """The wait of a `Retry-After` header: seconds, or a date."""
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after[:9])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time())
    except ValueError:
        return None


async def _pieces(events: AsyncIterator[dict[str, Any] | None]) -> AsyncGenerator[Piece | Usage | Ended, None]:
    """Text and usage of the events. A stream that ends without saying so was cut."""
    finished = False
    half = ""
    async for event in events:
        if event is None:
            return
        if event.get("error"):
            raise UpstreamError("the model server reported an error", again=_is_passing(_code(event["error"])))
        choices = event.get("choices") or []
        if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
            raise UpstreamError(_NO_EVENT)
        for choice in choices:
            delta = choice.get("delta") or {}
            if not isinstance(delta, dict):
                raise UpstreamError(_NO_EVENT)
            text = _text(delta.get("content"))
            if text:
                whole, half = _whole_characters(half + text)
                if whole:
                    yield Piece(whole)
            if reason := choice.get("finish_reason"):
                if reason == "error":
                    raise UpstreamError("the model server reported an error")
                finished = True
                yield Ended(_ENDS.get(str(reason), "other"))
        usage = event.get("usage")
        if isinstance(usage, dict):
            yield Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens")))
    if not finished:
        raise UpstreamError("the model server broke off")


def _text(content: Any) -> str:
    """The text of a delta: a string, or a list of parts of which some are text."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _code(error: Any) -> int:
    """The HTTP status that an error event names: as a number or a text, under `code` or `status`."""
    named = [str(error.get("code")), str(error.get("status"))] if isinstance(error, dict) else []
    return next((int(code) for code in named if re.fullmatch("[1-5][0-9][0-9]", code)), 0)


def _whole_characters(text: str) -> tuple[str, str]:
    """Text that can be stored and sent, and half a surrogate pair that waits for its other half."""
    if text.isascii():
        return text.replace("\x00", ""), ""
    half = text[-1] if "\ud800" <= text[-1] <= "\udbff" else ""
    whole = text[: len(text) - len(half)].replace("\x00", "")
    return whole.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), half


def _count(value: Any) -> int:
    return value if type(value) is int and 0 <= value < 2**31 else 0


async def _events(answer: httpx.Response) -> AsyncGenerator[dict[str, Any] | None, None]:
    """The JSON of each server-sent event, None for `[DONE]`.

    Split on bytes: text decoders also split on U+2028. An event is taken as soon
    as its JSON is whole, since some servers leave out the empty line after it.
    """
    rest = b""
    data: list[bytes] = []  # lines of an event that is not yet whole
    first = True
    async for chunk in answer.aiter_bytes():
        lines = (rest + chunk).splitlines(keepends=True)
        rest = lines.pop() if lines and not lines[-1].endswith((b"\n", b"\r")) else b""
        if len(rest) > LONGEST_EVENT or len(data) > MOST_LINES:
            raise UpstreamError("the model server sent an event without end")
        for line in lines:
            if first:
                line, first = line.removeprefix(codecs.BOM_UTF8), False
            name, _, value = line.strip().partition(b":")
            if name == b"data":
                data.append(value.strip())
                if (event := _event(data)) is not ...:
                    yield event
                    data.clear()
            elif not name and any(data):  # an empty line ends an event
                raise UpstreamError(_NO_JSON)
    if rest.startswith(b"data:"):
        data.append(rest.removeprefix(b"data:").strip())
    if data and data != [b""]:
        if (event := _event(data)) is ...:
            raise UpstreamError(_NO_JSON)
        yield event


def _event(data: list[bytes]) -> Any:
    """The object, None for `[DONE]`, or `...` where more lines must follow."""
    if data == [b"[DONE]"]:
        return None
    try:
        event = json.loads(b"\n".join(data))
    except (ValueError, RecursionError):
        return ...
    if not isinstance(event, dict):
        raise UpstreamError(_NO_EVENT)
    return event
