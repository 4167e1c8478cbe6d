"""Model servers. The only code that knows a provider; one module for each wire format.

UpstreamError          told to the ladder by its `reason`, a few words without upstream text
"""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Model:
    """A model behind a server."""

    base_url: str
    name: str
    api_key: str = ""
    temperature: float | None = None  # None: as the server has it


@dataclass(frozen=True)
class Piece:
    """Text as it arrives."""

    text: str


@dataclass(frozen=True)
class Usage:
    """Token counts, where the server tells them."""

    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True)
class Ended:
    """The server said that the answer ends here, and why."""

    reason: Literal["stop", "length", "content-filter", "other"]


class UpstreamError(Exception):
    """The model server failed. `reason` is short and holds nothing of what the server said.

    `again` says whether the same request may succeed in a moment, `wait` how
    long the server asked for (seconds; None: it did not say). `theirs` is False
    where the request was at fault, which says nothing about the server's health.
    """

    def __init__(self, reason: str, *, again: bool = False, wait: float | None = None, theirs: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.again = again
        self.wait = wait
        self.theirs = theirs
