"""Tables of reports: a page of rows, and numbers beside those of the period before."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from docsite.core.workspace.reports.report_state import ReportState

T = TypeVar("T")
PAGE_SIZE = 50
FEW = 20  # with fewer visitors, percentages mean little


@dataclass(frozen=True)
class Change:
    """A number beside that of the period before."""

    now: int
    before: int

    @property
    def direction(self) -> str:
        """`up`, `down` or `same`; `new` where there was nothing before."""
        if self.now == self.before:
            return "same"
        if not self.before:
            return "new"
        return "up" if self.now > self.before else "down"

    @property
    def by(self) -> int:
        """The difference, without its sign."""
        return abs(self.now - self.before)

    @property
    def percent(self) -> str:
        """The difference in percent of what was before; empty where that was little or nothing."""
        if self.before < FEW:
            return ""
        share = 100 * self.by / self.before
        return f"{share:,.0f}%" if share >= 1 else f"{share:.1g}%"


@dataclass(frozen=True)
class Table(Generic[T]):
    """One page of a table. `found` counts the rows that pass the filter, `all` counts all rows; `page` begins at 1."""

    rows: list[T]
    found: int
    all: int
    page: int

    @property
    def last_page(self) -> int:
        """How many pages there are, at least one."""
        return max(1, -(-self.found // PAGE_SIZE))

    @property
    def first_row(self) -> int:
        """The number of the first row shown, from 1; 0 if there is none."""
        return min(self.found, (self.page - 1) * PAGE_SIZE + 1)

    @property
    def last_row(self) -> int:
        """The number of the last row shown."""
        return min(self.found, self.page * PAGE_SIZE)


def page_slice(state: ReportState, rows: int) -> tuple[int, slice]:
    """The page to show, which is the last one for numbers beyond it, and its rows."""
    page = min(state.page, max(1, -(-rows // PAGE_SIZE)))
    return page, slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE)
