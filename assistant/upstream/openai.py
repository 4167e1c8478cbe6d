"""`POST {base}/chat/completions` with `stream: true`, as OpenAI defined it and many servers speak it."""

import asyncio
import codecs
import email.utils
import json
import re
import time
from collections.abc import AsyncGenerator, Iterator
from typing import Any, Literal
from weakref import WeakKeyDictionary

import aiohttp
import httpx
from httpx_aiohttp import HttpxAiohttpClient

from assistant.upstream import Delta, EndOfText, Item, Model, UpstreamError, Usage

MAX_CONNECTIONS = 2_000  # more than answers may run: further requests would wait in a queue without a timeout
MAX_EVENT_SIZE = 1024 * 1024
MAX_EVENT_LINES = 100
MAX_ERROR_SIZE = 16 * 1024
_NOT_AN_EVENT = "the model server sent something that is no event"
_NOT_JSON = "the model server sent something that is not JSON"
_END_REASONS: dict[str, Literal["stop", "length", "content-filter"]] = {
    "stop": "stop",
    "length": "length",
    "content_filter": "content-filter",
}

_clients: "WeakKeyDictionary[asyncio.AbstractEventLoop, httpx.AsyncClient]" = WeakKeyDictionary()
_limit_names: dict[tuple[str, str], str] = {}  # of models that refuse `max_tokens`


def _client(connect_seconds: float) -> httpx.AsyncClient:
    """The client of this event loop, created on first use because Daphne announces no start.

    The transport is aiohttp's: it takes less than half of httpx's own time for a token.
    """
    loop = asyncio.get_running_loop()
    if loop not in _clients:
        _clients[loop] = HttpxAiohttpClient(
            timeout=httpx.Timeout(None, connect=connect_seconds),  # the relay limits silence
            limits=httpx.Limits(max_connections=MAX_CONNECTIONS, max_keepalive_connections=20),
            trust_env=False,
        )
    return _clients[loop]


async def close() -> None:
    """Close this event loop's connections, since the process ends."""
    if client := _clients.pop(asyncio.get_running_loop(), None):
        await client.aclose()


async def stream(
    model: Model, messages: list[dict[str, str]], *, max_tokens: int, connect_seconds: float
) -> AsyncGenerator[Item, None]:
    """Yield the answer's items as they arrive. Raises `UpstreamError`; closing the iterator closes the request."""
    headers = {"Authorization": f"Bearer {model.api_key}"} if model.api_key else {}
    request: dict[str, Any] = {
        **{"model": model.name, "messages": messages},
        **{"stream": True, "stream_options": {"include_usage": True}},
        **({} if model.temperature is None else {"temperature": model.temperature}),
    }
    upstream = (model.base_url, model.name)
    try:
        while True:
            limit_name = _limit_names.get(upstream, "max_tokens")
            async with _client(connect_seconds).stream(
                "POST", f"{model.base_url}/chat/completions", json={**request, limit_name: max_tokens}, headers=headers
            ) as response:
                if (
                    response.status_code == 400
                    and limit_name == "max_tokens"
                    and await _requires_other_limit_name(response)
                ):
                    _limit_names[upstream] = "max_completion_tokens"  # newer models of OpenAI's
                    continue
                if response.status_code != 200:
                    raise _status_error(response)
                events, completion = EventParser(), Completion()
                async for chunk in response.aiter_bytes():
                    for event in events.feed(chunk):
                        if event is None:
                            return
                        for item in completion.parse(event):
                            yield item
                for event in events.end():
                    if event is None:
                        return
                    for item in completion.parse(event):
                        yield item
                completion.end()
            return
    except (httpx.HTTPError, aiohttp.ClientError) as failure:
        raise _connection_error(failure.__cause__ or failure) from None
    except httpx.InvalidURL:
        raise UpstreamError("the model server's address is not valid") from None


def _connection_error(failure: BaseException) -> UpstreamError:
    """The error for a failure of aiohttp, which is more exact than that of httpx."""
    if isinstance(failure, aiohttp.ClientConnectorError):
        return UpstreamError("the model server cannot be reached", retryable=True)
    if isinstance(failure, TimeoutError):
        return UpstreamError("the model server did not accept the connection in time", retryable=True)
    return UpstreamError("the connection to the model server broke", retryable=True)


async def _requires_other_limit_name(response: httpx.Response) -> bool:
    body = b""
    async for chunk in response.aiter_bytes():
        body += chunk
        if len(body) > MAX_ERROR_SIZE:
            break
    return b"max_completion_tokens" in body


def _status_error(response: httpx.Response) -> UpstreamError:
    status = response.status_code
    return UpstreamError(
        f"the model server answered {status}",
        retryable=_is_temporary(status),
        retry_after=_seconds(response.headers.get("Retry-After", "")),
        is_server_fault=status != 400,
    )


def _is_temporary(status: int) -> bool:
    return status == 429 or 500 <= status <= 599


def _seconds(retry_after: str) -> float | None:
    """The wait of a `Retry-After` header, which holds seconds or a date."""
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after[:9])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time())
    except ValueError:
        return None


class Completion:
    """Parses the events of one completion."""

    def __init__(self) -> None:
        self._finished = False
        self._half_character = ""

    def parse(self, event: dict[str, Any]) -> list[Item]:
        """The items of one event. Raises `UpstreamError`."""
        if event.get("error"):
            raise UpstreamError(
                "the model server reported an error", retryable=_is_temporary(_error_status(event["error"]))
            )
        choices = event.get("choices") or []
        if not isinstance(choices, list) or not all(isinstance(choice, dict) for choice in choices):
            raise UpstreamError(_NOT_AN_EVENT)
        items: list[Item] = []
        for choice in choices:
            delta = choice.get("delta") or {}
            if not isinstance(delta, dict):
                raise UpstreamError(_NOT_AN_EVENT)
            if text := _text(delta.get("content")):
                whole, self._half_character = _split_whole_characters(self._half_character + text)
                if whole:
                    items.append(Delta(whole))
            if reason := choice.get("finish_reason"):
                if reason == "error":
                    raise UpstreamError("the model server reported an error")
                self._finished = True
                items.append(EndOfText(_END_REASONS.get(str(reason), "other")))
        usage = event.get("usage")
        if isinstance(usage, dict):
            items.append(Usage(_count(usage.get("prompt_tokens")), _count(usage.get("completion_tokens"))))
        return items

    def end(self) -> None:
        """The stream ended. Raises `UpstreamError` when it was cut: no event said that the text ends."""
        if not self._finished:
            raise UpstreamError("the model server broke off")


def _text(content: Any) -> str:
    """The text of a delta: a string, or a list of parts of which some are text."""
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict) and part.get("type") == "text"]
        return "".join(part for part in parts if isinstance(part, str))
    return content if isinstance(content, str) else ""


def _error_status(error: Any) -> int:
    """The HTTP status in an error event: a number or a text, in `code` or `status`; 0 if there is none."""
    names = [str(error.get("code")), str(error.get("status"))] if isinstance(error, dict) else []
    return next((int(name) for name in names if re.fullmatch("[1-5][0-9][0-9]", name)), 0)


def _split_whole_characters(text: str) -> tuple[str, str]:
    """Text that can be stored and sent, and half a surrogate pair that waits for its other half."""
    if text.isascii():
        return text.replace("\x00", ""), ""
    half = text[-1] if "\ud800" <= text[-1] <= "\udbff" else ""
    whole = text[: len(text) - len(half)].replace("\x00", "")
    return whole.encode("utf-16", "surrogatepass").decode("utf-16", "replace"), half


def _count(value: Any) -> int:
    return value if type(value) is int and 0 <= value < 2**31 else 0


class EventParser:
    """Parses server-sent events out of chunks that may end anywhere. Yields their JSON, and None for `[DONE]`.

    Lines are split on bytes: text decoders also split on U+2028. An event is
    complete as soon as its JSON is, since some servers leave out the empty line
    after it. Raises `UpstreamError`.
    """

    def __init__(self) -> None:
        self._rest = b""  # of a line
        self._data: list[bytes] = []  # lines of an event that is not yet complete
        self._at_start = True

    def feed(self, chunk: bytes) -> Iterator[dict[str, Any] | None]:
        """The events that a chunk completes."""
        lines = (self._rest + chunk).splitlines(keepends=True)
        self._rest = lines.pop() if lines and not lines[-1].endswith((b"\n", b"\r")) else b""
        if len(self._rest) > MAX_EVENT_SIZE or len(self._data) > MAX_EVENT_LINES:
            raise UpstreamError("the model server sent an event without end")
        for line in lines:
            if self._at_start:
                line, self._at_start = line.removeprefix(codecs.BOM_UTF8), False
            name, _, value = line.strip().partition(b":")
            if name == b"data":
                self._data.append(value.strip())
                if (event := _parse_event(self._data)) is not ...:
                    self._data.clear()
                    yield event
            elif not name and any(self._data):  # an empty line ends an event
                raise UpstreamError(_NOT_JSON)

    def end(self) -> Iterator[dict[str, Any] | None]:
        """The event that the end of the stream completes."""
        if self._rest.startswith(b"data:"):
            self._data.append(self._rest.removeprefix(b"data:").strip())
        if self._data and self._data != [b""]:
            if (event := _parse_event(self._data)) is ...:
                raise UpstreamError(_NOT_JSON)
            yield event


def _parse_event(data: list[bytes]) -> Any:
    """The object, None for `[DONE]`, or `...` where more lines must follow."""
    if data == [b"[DONE]"]:
        return None
    try:
        event = json.loads(b"\n".join(data))
    except (ValueError, RecursionError):
        return ...
    if not isinstance(event, dict):
        raise UpstreamError(_NOT_AN_EVENT)
    return event
