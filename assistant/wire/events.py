"""The events of an answer, in the order in which a reader gets them.

    Start, ToolCall, ToolResult, Status, (ToolCall, ToolResult)*, (Source | Text)*, Status, Finish
                                                                               or  Failure
                                                                               or  Abort

The first call is the service's own search; those after the first status are the model's. A model may write
text before a call, and each model that fails before its answer adds one more Status. `assistant.wire`
encodes these events and adds nothing to them.
"""

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import msgspec

Rung = Literal["model", "second_model", "extractive", "closest_passages", "nearest_pages"]
FinishReason = Literal["stop", "length", "content-filter", "other"]


@dataclass(frozen=True, slots=True)
class Start:
    """The answer begins. A reader may use the ids later, to resume, stop or go on."""

    message_id: str
    thread_id: str


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A search in the documentation begins, or a page is read. `name`: `search` or `read_page`."""

    call_id: str
    name: str
    input: dict[str, str]


class Excerpt(NamedTuple):
    """A section that was found, as a reader sees it. `url` is absolute and has the section's anchor."""

    path: str
    url: str
    title: str
    section: str
    text: str
    score: float


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The sections that were found, which the answer may rest on. Empty when nothing is good enough."""

    call_id: str
    excerpts: list[Excerpt]


@dataclass(frozen=True, slots=True)
class Status:
    """Who answers now (`rung`), and why the rung before failed (`reason`). The last status has the `scope`."""

    rung: Rung
    reason: str = ""
    scope: dict[str, Any] = field(default_factory=dict)

    def step(self) -> dict[str, Any]:
        """Rung and reason, as they are stored."""
        return {"rung": self.rung, **({"reason": self.reason} if self.reason else {})}

    def data(self) -> dict[str, Any]:
        """Rung, reason and scope, as clients get them."""
        return {**self.step(), **self.scope}


@dataclass(frozen=True, slots=True)
class Source:
    """A page that the following text cites. `number` is its number in the text."""

    number: int
    url: str
    title: str


class Text(msgspec.Struct, frozen=True, gc=False):
    """The next piece of the answer, Markdown. There are several for each token, and a struct is made faster."""

    delta: str


@dataclass(frozen=True, slots=True)
class Failure:
    """The answer broke off. `sentence` is for the reader."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Abort:
    """The answer ends here because the reader stopped it, or left."""


@dataclass(frozen=True, slots=True)
class Finish:
    """The answer ends, complete or cut for a `reason`. Token counts come from the model server; 0 if it sends none."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    reason: FinishReason = "stop"  # "other": the model only repeated itself


Event = Start | ToolCall | ToolResult | Status | Source | Text | Failure | Abort | Finish
END_EVENTS = (Finish, Failure, Abort)
