"""Where the lines of some Markdown stand: in which quote or list item, in code or not. Line by line, for streams.

The block structure of CommonMark 0.31 (https://spec.commonmark.org/0.31.2/#appendix-a-parsing-strategy) with the
tables of GitHub, without HTML blocks: what goes through here has no HTML.
"""

import re
from typing import Literal, NamedTuple

Kind = Literal["blank", "text", "row", "heading", "rule", "delimiter", "fence", "code"]

_QUOTE = 0
# A line of these only may still become anything. With any other character it is known what begins there.
_UNDECIDED = re.compile(r"[ \t>*+_=|:.)\d#`~-]*")
_HEADING = re.compile(r"#{1,6}(?:[ \t]+|$)")
_FENCE = re.compile(r"(?:(`{3,})[^`]*|(~{3,}).*)$")
_UNDERLINE = re.compile(r"(?:=+|-+)[ \t]*$")
_RULE = re.compile(r"(?:(?:\*[ \t]*){3,}|(?:-[ \t]*){3,}|(?:_[ \t]*){3,})$")
_DELIMITER = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_ITEM = re.compile(r"(?:[-+*]|(\d{1,9})[.)])(?=[ \t]|$)")
_LEAD = re.compile(r"[ \t>*+.)\d-]*")


class State(NamedTuple):
    """What is open at the end of a line. A container is 0 for a quote, or the columns its items are indented."""

    containers: tuple[int, ...] = ()
    paragraph: bool = False
    table: bool = False
    fence: str = ""  # as it was opened
    empty: bool = False  # an item has begun and has nothing in it yet


class Line(NamedTuple):
    """A line: what it is, how many of its characters come before its words, and what is open after it.

    A `text` line that `continues` belongs to the paragraph above it.
    """

    kind: Kind
    prefix: int
    after: State
    continues: bool = False


def expanded(line: str) -> str:
    """The line with spaces for the tabs at its beginning: they stand for columns there, not for characters."""
    lead = _LEAD.match(line)
    return lead[0].expandtabs(4) + line[lead.end() :] if lead and "\t" in lead[0] else line


def read(before: State, line: str, whole: bool) -> Line | None:
    """What a line is, below what is open; None when that takes more of it. `line` has no tabs at its beginning."""
    if not whole and not before.fence and _UNDECIDED.fullmatch(line):
        return None
    at, matched = _match(before, line)
    inside = matched == len(before.containers)
    rest = line[at:]
    if before.fence and (inside or (not whole and not rest.strip(" \t"))):
        return _in_code(before, line, at, whole) if inside else None
    if not whole and _UNDECIDED.fullmatch(line):
        return None
    containers = list(before.containers[:matched])
    paragraph = before.paragraph and not before.fence
    opened = False
    if not rest.strip(" \t"):
        return Line("blank", len(line), State(tuple(containers), empty=before.empty and inside))
    while True:
        rest = line[at:].lstrip(" ")
        indent = len(line) - at - len(rest)
        continuing = paragraph and inside and not opened
        if indent >= 4 or not rest:
            break
        after = State(tuple(containers))
        if rest[0] == ">":
            containers.append(_QUOTE)
            at += indent + 1
            at += line[at : at + 1] == " "
        elif heading := _HEADING.match(rest):
            return Line("heading", at + indent + heading.end(), after)
        elif _FENCE.match(rest):
            return Line("fence", len(line), after._replace(fence=rest)) if whole else None
        elif continuing and _UNDERLINE.match(rest):
            return Line("rule", len(line), after)
        elif continuing and ("|" in rest or ":" in rest) and _DELIMITER.match(rest):
            return Line("delimiter", at + indent, after._replace(table=True))
        elif _RULE.match(rest):
            return Line("rule", len(line), after)
        elif (item := _ITEM.match(rest)) and not (continuing and not _interrupts(rest, item)):
            body = rest[item.end() :]
            blanks = len(body) - len(body.lstrip(" "))
            if not body.strip(" \t"):
                containers.append(indent + item.end() + 1)
                return Line("blank", len(line), State(tuple(containers), empty=True))
            blanks = blanks if blanks < 5 else 1
            containers.append(indent + item.end() + blanks)
            at += indent + item.end() + blanks
        else:
            break
        opened = True
    if not rest.strip(" \t"):
        return Line("blank", len(line), State(tuple(containers)))
    if paragraph and not opened:  # also where its quote or item is not marked again
        return Line("text", at + indent, before, continues=True)
    if before.table and inside and not opened:
        return Line("row", at + indent, before._replace(empty=False))
    return Line("text", at + indent, State(tuple(containers), paragraph=indent < 4))


def cells(line: str) -> int:
    """How many columns a table's head or delimiter row has."""
    return line.strip().removeprefix("|").removesuffix("|").count("|") + 1


def _match(before: State, line: str) -> tuple[int, int]:
    """How far the line goes on with what is open: characters, and containers."""
    at = 0
    for matched, width in enumerate(before.containers):
        rest = line[at:]
        indent = len(rest) - len(rest.lstrip(" "))
        if width == _QUOTE:
            if indent > 3 or rest[indent : indent + 1] != ">":
                return at, matched
            at += indent + 1
            at += line[at : at + 1] == " "
        elif not rest.strip(" \t"):
            if before.empty and matched == len(before.containers) - 1:
                return at, matched
            at = len(line)
        elif indent < width:
            return at, matched
        else:
            at += width
    return at, len(before.containers)


def _in_code(before: State, line: str, at: int, whole: bool) -> Line | None:
    rest = line[at:]
    bare = rest.lstrip(" ")
    mark = before.fence[0]
    length = len(before.fence) - len(before.fence.lstrip(mark))
    run = len(bare) - len(bare.lstrip(mark))
    could_end = len(rest) - len(bare) < 4 and not bare[run:].strip(" \t")
    if not whole and could_end:
        return None
    if could_end and run >= length:
        return Line("fence", len(line), State(before.containers))
    return Line("code", at, before)


def _interrupts(rest: str, item: re.Match[str]) -> bool:
    """Whether an item may begin in the middle of a paragraph."""
    return bool(rest[item.end() :].strip(" \t")) and item[1] in (None, "1")
