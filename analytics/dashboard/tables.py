"""Build the table of pages: sorted, filtered, one page of rows. Fast for the largest number of pages."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from analytics.counting import pages
from analytics.counting.cells import Ints, sort_unique
from analytics.dashboard.report_state import ReportState
from analytics.reports.exports import SITE
from analytics.reports.visitor_counts import NAMES, Counts
from docsite.core.tenants.models import Project
from docsite.core.workspace.reports.downloads import Format, format_table
from docsite.core.workspace.reports.formatting import percent, visible
from docsite.core.workspace.reports.tables import Change, Table, page_slice
from search.indexing.page_groups import find_hidden
from search.models import Document

_NUMBER, _HUMAN, _AI, _TOTAL = range(4)  # the columns of `Counts.table`


@dataclass(frozen=True)
class PageRow:
    """A page: its counts in the chosen metric, its total in the other metric, and the share of AI."""

    path: str
    title: str
    human: int
    ai: int
    total: int
    other: int
    share: int  # percent
    change: Change | None

    @property
    def name(self) -> str:
        """Its path, without invisible characters."""
        return visible(self.path)

    @property
    def share_in_words(self) -> str:
        """The share in percent: never 0% of some, never 100% of less than all."""
        return percent(self.ai, self.total)


def build_page_table(
    state: ReportState, project: Project, counts: Counts, other: Counts, earlier: Counts | None, *, whole: bool = False
) -> Table[PageRow]:
    """The table of pages, including pages that were read only in the period before. `whole`: all rows, for a file."""
    known = pages.for_project(project.pk)
    tables = [table.table[1:] for table in (counts, other, earlier) if table is not None]
    numbers = sort_unique(*(table[:, _NUMBER] for table in tables))
    if hidden := find_hidden(project, [known.paths[number] for number in numbers.tolist()]):
        numbers = np.array([number for number in numbers.tolist() if known.paths[number] not in hidden], numbers.dtype)
    human, ai, total = (_column(counts, column, numbers) for column in (_HUMAN, _AI, _TOTAL))
    columns = {
        "path": known.rank()[numbers],
        "human": human,
        "ai": ai,
        "total": total,
        "other": _column(other, _TOTAL, numbers),
        "change": total - _column(earlier, _TOTAL, numbers) if earlier is not None else total,
        "share": ai / np.maximum(total, 1),
    }
    by, descending = state.sorted_by
    order = np.lexsort((columns["path"], -columns[by] if descending else columns[by]))  # ties by path
    if state.q:
        needle = state.q.casefold()
        order = order[[needle in known.paths[number].casefold() for number in numbers[order].tolist()]]
    page, part = page_slice(state, len(order))
    chosen = order if whole else order[part]
    paths = [known.paths[number] for number in numbers[chosen].tolist()]
    pages_shown = Document.objects.filter(project=project, path__in=[] if whole else paths)
    titles = dict(pages_shown.values_list("path", "title"))
    picked = (columns[name][chosen].tolist() for name in ("human", "ai", "total", "other", "share", "change"))
    rows = [
        PageRow(
            *(path, visible(titles.get(path, "")), human, ai, total, other, round(100 * share)),
            Change(total, total - change) if earlier is not None else None,
        )
        for path, human, ai, total, other, share, change in zip(paths, *picked, strict=True)
    ]
    return Table(rows, len(order), len(numbers), page)


def format_pages(rows: Sequence[PageRow], counts: Counts, earlier: Counts | None, form: Format) -> Iterator[str]:
    """Rows as a file: first the whole site, as path `(site)`; compared if there are counts of the period before."""
    site = [SITE, *counts.totals.values(), *([earlier.totals["total"]] if earlier else [])]
    values = ([row.path, row.human, row.ai, row.total, row.change and row.change.before] for row in rows)
    names = ("path", *NAMES, "previousTotal")[: len(site)]
    return format_table(names, chain([site], (row[: len(site)] for row in values)), form)


def _column(counts: Counts, column: int, numbers: Ints) -> Ints:
    """A column of counts for the pages with these numbers, in their order."""
    table = counts.table[1:]
    values = np.zeros(max(numbers.max(initial=0), table[:, _NUMBER].max(initial=0)) + 1, np.int64)
    values[table[:, _NUMBER]] = table[:, column]
    return values[numbers]
