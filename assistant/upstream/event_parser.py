"""Parses the server-sent events of model servers, also of those that break the rules."""

import codecs
import json
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from assistant.upstream import UpstreamError

MAX_EVENT_SIZE = 1024 * 1024
MAX_EVENT_LINES = 100
_decode_well_formed = msgspec.json.Decoder().decode
_decode = json.JSONDecoder().decode  # `json.loads` would look for the encoding of each event
_START = b"data: {"
_PINGS = {b"", b"[PING]", b"PING", b"ping"}  # in place of a comment
NOT_AN_EVENT = "the model server sent something that is no event"
NOT_JSON = "the model server sent something that is not JSON"


class _Delta(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    content: str
    role: str | None = None
    refusal: None = None
    reasoning: None = None
    reasoning_content: None = None
    tool_calls: None = None


class _Choice(msgspec.Struct, gc=False):
    delta: _Delta
    finish_reason: None = None


class _TextEvent(msgspec.Struct, gc=False):
    """An event with a piece of text and nothing else that we use. Most events are."""

    choices: tuple[_Choice]
    object: str = ""
    usage: None = None
    x_groq: None = None
    error: None = None


_decode_text_event = msgspec.json.Decoder(_TextEvent).decode


class EventParser:
    """Parses server-sent events out of chunks that may end anywhere. Yields their JSON, and None for `[DONE]`.

    Lines are split on bytes: text decoders also split on U+2028. An event is
    complete as soon as its JSON is, since some servers leave out the empty line
    after it. A body that is no stream but one JSON object is one event.
    Raises `UpstreamError`.
    """

    def __init__(self) -> None:
        self._rest = b""  # of a line
        self._data: list[bytes] = []  # lines of an event that is not yet complete
        self._at_start = True
        self._is_one_object = False
        self._after_cr = False  # the last chunk ended with a carriage return, so a line feed belongs to its line

    def parse_text(self, chunk: bytes) -> str:
        """The text of a chunk that is one whole event with nothing else in it, as most are. Empty: `feed` the chunk."""
        if not self._is_whole_event(chunk):
            return ""
        try:
            event = _decode_text_event(chunk[len(_START) - 1 :])
        except (ValueError, RecursionError):
            return ""
        if event.object == "error":
            return ""
        self._after_cr = False
        return event.choices[0].delta.content

    def feed(self, chunk: bytes) -> Iterable[dict[str, Any] | None]:
        """The events that a chunk completes."""
        if self._is_whole_event(chunk):
            event = _parse_event([chunk[len(_START) - 1 :]])
            if event is not ...:
                self._after_cr = False
                return (event,)
        return self._feed(chunk)

    def _is_whole_event(self, chunk: bytes) -> bool:
        """Whether a chunk is one event: a single `data:` line and the empty line that ends it."""
        is_inside = self._rest or self._data or self._at_start or self._is_one_object
        return (
            not is_inside
            and chunk.startswith(_START)
            and chunk.endswith(b"\n\n")
            and chunk.find(b"\n") == len(chunk) - 2
        )

    def _feed(self, chunk: bytes) -> Iterator[dict[str, Any] | None]:
        if not chunk:
            return
        if self._after_cr:
            chunk = chunk.removeprefix(b"\n")
        lines = (self._rest + chunk).splitlines(keepends=True)
        self._rest = lines.pop() if lines and not lines[-1].endswith((b"\n", b"\r")) else b""
        self._after_cr = chunk.endswith(b"\r")
        if len(self._rest) > MAX_EVENT_SIZE or len(self._data) > MAX_EVENT_LINES:
            raise UpstreamError("the model server sent an event without end")
        for line in lines:
            if self._at_start and line.strip():
                line = self._start(line)
            name, _, value = (b"data", b":", line) if self._is_one_object else line.strip().partition(b":")
            if name == b"data":
                if not self._data and value.strip() in _PINGS:
                    continue
                self._data.append(value.strip())
                if (event := _parse_event(self._data)) is not ...:
                    self._data.clear()
                    yield event
            elif name == b"error":  # older versions of llama.cpp name their errors like this
                yield {"error": value.decode(errors="replace")}
            elif not name and any(self._data):  # an empty line ends an event
                raise UpstreamError(NOT_JSON)

    def end(self) -> Iterator[dict[str, Any] | None]:
        """The event that the end of the stream completes."""
        if self._at_start:
            self._rest = self._start(self._rest)
        if self._is_one_object or self._rest.startswith(b"data:"):
            self._data.append(self._rest.removeprefix(b"data:").strip())
        if any(self._data):
            if (event := _parse_event(self._data)) is ...:
                raise UpstreamError(NOT_JSON)
            yield event

    def _start(self, line: bytes) -> bytes:
        self._at_start = False
        line = line.removeprefix(codecs.BOM_UTF8).lstrip(b" \t")
        self._is_one_object = line.startswith(b"{")
        return line


def _parse_event(data: list[bytes]) -> Any:
    """The object in the lines of an event, None for `[DONE]`, or `...` where more lines must follow."""
    if data == [b"[DONE]"]:
        return None
    text = data[0] if len(data) == 1 else b"\n".join(data)
    try:
        event = _decode_well_formed(text)  # a fifth of the time of the other
    except (ValueError, RecursionError):
        try:
            event = _decode(text.decode("utf-8", "surrogatepass"))
        except (ValueError, RecursionError):
            return ...
    if not isinstance(event, dict):
        raise UpstreamError(NOT_AN_EVENT)
    return event
