"""The state of the searches report, and that of the page of one query."""

from dataclasses import dataclass
from typing import ClassVar

from docsite.core.workspace.reports.report_state import Column, ReportState

TABS = {"top": "Top", "empty": "Without result", "few_clicks": "Few clicks"}
ORDERS = {  # the column of the database that each column of the table is sorted by
    "query": "folded", "searches": "searches", "change": "change", "results": "results", "ctr": "ctr",
    "mean_position": "mean_position", "without_result": "without_result", "without_click": "without_click",
}  # fmt: skip

_COLUMNS = (
    *(Column("query", "Query", "text"), Column("searches", "Searches", "number"), Column("change", "Change", "number")),
    *(Column("results", "Results", "number"), Column("ctr", "Clicked", "number")),
    *(Column("mean_position", "Position", "number"), Column("without_result", "Without result", "number")),
    Column("without_click", "Without click", "number"),
)
_DEFAULT_SORT = {"top": "-searches", "empty": "-without_result", "few_clicks": "-without_click"}


@dataclass(frozen=True)
class SearchesState(ReportState):
    """The state of the searches report: which queries its table lists. `path`: only searches that led to this page."""

    tab: str = "top"

    table_columns = _COLUMNS
    choices: ClassVar = {"tab": TABS}

    @property
    def default_sort(self) -> str:  # type: ignore[override]
        """The order of the chosen list."""
        return _DEFAULT_SORT[self.tab]


@dataclass(frozen=True)
class QueryState(ReportState):
    """The state of the page of one query, whose text is `text`."""

    text: str = ""
