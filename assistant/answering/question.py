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
class Asker:
    """Who asks. `origin` and `network` (see `network_of`) belong to the request with the question."""

    project: int = 0
    organization: int = 0
    fp: str = ""
    network: str = ""
    origin: str = ""
    chat_id: str = ""
    groups: Sequence[str] = ()  # of the reader, whose pages the answer may hold

    def may_read(self, other: "Asker") -> bool:
        """Whether the answer to another asker holds only pages that this one may see."""
        return set(other.groups) <= set(self.groups)

    @property
    def chat(self) -> tuple[object, ...]:
        """The values that are equal for all requests of one chat in one browser."""
        return (self.project, self.chat_id, self.origin, self.network)


@dataclass(frozen=True)
class Question:
    """A question, from where it is asked to its answer. Without an asker, the service itself asks it.

    `client_history` are earlier turns as the client sent them, for a thread that is not stored.
    """

    text: str
    asker: Asker = Asker()
    caller: str = ""  # a `Message.Caller`: how it came in
    agent: str = ""  # the name of the agent, if one asks
    thread_id: str | None = None  # of the conversation that it continues
    replaces: bool = False  # an answer: that of `message_id`, otherwise the last one
    message_id: str | None = None
    resumable: bool = False  # the answer runs on for a while after its reader has left
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
