"""The state of the report of questions."""

from dataclasses import dataclass
from typing import ClassVar

from assistant.admin.conversations.list_state import OUTCOMES
from assistant.improving.gaps.questions import QuestionFilters
from assistant.models import Message
from docsite.core.workspace.reports import report_state
from docsite.core.workspace.reports.report_state import Column

COLUMNS = (
    *(Column("question", "Question"), Column("total", "Asked", "number"), Column("answered", "Answered", "number")),
    *(Column("share", "Share", "number"), Column("latest", "Latest", "value")),
)


@dataclass(frozen=True)
class QuestionState(report_state.ReportState):
    """The state of the report: its range, and one filter for each facet."""

    outcome: str = ""
    rung: str = ""
    caller: str = ""
    language: str = ""
    group: str = ""

    table_columns = COLUMNS
    choices: ClassVar = {"outcome": OUTCOMES, "caller": Message.Caller.values}  # other filters take any value
    default_sort = "-total"

    @classmethod
    def accepts_path(cls, path: str) -> bool:
        """Whether a filter by page is valid: a path, or `none` for questions that were asked on no page."""
        return path == "none" or super().accepts_path(path)

    @property
    def filters(self) -> QuestionFilters:
        """The filters for the queries."""
        group = self.group if self.group.isascii() and self.group.isdigit() and len(self.group) < 16 else "0"
        return QuestionFilters(
            self.outcome, self.rung[:20], self.caller, self.language[:7], self.path, group if self.group else ""
        )
