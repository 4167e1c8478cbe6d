"""The state of the feedback page: what is listed, and how it is sorted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from analytics.feedback.triage import NOBODY, THUMBS, Selection
from analytics.models import Feedback
from docsite.core.workspace.reports.report_state import Column, ReportState

TABS = {"list": "Feedback", "pages": "By page"}
PAGE_COLUMNS = (
    *(Column("path", "Page", "text"), Column("up", "Helpful", "number"), Column("down", "Not helpful", "number")),
    *(Column("change", "Change of “not helpful”", "number"), Column("share", "Rating")),
    *(Column("code", "On code", "number"), Column("total", "All", "number")),
)


@dataclass(frozen=True)
class TriageState(ReportState):
    """The state of the page. `assignee` is a user's id or `nobody`; `q` is a part of the text."""

    tab: str = "list"
    status: str = ""
    source: str = ""
    thumb: str = ""
    assignee: str = ""

    table_columns = PAGE_COLUMNS  # of the table by page; the other list is always sorted by time
    choices: ClassVar = {
        "tab": TABS,
        "status": Feedback.Status.values,
        "source": Feedback.Source.values,
        "thumb": THUMBS,
    }
    default_sort = "-down"  # pages with the most complaints first

    @classmethod
    def list_choices(cls, typed: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        """Add the assignees."""
        assignee = typed.get("assignee", "")
        is_user = assignee.isascii() and assignee.isdigit() and len(assignee) < 10
        return {**super().list_choices(typed), "assignee": (NOBODY, assignee) if is_user else (NOBODY,)}

    @property
    def selection(self) -> Selection:
        """The filters."""
        return Selection(self.status, self.source, self.thumb, self.path, self.assignee, self.q)

    @property
    def is_filtered(self) -> bool:
        """Whether some feedback of the range may be left out."""
        return self.selection != Selection()
