"""The interface of a stream protocol, and helpers for its encoders."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from json.encoder import encode_basestring_ascii
from typing import Any, Literal, Protocol

from assistant.wire.events import Event, Excerpt

text_to_json: Callable[[str], str] = encode_basestring_ascii  # as `to_json` does it; texts are most of a stream
_json = json.JSONEncoder(allow_nan=False, separators=(",", ":"))  # `json.dumps` would build one for each call


class Encoder(Protocol):
    """Encodes the events of one answer for one reader. It may remember earlier events."""

    def encode(self, event: Event) -> Sequence[str]:
        """Encode an event as parts. Each part can be parsed alone."""


@dataclass(frozen=True)
class StreamProtocol:
    """How the stream of an answer is sent to clients.

    A protocol with a `Content-Type` among its headers has an endpoint at
    `/discovery/{name}/assistant/{domain}/message`.
    """

    encoder: Callable[[], Encoder]
    description: str
    headers: Mapping[str, str] = field(default_factory=dict)
    deprecated: bool = False
    frame: Callable[[str], bytes] = str.encode  # a part as bytes of an HTTP body
    keep_alive: bytes = b""  # sent after a while of silence
    end: bytes = b""  # sent after the last part
    body: Literal["v1", "v2"] = "v2"  # of a question: that of version 2 has a chat and a trigger, too
    without_trigger: "tuple[StreamProtocol, ...]" = ()  # for clients that send none: for all, for those that name JSON

    @property
    def media_type(self) -> str:
        """The content type without its parameters. Empty for a protocol that has no HTTP endpoint."""
        return self.headers.get("Content-Type", "").partition(";")[0]


def to_json(value: Any) -> str:
    """Strict JSON in ASCII, without spaces. A NaN would break the client's parser, a lone surrogate UTF-8."""
    return _json.encode(value)


def tool_result(excerpts: list[Excerpt]) -> list[dict[str, Any]]:
    """The result of a tool: a plain array. It is short because clients send it back with every question."""
    return [
        {
            "content": excerpt.text,
            "path": excerpt.path,
            "url": excerpt.url,
            "metadata": {"title": excerpt.title, "section": excerpt.section, "score": excerpt.score},
        }
        for excerpt in excerpts
    ]
