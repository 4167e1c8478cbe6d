"""Convert tables of a web page to Markdown. Layout tables are not converted."""

from collections.abc import Callable

from selectolax.lexbor import LexborNode

_MAX_COLUMNS = 100  # that one cell may span


def is_data_table(table: LexborNode) -> bool:
    """Whether a table contains data. Other tables only place blocks on the page."""
    if table.attributes.get("role") in ("presentation", "none") or table.css_first("h1, h2, h3, h4, h5, h6"):
        return False
    if any(inner.mem_id != table.mem_id for inner in table.css("table")):
        return False
    return any(len(_cells(row)) > 1 for row in table.css("tr")) and not any(
        "\n" in pre.text().strip() for pre in table.css("pre")
    )


def render_table(node: LexborNode, cell: Callable[[LexborNode], str]) -> str:
    """The table in Markdown. `cell` converts a cell to one line. The first row is the head if it is marked so."""
    rows = [row for row in node.css("tr") if _cells(row)]
    texts = [[text for node in _cells(row) for text in _expand_columns(node, cell)] for row in rows]
    width = max(map(len, texts))
    first = rows[0]
    is_head = (first.parent is not None and first.parent.tag == "thead") or all(
        one.tag == "th" for one in _cells(first)
    )
    head, body = (texts[0], texts[1:]) if is_head else ([], texts)
    lines = [_format_row(head, width), "|" + " --- |" * width, *(_format_row(row, width) for row in body if any(row))]
    return "\n".join(lines)


def _cells(row: LexborNode) -> list[LexborNode]:
    return [node for node in row.iter() if node.tag in ("td", "th")]


def _expand_columns(node: LexborNode, cell: Callable[[LexborNode], str]) -> list[str]:
    """The text of a cell, and empty texts for the further columns that it spans."""
    span = node.attributes.get("colspan") or "1"
    return [cell(node)] + [""] * (min(int(span), _MAX_COLUMNS) - 1 if span.isdecimal() and len(span) < 4 else 0)


def _format_row(texts: list[str], width: int) -> str:
    return "| " + " | ".join(text.replace("|", "\\|") for text in texts + [""] * (width - len(texts))) + " |"
