"""Tables: parsers of docutils that count their work, and a table as one of Markdown, a line for each row."""

from typing import Any

from docutils import nodes
from docutils.parsers.rst import tableparser
from docutils.parsers.rst.directives import tables

from search.sources.rst.inline import Inline
from search.sources.rst.scope import BLOCK, Work


class _Grid(tableparser.GridTableParser):
    """A drawn table, whose lines docutils follows from each corner on until they meet."""

    def __init__(self, work: Work) -> None:
        self.work = work

    def scan_down(self, top: int, left: int, right: int) -> Any:
        found = super().scan_down(top, left, right)
        self.work.spend((found[0] if found else self.bottom) - top)
        return found

    def scan_left(self, top: int, left: int, bottom: int, right: int) -> Any:
        self.work.spend(right - left)
        return super().scan_left(top, left, bottom, right)

    def mark_done(self, top: int, left: int, bottom: int, right: int) -> None:
        """What comes after it looks at whole lines to cut a cell out of them."""
        self.work.spend((bottom - top) * self.right // 4)
        super().mark_done(top, left, bottom, right)


class _Simple(tableparser.SimpleTableParser):
    """A table of columns."""

    def __init__(self, work: Work) -> None:
        self.work = work

    def parse_row(self, lines: Any, start: int, spanline: Any = None) -> None:
        """For each column docutils looks at whole lines."""
        self.work.spend(len(self.columns) * (BLOCK + sum(map(len, lines)) // 4))
        super().parse_row(lines, start, spanline)


parsers: dict[Any, Any] = {tableparser.GridTableParser: _Grid, tableparser.SimpleTableParser: _Simple}


class CSVTable(tables.CSVTable):
    """A table of comma-separated values, in which all rows are as long as the longest."""

    def extend_short_rows_with_empty_cells(self, columns: int, parts: Any) -> None:
        self.state.memo.inliner.scope.work.spend(BLOCK * columns * sum(map(len, parts)))
        super().extend_short_rows_with_empty_cells(columns, parts)


def table(node: nodes.Element, inline: Inline) -> list[str]:
    """The title, if there is one, and the table; what a cell spans beside its own place stays empty."""
    head: list[list[str]] = []
    rows: list[list[str]] = []
    for group in node.findall(nodes.tgroup):
        below: dict[int, int] = {}  # for each column how many more rows a cell above reaches into
        for row in group.findall(nodes.row):
            (head if isinstance(row.parent, nodes.thead) else rows).append(_cells(row, below, inline))
    if not head and not rows:
        return []
    width = max(map(len, head + rows))
    first = [" ".join(filter(None, column)) for column in zip(*(_filled(row, width) for row in head), strict=True)]
    lines = [first or [""] * width, ["---"] * width, *rows]
    titles = [inline.line(child.children) for child in node.children if isinstance(child, nodes.title)]
    return [*(f"**{text}**" for text in titles), "\n".join(f"| {' | '.join(_filled(row, width))} |" for row in lines)]


def _cells(row: nodes.Element, below: dict[int, int], inline: Inline) -> list[str]:
    cells: list[str] = []
    for entry in row.children:
        if isinstance(entry, nodes.entry):
            _go_past(cells, below)
            column = len(cells)
            cells += [inline.flat(entry).replace("|", "\\|"), *[""] * int(entry.get("morecols", 0))]
            for at in range(column, len(cells)):
                below[at] = int(entry.get("morerows", 0))
    _go_past(cells, below)
    return cells


def _go_past(cells: list[str], below: dict[int, int]) -> None:
    """Leave the columns empty that a cell of a row above reaches into."""
    while below.get(len(cells), 0) > 0:
        below[len(cells)] -= 1
        cells.append("")


def _filled(cells: list[str], width: int) -> list[str]:
    return cells + [""] * (width - len(cells))
