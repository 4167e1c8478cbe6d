"""The state of the list of conversations: its filters and its position. It is the query string of each address."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from assistant.conversations.outcomes import WITHOUT_ANSWER
from assistant.models import Message
from docsite.core.workspace.reports.report_state import ReportState

RUNGS = {
    "model": "Model",
    "second_model": "Second model",
    "extractive": "Quotes",
    "closest_passages": "Closest passages",
    "nearest_pages": "Nearest pages",
}
OUTCOMES = {WITHOUT_ANSWER: "Without an answer", **dict(Message.Outcome.choices)}
CALLERS = {"web": "Widget or site", "api": "API", "mcp": "Coding agent (MCP)", "other": "Other"}
THUMBS = {"up": "Thumb up", "down": "Thumb down"}


@dataclass(frozen=True)
class Filter:
    """A filter of the list: its name in the address, its label, and its values with their labels if it is a choice."""

    name: str
    label: str
    choices: Mapping[str, str] | None = None


FILTERS = (
    Filter("outcome", "Outcome", OUTCOMES),
    Filter("thumb", "Rating", THUMBS),
    Filter("q", "Text"),
    Filter("path", "Page"),
    Filter("cites", "Cites page"),
    Filter("caller", "Asked in", CALLERS),
    Filter("rung", "Answered by", RUNGS),
    Filter("language", "Language"),
    Filter("version", "Version"),
)


@dataclass(frozen=True)
class ListState(ReportState):
    """The state of the list. `after` is the cursor of the page that is shown.

    `path`: the page that the question was asked on; without a slash in front, a part of its path. `cites`: a path.
    """

    outcome: str = ""
    thumb: str = ""
    cites: str = ""
    caller: str = ""
    rung: str = ""
    language: str = ""
    version: str = ""
    after: str = ""

    names: ClassVar = tuple(criterion.name for criterion in FILTERS)
    choices: ClassVar = {criterion.name: criterion.choices for criterion in FILTERS if criterion.choices}

    @classmethod
    def accepts_path(cls, path: str) -> bool:
        """Also take a part of a path."""
        return True

    def link(self, **changes: str | int) -> str:
        """The query string of this state with changes. The list begins at the newest, unless `after` is given."""
        return super().link(**{"after": "", **changes})

    @property
    def is_filtered(self) -> bool:
        """Whether a filter is set."""
        return any(getattr(self, name) for name in self.names)

    @property
    def unfiltered_link(self) -> str:
        """The query string of the same range without filters."""
        return self.link(**dict.fromkeys(self.names, ""))

    @property
    def filter_fields(self) -> list[tuple[str, str]]:
        """Names and values for the hidden fields of the form with all filters."""
        return self.hidden("after", *self.names)
