"""Finds the Markdown blocks of a text, line by line: which list or quote a line is in, and whether it is code.

`scan_line` takes the blocks that are open above a line, and gives the kind of the
line and the blocks that are open below it. Starting with `BlockState()`:

    "- To install:"   text, with a prefix of 2 characters; open below: an item indented by 2, with a paragraph
    "  ```sh"         fence; open below: the same item, with fenced code
    "  pip install"   code, with a prefix of 2 characters

The rules are the block structure of CommonMark 0.31
(https://spec.commonmark.org/0.31.2/#appendix-a-parsing-strategy) with GitHub's
tables. There are no HTML blocks, since the sanitizer escapes HTML. A stream may end
in the middle of a line: the answer is None until enough of the line is there.
"""

import re
from typing import Literal, NamedTuple

Kind = Literal["blank", "text", "row", "heading", "rule", "delimiter", "fence", "code"]

_QUOTE = 0
# A line of only these characters may still become any kind of block. Any other character decides it.
_UNDECIDED = re.compile(r"[ \t>*+_=|:.)\d#`~-]*")
_HEADING = re.compile(r"#{1,6}(?:[ \t]+|$)")
_FENCE = re.compile(r"(?:(`{3,})[^`]*|(~{3,}).*)$")
_UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*$")
_RULE = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_DELIMITER = re.compile(r"\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*\|?[ \t]*+$")
_ITEM = re.compile(r"(?:[-+*]|(\d{1,9})[.)])(?=[ \t]|$)")
_PREFIX = re.compile(r"[ \t>*+.)\d-]*")


class BlockState(NamedTuple):
    """The blocks that are open at the end of a line."""

    containers: tuple[int, ...] = ()  # outermost first: 0 for a quote, else the indentation of a list item in columns
    paragraph: bool = False
    table: bool = False
    fence: str = ""  # the line that opened fenced code, without its indentation
    empty: bool = False  # the innermost list item has no content yet


class Line(NamedTuple):
    """A scanned line. `prefix` counts its markers and indentation, `after` is the state at its end.

    `continues` is true for `text` that belongs to the paragraph above.
    """

    kind: Kind
    prefix: int
    after: BlockState
    continues: bool = False


def expand_tabs(line: str) -> str:
    """Replace the tabs at the beginning of a line by spaces, since indentation counts columns."""
    prefix = _PREFIX.match(line)
    return prefix[0].expandtabs(4) + line[prefix.end() :] if prefix and "\t" in prefix[0] else line


def count_columns(line: str) -> int:
    """Count the columns of a table's header or delimiter row."""
    return line.strip().removeprefix("|").removesuffix("|").count("|") + 1


def is_delimiter(text: str) -> bool:
    """Whether a line without its markers looks like the delimiter row of a table."""
    return ("|" in text or ":" in text) and bool(_DELIMITER.match(text))


def scan_line(state: BlockState, line: str, is_complete: bool) -> Line | None:
    """Scan a line, after `expand_tabs`. None if the line is not complete and more of it could change the result."""
    is_undecided = not is_complete and bool(_UNDECIDED.fullmatch(line))
    if is_undecided and not state.fence:
        return None
    at, matched = _match_containers(state, line)
    is_inside = matched == len(state.containers)
    if state.fence and is_inside:
        return _scan_code(state, line, at, is_complete)
    if is_undecided:
        return None
    containers = state.containers[:matched]
    if not line[at:].strip(" \t"):
        return Line("blank", len(line), BlockState(containers, empty=state.empty and is_inside))
    return _scan_blocks(state, line, at, containers, is_complete)


def _match_containers(state: BlockState, line: str) -> tuple[int, int]:
    """Find how far the line continues the open containers: the number of characters, and of containers."""
    at = 0
    for matched, width in enumerate(state.containers):
        rest = line[at:]
        indent = len(rest) - len(rest.lstrip(" "))
        if width == _QUOTE:
            if indent > 3 or rest[indent : indent + 1] != ">":
                return at, matched
            at += indent + 1
            at += line[at : at + 1] == " "
        elif not rest.strip(" \t"):
            if state.empty and matched == len(state.containers) - 1:
                return at, matched
            at = len(line)
        elif indent < width:
            return at, matched
        else:
            at += width
    return at, len(state.containers)


def _scan_code(state: BlockState, line: str, at: int, is_complete: bool) -> Line | None:
    """Scan a line in fenced code: more code, or the closing fence."""
    rest = line[at:]
    bare = rest.lstrip(" ")
    mark = state.fence[0]
    opening_size = len(state.fence) - len(state.fence.lstrip(mark))
    size = len(bare) - len(bare.lstrip(mark))
    could_close = len(rest) - len(bare) < 4 and not bare[size:].strip(" \t")
    if not is_complete and could_close:
        return None
    if could_close and size >= opening_size:
        return Line("fence", len(line), BlockState(state.containers))
    return Line("code", at, state)


def _scan_blocks(state: BlockState, line: str, at: int, matched: tuple[int, ...], is_complete: bool) -> Line | None:
    """Scan the rest of a line: the containers that it opens, then what stands in them."""
    is_inside = len(matched) == len(state.containers)
    containers = matched
    while True:
        rest = line[at:].lstrip(" ")
        indent = len(line) - at - len(rest)
        if indent >= 4 or not rest:  # indented code counts as text
            break
        in_paragraph = state.paragraph and is_inside and containers == matched
        if _FENCE.match(rest):
            after = BlockState(containers, fence=rest)
            return Line("fence", len(line), after) if is_complete else None
        if leaf := _scan_leaf(rest, at + indent, len(line), containers, in_paragraph):
            return leaf
        if rest[0] == ">":
            containers += (_QUOTE,)
            at += indent + 1
            at += line[at : at + 1] == " "
        elif (item := _ITEM.match(rest)) and not (in_paragraph and not _can_interrupt_paragraph(rest, item)):
            body = rest[item.end() :]
            blanks = len(body) - len(body.lstrip(" "))
            if not body.strip(" \t"):
                containers += (indent + item.end() + 1,)
                return Line("blank", len(line), BlockState(containers, empty=True))
            width = indent + item.end() + (blanks if blanks < 5 else 1)
            containers += (width,)
            at += width
        else:
            break
    if not rest.strip(" \t"):
        return Line("blank", len(line), BlockState(containers))
    if containers == matched and state.paragraph:  # also without the markers of its quote or its item's indentation
        return Line("text", at + indent, state, continues=True)
    if containers == matched and state.table and is_inside:
        return Line("row", at + indent, state._replace(empty=False))
    return Line("text", at + indent, BlockState(containers, paragraph=indent < 4))


def _scan_leaf(rest: str, at: int, length: int, containers: tuple[int, ...], in_paragraph: bool) -> Line | None:
    """Recognise a heading, a rule, or the delimiter row of a table; None for any other line."""
    after = BlockState(containers)
    if heading := _HEADING.match(rest):
        return Line("heading", at + heading.end(), after)
    if in_paragraph and _UNDERLINE.match(rest):
        return Line("rule", length, after)
    if in_paragraph and is_delimiter(rest):
        return Line("delimiter", at, after._replace(table=True))
    if _RULE.match(rest):
        return Line("rule", length, after)
    return None


def _can_interrupt_paragraph(rest: str, item: re.Match[str]) -> bool:
    """Whether a list item may begin in the middle of a paragraph: it has content, and is a bullet or number 1."""
    return bool(rest[item.end() :].strip(" \t")) and item[1] in (None, "1")
