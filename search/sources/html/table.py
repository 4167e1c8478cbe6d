"""Convert tables of a web page to Markdown. Layout tables are not converted."""

from collections.abc import Callable

from selectolax.lexbor import LexborNode

from search.text.markdown.tables import Cell, format_table, parse_span


def is_data_table(table: LexborNode) -> bool:
    """Whether a table contains data. Other tables only place blocks on the page."""
    if table.attributes.get("role") in ("presentation", "none") or table.css_first("h1, h2, h3, h4, h5, h6"):
        return False
    if any(inner.mem_id != table.mem_id for inner in table.css("table")):
        return False
    return any(len(_cells(row)) > 1 for row in table.css("tr")) and not any(
        "\n" in pre.text().strip() for pre in table.css("pre")
    )


def render_table(node: LexborNode, convert: Callable[[LexborNode], str]) -> str:
    """The table in Markdown. `convert` makes one line of a cell. The first row is the head if it is marked so."""
    rows = [row for row in node.css("tr") if _cells(row)]
    first = rows[0]
    has_head = (first.parent is not None and first.parent.tag == "thead") or all(
        cell.tag == "th" for cell in _cells(first)
    )
    return format_table([[_build_cell(cell, convert) for cell in _cells(row)] for row in rows], has_head)


def _cells(row: LexborNode) -> list[LexborNode]:
    return [node for node in row.iter() if node.tag in ("td", "th")]


def _build_cell(node: LexborNode, convert: Callable[[LexborNode], str]) -> Cell:
    columns, rows = (parse_span(node.attributes.get(name) or "") for name in ("colspan", "rowspan"))
    return Cell(convert(node), columns, rows)
