"""A reader's question, with its conversation and the page the reader is on."""

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
    """A site owner's settings for answers. `threshold`: the smallest chance of an answer; None: the calibrated one."""

    instructions: str = ""
    deflection: str = ""
    support_url: str = ""
    threshold: float | None = None


@dataclass(frozen=True)
class Question:
    """A question. `client_history` are earlier turns as the client sent them, for a thread that is not stored."""

    text: str
    page_size: int = 5
    filters: Filters = field(default_factory=Filters)
    context: Sequence[Context] = ()
    current_path: str = ""
    client_history: Sequence[Turn] = ()
    previous_questions: str = ""  # where this one says too little by itself
    suggestions: bool = False
    voice: Voice = field(default_factory=Voice)
