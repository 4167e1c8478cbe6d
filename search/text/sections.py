"""Split a Markdown page into sections: one for each heading, more where one is too long."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, zip_longest
from typing import NamedTuple

from markdown_it.token import Token

from search.text.markdown.cleaning import clean
from search.text.markdown.plain_text import anchor_and_heading, plain, text_of, words_of
from search.text.markdown.reader import MAX_COLUMNS, columns_of, parse, source_of, top_level
from search.text.markdown.writer import escape_line_start, escape_text

MAX_WORDS = 400
_SOFT_HYPHEN = re.compile("(?<=\\w)(?:&shy;|&#173;|\u00ad)(?=\\w)(?![^\\s{}]{0,300}\\})")  # but in `{#anchor}`
LONG_HEADING = 100  # characters; a longer heading is cut, and stands as a whole in the text

_TITLE = re.compile(r"\*\*[^*\n]+\*\*")
_LABEL = re.compile(r"\*\*(?:note|tip|info|hint|important|warning|caution|danger)\*\*", re.IGNORECASE)


@dataclass(frozen=True)
class Part:
    """A section of a page. `trail` holds the headings above it and its own; an intro has neither heading nor anchor."""

    heading: str
    anchor: str
    trail: tuple[str, ...]
    body: str
    text: str


class _Block(NamedTuple):
    """A piece of a body that is never split: its source and its words."""

    source: str
    text: str


def split(markdown: str, title: str = "") -> list[Part]:
    """The sections of a page, in order. A page without headings is one section."""
    source = _SOFT_HYPHEN.sub("", clean(markdown))
    lines = source.split("\n")
    tokens = parse(source)
    parts: list[Part] = []
    seen: dict[str, int] = {}
    trail: list[tuple[int, str]] = []
    heading = anchor = ""
    below: list[_Block] = []
    titled = False

    def finish() -> None:
        names = tuple(name for _, name in trail)
        for body, text in _pack(below):
            parts.append(Part(heading, anchor, names, body, text))
        if heading and not below:
            parts.append(Part(heading, anchor, names, "", ""))

    for start, end in top_level(tokens):
        token = tokens[start]
        if token.type != "heading_open":
            below += _pieces(tokens[start:end], lines)
            continue
        finish()
        below = []
        level = int(token.tag[1])
        anchor, heading = anchor_and_heading(text_of(tokens[start + 1].content), seen)
        if level == 1 and not titled:
            heading = anchor = ""  # the title of the page
        elif heading:
            if len(heading) > LONG_HEADING:
                below = [_Block(escape_line_start(escape_text(heading)), heading)]
                heading = f"{heading[:LONG_HEADING].rpartition(' ')[0] or heading[:LONG_HEADING]}…"
            trail = [(above, name) for above, name in trail if above < level] + [(level, heading)]
        titled = True
    finish()
    return parts or [Part("", "", (), title, title)]


def _pieces(tokens: Sequence[Token], lines: list[str]) -> list[_Block]:
    """A top-level block; a list, table or paragraph that is too long for a section is split into several."""
    block = _Block(source_of(tokens[0], lines), words_of(tokens))
    if not block.source:
        return []
    if len(block.source) < MAX_WORDS * 2 or _size(block.source) <= MAX_WORDS:
        return [block]
    kind = tokens[0].type
    if kind in ("bullet_list_open", "ordered_list_open"):
        items = [index for index, token in enumerate(tokens) if token.type == "list_item_open" and token.level == 1]
        ends = [*items[1:], len(tokens) - 1]
        return [
            _Block(source_of(tokens[start], lines), words_of(tokens[start:end]))
            for start, end in zip(items, ends, strict=True)
        ]
    if kind in ("table_open", "rows"):
        return _rows(block.source.split("\n"))
    if kind == "paragraph_open":
        return [_Block(piece, text_of(piece)) for piece in _sentences(block.source)]
    return [block]


def _rows(lines: list[str]) -> list[_Block]:
    """The rows of a long table in groups, each below the table's head, so that it stays a table.

    With too many columns for that it becomes text, each row cut like a paragraph.
    """
    head, rows = lines[:2], lines[2:]
    columns = columns_of(head[0])
    if columns > MAX_COLUMNS:
        pieces = [piece for row in [head[0], *rows] for piece in _sentences(row.replace("|", " | ").strip())]
        return [_Block(piece, plain(piece)) for piece in pieces]
    groups: list[_Block] = []
    start = size = length = 0
    for index, row in enumerate(rows):
        size += max(_size(row), columns)
        length += len(row)
        # a head far longer than its rows is not repeated for every few rows
        if (size > MAX_WORDS // 2 and length * 4 >= len(head[0])) or index == len(rows) - 1:
            group = "\n".join(head + rows[start : index + 1])
            groups.append(_Block(group, plain(group)))
            start, size, length = index + 1, 0, 0
    return groups or [_Block("\n".join(lines), plain("\n".join(lines)))]


def _size(source: str) -> int:
    """The number of words of a block, or of a table's cells if these have no spaces between them."""
    return max(len(source.split()), source.count("|"))


def _sentences(paragraph: str) -> list[str]:
    """A very long paragraph, cut after sentences, or after words where there are none."""
    cuts = [""]
    size = 0
    for sentence in re.split(r"(?<=[.!?])\s+", paragraph):
        words = sentence.split()
        for start in range(0, len(words), MAX_WORDS):
            some = words[start : start + MAX_WORDS]
            if size and size + len(some) > MAX_WORDS:
                cuts.append("")
                size = 0
            cuts[-1] += (" " if cuts[-1] else "") + " ".join(some)
            size += len(some)
    return cuts


def _pack(below: list[_Block]) -> list[tuple[str, str]]:
    """Join blocks into bodies of about 400 words, each with its text; a block, code above all, is never cut.

    The title of a tab or a call-out stays with what it is the title of. The label of an empty call-out is left out.
    """
    bodies: list[list[_Block]] = []
    size = MAX_WORDS
    for block, after in zip_longest(below, below[1:]):
        if _LABEL.fullmatch(block.source) and (after is None or _TITLE.fullmatch(after.source)):
            continue
        count = _size(block.source)
        if not bodies or (size + count > MAX_WORDS and size > MAX_WORDS // 4):
            bodies.append([])
            size = 0
        bodies[-1].append(block)
        size += count
    for body, following in pairwise(bodies):
        if len(body) > 1 and _TITLE.fullmatch(body[-1].source):
            following.insert(0, body.pop())
    return [
        ("\n\n".join(block.source for block in body), "\n".join(block.text for block in body if block.text))
        for body in bodies
    ]
