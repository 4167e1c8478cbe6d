"""The state of the visitors report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from analytics.audience import DIMENSIONS
from analytics.reports.audience_counts import PAGE
from docsite.core.workspace.reports import report_state
from docsite.core.workspace.reports.report_state import Column

METRICS = ("visitors", "views")

_COLUMNS = {
    "pages": (
        *(Column("path", "Path", "text"), Column("human", "Human", "number"), Column("ai", "AI", "number")),
        *(Column("total", "Total", "number"), Column("change", "Change", "number")),
        *(Column("other", "", "number"), Column("share", "AI share", "value")),
    ),
    "sources": (),
}
_DEFAULT_SORT = {"pages": "-total", "sources": ""}


@dataclass(frozen=True)
class ReportState(report_state.ReportState):
    """The state of a report that has a metric, tables and filters.

    Filters have the names of the dimensions. `all`: the dimension of which all values show.
    """

    metric: str = "visitors"
    tab: str = "pages"
    all: str = ""
    channel: str = ""
    source: str = ""
    utm_source: str = ""
    utm_medium: str = ""
    utm_campaign: str = ""
    device: str = ""
    browser: str = ""
    language: str = ""
    entry: str = ""

    choices: ClassVar = {"metric": METRICS, "tab": _COLUMNS, "all": DIMENSIONS}
    max_days = 0

    @classmethod
    def list_columns(cls, typed: Mapping[str, str]) -> Sequence[Column]:
        """The columns of the chosen table."""
        return _COLUMNS.get(typed.get("tab", "pages"), ())

    @property
    def filter_names(self) -> list[str]:
        """The fields of the filters that are set."""
        return [name for name in (*DIMENSIONS, "path") if getattr(self, name)]

    @property
    def filters(self) -> dict[str, str]:
        """The filters, as reports take them."""
        return {PAGE if name == "path" else name: getattr(self, name) for name in self.filter_names}

    @property
    def default_sort(self) -> str:  # type: ignore[override]
        """The order of the chosen table."""
        return _DEFAULT_SORT[self.tab]
