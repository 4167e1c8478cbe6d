"""The state of the visitors report."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from analytics.models import PageView
from docsite.core.workspace import report_state
from docsite.core.workspace.report_state import Column

METRICS = ("visitors", "views")

_COLUMNS = {
    "pages": (
        *(Column("path", "Path", "text"), Column("human", "Human", "number"), Column("ai", "AI", "number")),
        *(Column("total", "Total", "number"), Column("change", "Change", "number")),
        *(Column("other", "", "number"), Column("share", "AI share", "value")),
    ),
    "agents": (
        *(Column("name", "Agent", "text"), Column("views", "Views", "number"), Column("class", "Class", "text")),
        *(Column("counted", "Counts as AI"), Column("forms", "Read as"), Column("address", "Address")),
        *(Column("seen", "Last seen, UTC", "value"), Column("rules", "Decided by")),
    ),
}
_DEFAULT_SORT = {"pages": "-total", "agents": "-views"}


@dataclass(frozen=True)
class ReportState(report_state.ReportState):
    """The state of a report that has a metric, two tables, and a filter by class for that of the agents."""

    metric: str = "visitors"
    tab: str = "pages"
    kind: str = ""

    @classmethod
    def list_columns(cls, typed: Mapping[str, str]) -> Sequence[Column]:
        """The columns of the chosen table."""
        return _COLUMNS.get(typed.get("tab", "pages"), ())

    @classmethod
    def list_choices(cls, typed: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
        """Add the metrics, the tables, and the classes of clients."""
        own = {"metric": METRICS, "tab": tuple(_COLUMNS), "kind": tuple(PageView.Class.values)}
        return {**super().list_choices(typed), **own}

    @property
    def default_sort(self) -> str:  # type: ignore[override]
        """The order of the chosen table."""
        return _DEFAULT_SORT[self.tab]
