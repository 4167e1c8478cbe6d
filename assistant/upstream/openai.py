"""`POST {base}/chat/completions` with `stream: true`, as OpenAI defined it and many servers speak it.

What servers are known to do otherwise stands in `docsite/site/content/models.md`; `tests/dialects.py` speaks it.
"""

import asyncio
import email.utils
import logging
import re
import time
from collections import Counter
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from typing import Any
from urllib.parse import urlunsplit
from weakref import WeakKeyDictionary

import aiohttp
import httpx
import msgspec

from assistant.upstream import Delta, FormatItem, Model, UpstreamError, errors
from assistant.upstream.completion import Completion
from assistant.upstream.event_parser import EventParser
from docsite.core.unicode.addresses import urlsplit

logger = logging.getLogger(__name__)

MAX_CONNECTIONS = 2_000  # more than answers may run: further requests would wait in a queue without a timeout
KEEP_ALIVE_SECONDS = 5.0  # that a connection stays open without a request
MAX_ERROR_SIZE = 16 * 1024
MAX_UNCLEAR_REFUSALS = 2  # in a row, of requests with tools
MAX_JOINED = 4_096  # characters of texts that are passed on as one
_COMPLETIONS = "/chat/completions"
_BRACKET = re.compile(r"[\[\]【】]")

_sessions: "WeakKeyDictionary[asyncio.AbstractEventLoop, aiohttp.ClientSession]" = WeakKeyDictionary()
_refused: dict[tuple[str, str], frozenset[str]] = {}  # parameters that a model has refused, by base URL and name
_unclear_refusals: Counter[tuple[str, str]] = Counter()  # in a row, of requests with tools
_starting_in_thoughts: set[tuple[str, str]] = set()  # models whose texts have only the end of their thoughts


def _session() -> aiohttp.ClientSession:
    """The connections of this event loop, created on first use because Daphne announces no start."""
    loop = asyncio.get_running_loop()
    if loop not in _sessions:
        certificates = httpx.create_ssl_context(trust_env=False)  # those of certifi, as for our other requests
        _sessions[loop] = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=MAX_CONNECTIONS, keepalive_timeout=KEEP_ALIVE_SECONDS, ssl=certificates
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            trust_env=False,
        )
    return _sessions[loop]


async def close() -> None:
    """Close this event loop's connections, since the process ends."""
    if session := _sessions.pop(asyncio.get_running_loop(), None):
        await session.close()


def refused_parameters(model: Model) -> frozenset[str]:
    """The parameters that requests to a model leave out, because it refused them before."""
    return _refused.get((model.base_url, model.name), frozenset())


async def stream(
    model: Model,
    messages: Iterable[dict[str, Any]],
    *,
    max_tokens: int,
    connect_seconds: float,
    tools: Sequence[dict[str, Any]] = (),
) -> AsyncGenerator[FormatItem, None]:
    """Yield the answer's items as they arrive. Raises `UpstreamError`; closing the iterator closes the request.

    When the server refuses a parameter that is not essential, the request is sent again without it. A request whose
    tool call the server could not parse is sent again without tools. After two refusals in a row that name no
    parameter, later requests have no tools, since some servers refuse tools so.
    """
    key = (model.base_url, model.name)
    refused = refused_parameters(model)
    if _unclear_refusals[key] >= MAX_UNCLEAR_REFUSALS:
        refused |= {"tools"}
    try:
        while True:
            parameters = _build_parameters(model, max_tokens, tools, refused)
            response = await _post(model, messages, parameters, connect_seconds)
            async with response:  # not the request, which would keep what it was made of
                if response.status == 200:
                    del _unclear_refusals[key]
                    _remember_refused(model, refused)
                    completion = Completion(starts_in_thoughts=key in _starting_in_thoughts)
                    events = EventParser()
                    while chunk := await response.content.readany():
                        if text := events.parse_text(chunk):
                            items: Iterable[FormatItem] = completion.feed_text(text)
                        else:
                            items = _join_deltas(completion.feed(events.feed(chunk)))
                        for item in items:
                            yield item
                        if completion.is_done:
                            break
                    if not completion.is_done:
                        for item in completion.feed(events.end()):
                            yield item
                    if not completion.is_done:
                        completion.end()
                    remember = (
                        _starting_in_thoughts.add if completion.closed_unopened else _starting_in_thoughts.discard
                    )
                    remember(key)
                    return
                words = await _read_error(response)
            if "tools" in parameters and errors.FAILED_CALL in words:
                tools = ()  # for this request only: the next call may be right
            else:
                refused |= _find_refused(model, response, words, parameters)
    except aiohttp.InvalidURL:
        raise UpstreamError("the model server's address is not valid", advice="Check OPENAI_BASE_URL.") from None
    except aiohttp.ClientError as failure:
        raise _connection_error(model, failure) from None


async def _post(
    model: Model, messages: Iterable[dict[str, Any]], parameters: dict[str, Any], connect_seconds: float
) -> aiohttp.ClientResponse:
    return await _session().post(
        completions_url(model),
        data=_encode_body(model, messages, parameters),  # it is most of an open stream: nothing keeps it
        headers={"Content-Type": "application/json", **_key_headers(model)},
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=connect_seconds),  # the relay limits silence
        allow_redirects=False,
    )


def _find_refused(
    model: Model, response: aiohttp.ClientResponse, words: str, parameters: dict[str, Any]
) -> frozenset[str]:
    """The parameters that a server refuses with these words. Raises `UpstreamError` if they name none."""
    found = errors.find_refused_parameters(response.status, words, parameters)
    if not found:
        if "tools" in parameters and errors.is_unclear_refusal(response.status, words):
            _unclear_refusals[model.base_url, model.name] += 1
        raise _status_error(model, response, words)
    return found


def _join_deltas(items: Iterable[FormatItem]) -> Iterator[FormatItem]:
    """The items with short texts in a row as one: what arrives together is checked, stored and sent together.

    A text with a bracket stays alone. It may be a citation, whose source is sent between the texts.
    """
    joined = ""
    try:
        for item in items:
            if (
                isinstance(item, Delta)
                and len(joined) + len(item.text) <= MAX_JOINED
                and not _BRACKET.search(item.text)
            ):
                joined += item.text
                continue
            if joined:
                yield Delta(joined)
                joined = ""
            yield item
    except UpstreamError:
        if joined:
            yield Delta(joined)
        raise
    if joined:
        yield Delta(joined)


def _encode_body(model: Model, messages: Iterable[dict[str, Any]], parameters: dict[str, Any]) -> bytes:
    body = {"model": model.name, "messages": list(messages), "stream": True, **parameters}
    return msgspec.json.encode(body, enc_hook=_convert_text)  # a tenth of the time of `json.dumps`, for some 30 KB


def _convert_text(value: Any) -> str:
    """The plain `str` of a text of a subclass, which msgspec does not take. TypeError for any other value."""
    if isinstance(value, str):
        return str(value)
    raise TypeError(f"A request to a model server cannot hold a {type(value).__name__}.")


def _build_parameters(
    model: Model, max_tokens: int, tools: Sequence[dict[str, Any]], refused: frozenset[str]
) -> dict[str, Any]:
    """The optional part of a request. Each parameter has the first of its names that the model does not refuse."""
    values: list[tuple[tuple[str, ...], Any]] = [
        (("max_tokens", "max_completion_tokens"), max_tokens),
        (("temperature",), model.temperature),
        (("reasoning_effort",), model.reasoning_effort or None),
        (("stream_options",), {"include_usage": True}),
        (("tools",), list(tools) or None),
    ]
    parameters: dict[str, Any] = {}
    for names, value in values:
        name = next((name for name in names if name not in refused), None)
        if name and value is not None:
            parameters[name] = value
    return parameters


def completions_url(model: Model) -> str:
    """The address to ask. A query of the base URL (Azure's `api-version`) stays at its end."""
    parts = urlsplit(model.base_url)
    path = parts.path.rstrip("/").removesuffix(_COMPLETIONS)
    return urlunsplit(parts._replace(path=path + _COMPLETIONS))


def _key_headers(model: Model) -> dict[str, str]:
    """The header with the key. Azure takes a bearer token for a token of its directory, so it gets `api-key`."""
    parts = urlsplit(model.base_url)
    if not model.api_key:
        return {}
    if (parts.hostname or "").endswith(".azure.com") or "api-version=" in parts.query:
        return {"api-key": model.api_key}
    return {"Authorization": f"Bearer {model.api_key}"}


def _connection_error(model: Model, failure: aiohttp.ClientError) -> UpstreamError:
    """The error for a failure of the connection."""
    if isinstance(failure, aiohttp.ClientConnectorError):
        return UpstreamError(
            "the model server cannot be reached",
            retryable=True,
            advice=f"Check that a server runs at {model.address} and that this host may reach it. "
            "In a container, 127.0.0.1 is the container itself.",
        )
    if isinstance(failure, TimeoutError):
        return UpstreamError(
            "the model server did not accept the connection in time",
            retryable=True,
            advice="Check the base URL and the firewall.",
        )
    return UpstreamError(
        "the connection to the model server broke",
        retryable=True,
        advice="Look into the log of the server, or of the proxy before it.",
    )


async def _read_error(response: aiohttp.ClientResponse) -> str:
    """The words of an error."""
    body = b""
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > MAX_ERROR_SIZE:
            break
    return errors.error_words(body.decode(errors="replace"))


def _remember_refused(model: Model, refused: frozenset[str]) -> None:
    """Remember, for as long as the process runs, what a model refused before the request succeeded."""
    key = (model.base_url, model.name)
    if refused != _refused.get(key, frozenset()):
        _refused[key] = refused
        names = ", ".join(sorted(refused))
        logger.warning("The model %s at %s refuses %s. Later requests leave it out.", model.name, model.address, names)


def _status_error(model: Model, response: aiohttp.ClientResponse, words: str) -> UpstreamError:
    status = response.status
    error = errors.build_error(
        f"the model server answered {status}",
        status,
        words,
        retry_after=_seconds(response.headers.get("Retry-After", "")),
    )
    if status in (404, 405):
        error.advice += f" The address was {model.address.removesuffix(_COMPLETIONS)}{_COMPLETIONS}."
    return error


def _seconds(retry_after: str) -> float | None:
    """The wait of a `Retry-After` header, which holds seconds or a date."""
    if retry_after.isascii() and retry_after.isdigit():
        return float(retry_after[:9])
    try:
        return max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time())
    except ValueError:
        return None
