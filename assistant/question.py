"""What a reader asks, with what is known of the conversation and the page they are on."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from search.hits import Filters


@dataclass(frozen=True)
class Turn:
    """An earlier message of the conversation."""

    role: Literal["user", "assistant"]
    text: str
    broken_off: bool = False  # an answer that was stopped or failed


@dataclass(frozen=True)
class Context:
    """Something on the page that the reader pointed at."""

    value: str
    path: str = ""


@dataclass(frozen=True)
class Voice:
    """What a site's owner told the assistant. `threshold` is the least chance of an answer; None: as calibrated."""

    instructions: str = ""
    deflection: str = ""
    support_url: str = ""
    threshold: float | None = None


@dataclass(frozen=True)
class Question:
    """A question. `claimed` are earlier turns as the client tells them, for a conversation that is not stored."""

    text: str
    page_size: int = 5
    filters: Filters = field(default_factory=Filters)
    context: Sequence[Context] = ()
    current_path: str = ""
    claimed: Sequence[Turn] = ()
    lead: str = ""  # earlier questions, where this one says too little by itself
    suggestions: bool = False
    voice: Voice = field(default_factory=Voice)
