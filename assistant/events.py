"""What happens while an answer is made, in the order a reader learns of it.

    Start, Searching, Found, Status, (Source | Text)*, Status, Finish
                                                     or  Failed
                                                     or  Stopped

A further Status before the text tells of each rung that failed. Doors
(`assistant.wire`, the socket) only encode these; they add nothing.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

from search.hits import Hit

Rung = Literal["model", "second_model", "extractive", "nearest_pages"]
FinishReason = Literal["stop", "length", "content-filter", "other"]


@dataclass(frozen=True)
class Start:
    """The answer begins, under ids that the reader may use later."""

    message_id: str
    thread_id: str


@dataclass(frozen=True)
class Searching:
    """The documentation is being searched."""

    call_id: str
    query: str


@dataclass(frozen=True)
class Found:
    """The passages the answer will rest on; none when nothing is good enough."""

    call_id: str
    hits: list[Hit]


@dataclass(frozen=True)
class Status:
    """Who answers now (`rung`) and why not the one before (`reason`); at the end, over which pages (`scope`)."""

    rung: Rung
    reason: str = ""
    scope: dict[str, Any] = field(default_factory=dict)

    def step(self) -> dict[str, Any]:
        """Rung and reason, as they are stored."""
        return {"rung": self.rung, **({"reason": self.reason} if self.reason else {})}

    def data(self) -> dict[str, Any]:
        """As it goes out."""
        return {**self.step(), **self.scope}


@dataclass(frozen=True)
class Source:
    """A page that is cited from here on. `number` is the one in the text."""

    number: int
    url: str
    title: str


@dataclass(frozen=True)
class Text:
    """The next piece of the answer, Markdown."""

    delta: str


@dataclass(frozen=True)
class Failed:
    """The answer broke off. `sentence` is for the reader."""

    sentence: str


@dataclass(frozen=True)
class Stopped:
    """The reader asked it to end here."""


@dataclass(frozen=True)
class Finish:
    """The answer is complete. Token counts as the model server gave them, else 0."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    reason: FinishReason = "stop"


Event = Start | Searching | Found | Status | Source | Text | Failed | Stopped | Finish
