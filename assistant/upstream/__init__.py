"""Model servers. The only code that knows a provider; one module for each wire format.

UpstreamError          told to the ladder by its `reason`, a few words without upstream text
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class Model:
    """A model behind a server."""

    base_url: str
    name: str
    api_key: str = ""


@dataclass(frozen=True)
class Piece:
    """Text as it arrives."""

    text: str


@dataclass(frozen=True)
class Usage:
    """Token counts, where the server tells them."""

    prompt_tokens: int
    completion_tokens: int


class UpstreamError(Exception):
    """The model server failed. `reason` is short and holds nothing of what the server said."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason
