"""A reader's question, with its conversation and the page the reader is on."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from search.hits import Filters, Hit


@dataclass(frozen=True)
class Turn:
    """An earlier message of the conversation."""

    role: Literal["user", "assistant"]
    text: str
    broken_off: bool = False  # the answer was stopped, cut or failed


@dataclass(frozen=True)
class Context:
    """A selected text or a code block of the page that the question is about."""

    value: str
    path: str = ""
    type: str = ""  # `code`, `textSelection`, or empty


@dataclass(frozen=True)
class AnswerSettings:
    """How the owner of a site wants its answers.

    The assistant refuses when the chance of an answer (0..1) is below `threshold`. None is the calibrated value.
    """

    instructions: str = ""
    refusal_text: str = ""
    support_url: str = ""
    threshold: float | None = None


@dataclass(frozen=True)
class Pinned:
    """The owner's own answer, Markdown, and the passage that it cites."""

    text: str
    passage: Hit


@dataclass(frozen=True)
class Question:
    """A question. `client_history` are earlier turns as the client sent them, for a thread that is not stored."""

    text: str
    page_size: int = 5
    filters: Filters = field(default_factory=Filters)
    context: Sequence[Context] = ()
    current_path: str = ""
    client_history: Sequence[Turn] = ()
    previous_questions: str = ""  # searched too, if this question is too short to be understood alone
    cited_addresses: Sequence[str] = ()  # of the pages that the answer before cites, if this question follows it up
    suggestions: bool = False  # whether the reader wants a list of sections to read next
    settings: AnswerSettings = field(default_factory=AnswerSettings)
    pinned: Pinned | None = None  # the answer that the owner has given to such questions
