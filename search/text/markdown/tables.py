"""Tables in Markdown: written from cells, and from the HTML tables of a page."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

MAX_COLUMNS = 100  # that one cell may span
MAX_REPEATED = 200  # characters of a cell that is repeated in each row that it spans
MAX_CELLS = 20_000  # of one table, of which spans and short rows may fill some
FREE_CELLS, MAX_FILLED = 100, 10  # a table of n own cells is filled up to FREE_CELLS + MAX_FILLED * n cells
CELL_CHARS = 10  # a repeated cell counts once more for so many characters
_ATTRIBUTES = r"(?:[^<>\"']|\"[^\"]{0,2000}\"|'[^']{0,2000}'){0,200}+"
_TABLE = re.compile(rf"<table(?![\w-]){_ATTRIBUTES}>", re.IGNORECASE)
_END = re.compile(r"</table\s*>", re.IGNORECASE)
_TAG = re.compile(rf"<(/?)(caption|thead|tr|t[dh])(?![\w-])({_ATTRIBUTES})>", re.IGNORECASE)
_SPAN = re.compile(r"\b(col|row)span\s*+=\s*+[\"'{]?\s*+(\d{1,3})\b", re.IGNORECASE)
_BREAK = re.compile(r"</?(?:br|div|li|ol|p|ul)\b[^<>]{0,200}>", re.IGNORECASE)
_BAR = re.compile(r"(?<!\\)\|")
# What only places blocks on the page: code of several lines, headings, tables in tables.
_LAYOUT = re.compile(
    r"(?m)^[ \t>]*(?:```|~~~|#{1,6}[ \t])|<(?:pre|h[1-6])(?![\w-])|\brole=[\"']?presentation", re.IGNORECASE
)


class Cell(NamedTuple):
    """A cell: its text on one line, and how many columns and rows it spans."""

    text: str
    columns: int = 1
    rows: int = 1


def format_table(rows: Sequence[Sequence[Cell]], has_head: bool) -> str:
    """The table in Markdown; with `has_head` the first row is its head. A short cell is in each row that it spans.

    The text is at most proportional to that of the cells, whatever they span.
    """
    limit = min(MAX_CELLS, FREE_CELLS + MAX_FILLED * sum(map(len, rows)))
    lines = list(_fill_spans(rows, limit))
    width = max(map(len, lines))
    head, body = (lines[0], lines[1:]) if has_head else ([], lines)
    least = width if len(lines) * width <= limit else 0  # Markdown itself adds the cells that a row lacks
    texts = [_format_row(head, width), "|" + " --- |" * width, *(_format_row(row, least) for row in body if any(row))]
    return "\n".join(texts)


def convert_tables(source: str) -> str:
    """Some lines of a page with their HTML tables as Markdown, if these hold data and not only place blocks."""
    pieces: list[str] = []
    at = 0
    while (start := _TABLE.search(source, at)) and (end := _END.search(source, start.end())):
        inner = source[start.end() : end.start()]
        is_layout = _LAYOUT.search(start[0] + inner) or _TABLE.search(inner)
        pieces += [source[at : start.start()].strip("\n"), inner if is_layout else _convert(inner)]
        at = end.end()
    return "\n\n".join(piece for piece in [*pieces, source[at:].strip("\n")] if piece.strip())


def parse_span(value: str) -> int:
    """How many columns or rows a cell spans, by its attribute."""
    return min(max(int(value), 1), MAX_COLUMNS) if value.isdecimal() and len(value) < 4 else 1


def _convert(inner: str) -> str:
    """A table by its inner HTML; if no row has two cells, only its text."""
    rows: list[list[Cell]] = []
    names: list[set[str]] = []  # of the elements that each row has, with `thead` around it
    caption, around = "", set[str]()
    _, *found = _TAG.split(inner)
    for slash, tag, attributes, text in zip(*(iter(found),) * 4, strict=True):
        name, text = tag.lower(), " ".join(_BREAK.sub(" ", text).split())
        if name == "thead":
            around = set() if slash else {"thead"}
        elif slash:
            continue
        elif name == "caption":
            caption = f"**{text}**\n\n" if text else ""
        elif name == "tr" or not rows:
            rows.append([])
            names.append(set(around))
        if name in ("td", "th") and not slash:
            spans = {kind.lower(): parse_span(number) for kind, number in _SPAN.findall(attributes)}
            rows[-1].append(Cell(text, spans.get("col", 1), spans.get("row", 1)))
            names[-1].add(name)
    full = [(row, kinds) for row, kinds in zip(rows, names, strict=True) if row]
    if max((len(row) for row, _ in full), default=0) < 2:
        return inner
    has_head = "thead" in full[0][1] or full[0][1] == {"th"}
    return caption + format_table([row for row, _ in full], has_head)


def _fill_spans(rows: Sequence[Sequence[Cell]], limit: int) -> Iterator[list[str]]:
    """The texts of each row by columns, with those of cells above that reach into it.

    Behind `limit` cells every cell stands for itself, without its spans.
    """
    reaching: dict[int, Cell] = {}  # by column; `rows` is how many more rows it reaches
    written = 0
    for row in rows:
        line: list[str] = []
        cells = iter(row)
        last = max(reaching, default=0)  # what this row adds is never to the right of where it stands
        while True:
            if written >= limit:
                reaching.clear()
                last = 0
            if above := reaching.pop(len(line), None):
                cell = above._replace(text=above.text if len(above.text) <= MAX_REPEATED else "")
                written += len(cell.text) // CELL_CHARS
            elif (following := next(cells, None)) is not None:
                cell = following
            elif last > len(line):
                cell = Cell("")
            else:
                break
            columns = cell.columns if written < limit else 1
            if cell.rows > 1 and written < limit:
                reaching[len(line)] = cell._replace(rows=cell.rows - 1)
            line += [cell.text] + [""] * (columns - 1)
            written += columns
        yield line


def _format_row(texts: list[str], width: int) -> str:
    return "| " + " | ".join(_BAR.sub(r"\\|", text) for text in texts + [""] * (width - len(texts))) + " |"
