"""Model servers. Only this package knows the API of a provider.

Others import the types below, `relay`, which never raises, `check`, which tries a server out, `errors`, which says what
to change after a failure, `model_choice`, which chooses the models for a project by its settings and its budget, and
`model_status`, which says who writes the answers. `formats` is the registry of wire formats, one module for each;
`breaker` keeps requests away from a failing server, and `loop_detector` ends an answer that only repeats itself.
"""

from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from assistant.spending.prices import Price
from docsite.core.unicode.addresses import urlsplit


@dataclass(frozen=True)
class Model:
    """A model behind a server that speaks a format of `assistant.upstream.formats`."""

    base_url: str
    name: str
    api_key: str = ""
    temperature: float | None = None  # None: the server's own
    format: str = "openai"
    reasoning_effort: str = ""  # empty: the server's own
    price: Price | None = None  # None: nobody has set one

    @property
    def address(self) -> str:
        """The base URL for logs and messages: without user name, password and query."""
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}".rstrip("/")


class Delta(msgspec.Struct, frozen=True, gc=False):
    """The next piece of text. See `assistant.wire.events.Text`."""

    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts, where the server sends them.

    `completion_tokens` includes `reasoning_tokens`, and `prompt_tokens` includes `cached_tokens`.
    """

    prompt_tokens: int
    completion_tokens: int
    reasoning_tokens: int = 0
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class EndOfText:
    """The answer ends here, and why: the server said it, or the text only repeats itself."""

    reason: Literal["stop", "length", "content-filter", "other", "repetition"]


@dataclass(frozen=True, slots=True)
class Progress:
    """The model writes thoughts or a piece of a tool call: a sign of life. No reader sees them."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool. `arguments` is None if the model did not write a JSON object."""

    id: str
    name: str
    arguments: dict[str, Any] | None


@dataclass(frozen=True, slots=True)
class ToolCalls:
    """The model's calls, complete. The next request repeats `message`, then has a result for each call."""

    message: dict[str, Any]
    calls: list[ToolCall]


Item = Delta | Usage | EndOfText | ToolCalls
FormatItem = Item | Progress


class UpstreamError(Exception):
    """The model server failed. `reason` is a few words of ours, without text of the server.

    `retryable`: the same request may succeed in a moment. `retry_after`: how long
    the server asked to wait (seconds; None: it did not say). `is_server_fault`:
    False where the request was at fault, which says nothing about the server.
    `advice`: what the operator should change, in sentences of ours. `message`: the words of
    the server, which may quote the request: only for the operator's screen.
    """

    def __init__(
        self,
        reason: str,
        *,
        retryable: bool = False,
        retry_after: float | None = None,
        is_server_fault: bool = True,
        advice: str = "`manage.py checkmodel` shows what the server says.",
        message: str = "",
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retryable = retryable
        self.retry_after = retry_after
        self.is_server_fault = is_server_fault
        self.advice = advice
        self.message = message
