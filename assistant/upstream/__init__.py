"""Model servers. Only this package knows the API of a provider.

Others import the types below and `relay`, which never raises. `formats` is the
registry of wire formats, one module for each; `breaker` keeps requests away from a failing server.
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Model:
    """A model behind a server that speaks a format of `assistant.upstream.formats`."""

    base_url: str
    name: str
    api_key: str = ""
    temperature: float | None = None  # None: the server's own
    format: str = "openai"


@dataclass(frozen=True, slots=True)
class Delta:
    """The next piece of text."""

    text: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Token counts, where the server sends them."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class EndOfText:
    """The server said that the answer ends here, and why."""

    reason: Literal["stop", "length", "content-filter", "other"]


Item = Delta | Usage | EndOfText


class UpstreamError(Exception):
    """The model server failed. `reason` is a few words of ours, without text of the server.

    `retryable`: the same request may succeed in a moment. `retry_after`: how long
    the server asked to wait (seconds; None: it did not say). `is_server_fault`:
    False where the request was at fault, which says nothing about the server.
    """

    def __init__(
        self, reason: str, *, retryable: bool = False, retry_after: float | None = None, is_server_fault: bool = True
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retryable = retryable
        self.retry_after = retry_after
        self.is_server_fault = is_server_fault
