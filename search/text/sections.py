"""A Markdown page to its sections: one for each heading, split where one grows too long."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table
from markdown_it.token import Token

from search.text.markup import LONGEST, clean

__all__ = ["Part", "anchor_and_heading", "blocks", "clean", "inline_text", "plain", "slug", "split"]

MOST_WORDS = 400
MOST_CELLS = 20_000  # of a table that is parsed; a larger one is taken line by line
MOST_COLUMNS = 200
# Without `inline` a parse finds blocks only; most text then needs no second look. `clean` has dealt with the rest.
_PARSER = (
    MarkdownIt("commonmark", {"html": False})
    .enable(["table", "strikethrough"])
    .disable(["inline", "text_join", "reference", "html_block", "html_inline"])
)


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A table, or one `rows` token for a table so large that a token for each cell would cost too much."""
    if not table(state, start, end, True):
        return False
    if silent:
        return True
    columns = _columns(state.getLines(start, start + 1, 0, False))
    if columns <= MOST_COLUMNS and columns * (end - start) <= MOST_CELLS:
        return table(state, start, end, False)
    stops = state.md.block.ruler.getRules("blockquote")
    last = start + 2
    while last < end and state.sCount[last] >= state.blkIndent and not state.isEmpty(last):
        if state.is_code_block(last) or any(stop(state, last, end, True) for stop in stops):
            break
        last += 1
    if columns <= MOST_COLUMNS and columns * (last - start) <= MOST_CELLS:
        return table(state, start, end, False)
    rows = state.push("rows", "", 0)
    rows.map = [start, last]
    rows.content = state.getLines(start, last, state.blkIndent, False)
    state.line = last
    return True


_PARSER.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})

_EXPLICIT_ID = re.compile(r"\s*(?:\{:?[^{}#]*#([^\s{}#]+)[^{}]*\}|\[#([\w:.-]+)\])\s*$")
# Marks that need no parser, each with its text, and what would still need one beside them.
_SIMPLE = re.compile(
    r"`(?<![`\\]`)(?!`)([^`]+)`(?!`)"
    r"|\*(?<![*\\]\*)\*(?![\s*])([^*`_\[\]\\<&~]+)(?<!\s)\*\*(?!\*)"
    r"|\*(?<![*\\]\*)(?![\s*])([^*`_\[\]\\<&~]+)(?<!\s)\*(?!\*)"
    r"|\[(?<![!\\\]]\[)([^\[\]*`_\\<&~]+)\]\(https?://[^()\s<>\\&]+\)"
)
_MARKED = re.compile(r"[`*]|\\[^\w ]|(?<![^\W_])_|_(?![^\W_])|~~|\]\(|<[A-Za-z]|&#?\w+;")
_LINE_END = re.compile(r" {0,100}\n {0,100}")
_CODE_TITLE = re.compile(r"""\b(?:title|filename|name|label)\s*=\s*(?:"([^"]*)"|'([^']*)')""")
_COLOURS = re.compile(r"</?(?:font|span|b|u)(?: [^<>]{0,200})?>")  # of a terminal, as sites show it
_CODE_WORD = re.compile(r"[\w./@-]+")


@dataclass(frozen=True)
class Part:
    """A section of a page. `trail` holds the headings above it and its own; an intro has neither heading nor anchor."""

    heading: str
    anchor: str
    trail: tuple[str, ...]
    body: str
    text: str


class _Block(NamedTuple):
    """A piece of a body that stays whole: as it is written, and its words."""

    source: str
    text: str


def slug(heading: str) -> str:
    """The anchor of a heading, as GitHub makes it: lower case, no punctuation, hyphens for spaces."""
    return re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", heading.strip().lower()))


def anchor_and_heading(raw: str, seen: dict[str, int]) -> tuple[str, str]:
    """Anchor and visible text of a heading; an explicit `{#id}` wins, a repeated slug gets a number."""
    explicit = _EXPLICIT_ID.search(raw)
    heading = _EXPLICIT_ID.sub("", raw).strip()
    if explicit:
        return explicit[1] or explicit[2], heading
    anchor = slug(heading)
    count = seen.get(anchor, 0)
    seen[anchor] = count + 1
    return (f"{anchor}-{count}" if count else anchor), heading


def inline_text(token: Token) -> str:
    """The visible text of an inline token, without its markup."""
    return _joined(token.children or [])


def split(markdown: str, title: str = "") -> list[Part]:
    """The sections of a page, in order. A page without headings is one section."""
    source = clean(markdown)
    lines = source.split("\n")
    tokens = _PARSER.parse(source)
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

    for start, end in _top_level(tokens):
        token = tokens[start]
        if token.type != "heading_open":
            below += _pieces(tokens[start:end], lines)
            continue
        finish()
        below = []
        level = int(token.tag[1])
        anchor, heading = anchor_and_heading(_text(tokens[start + 1].content), seen)
        if level == 1 and not titled:
            heading = anchor = ""  # the title of the page
        elif heading:
            trail = [(above, name) for above, name in trail if above < level] + [(level, heading)]
        titled = True
    finish()
    return parts or [Part("", "", (), title, title)]


def blocks(lines: list[str]) -> list[str]:
    """The top-level blocks of some lines, as they are written."""
    tokens = _PARSER.parse("\n".join(lines))
    found = [_source(tokens[start], lines) for start, _ in _top_level(tokens)]
    return [block for block in found if block]


def plain(markdown: str) -> str:
    """The words of some Markdown, code included, without its markup; one line for each block."""
    return _words(_PARSER.parse(markdown))


def _top_level(tokens: Sequence[Token]) -> Iterable[tuple[int, int]]:
    """Where each top-level block begins and ends among the tokens."""
    start = 0
    for index, token in enumerate(tokens):
        if token.level == 0 and token.nesting <= 0:
            yield start, index + 1
            start = index + 1


def _source(token: Token, lines: list[str]) -> str:
    if token.type == "hr" or not token.map:
        return ""
    block = "\n".join(lines[token.map[0] : token.map[1]]).strip("\n")
    return block if block.strip() else ""


def _pieces(tokens: Sequence[Token], lines: list[str]) -> list[_Block]:
    """A top-level block; a list, table or paragraph that is too long for a section comes in several."""
    block = _Block(_source(tokens[0], lines), _words(tokens))
    if not block.source:
        return []
    if len(block.source) < MOST_WORDS * 2 or _size(block.source) <= MOST_WORDS:
        return [block]
    kind = tokens[0].type
    if kind in ("bullet_list_open", "ordered_list_open"):
        items = [index for index, token in enumerate(tokens) if token.type == "list_item_open" and token.level == 1]
        ends = [*items[1:], len(tokens) - 1]
        return [
            _Block(_source(tokens[start], lines), _words(tokens[start:end]))
            for start, end in zip(items, ends, strict=True)
        ]
    if kind in ("table_open", "rows"):
        return _rows(block.source.split("\n"))
    if kind == "paragraph_open":
        return [_Block(piece, _text(piece)) for piece in _sentences(block.source)]
    return [block]


def _rows(lines: list[str]) -> list[_Block]:
    """The rows of a long table in groups, each below the table's head, so that it stays a table.

    With too many columns for that it becomes text, each row cut like a paragraph.
    """
    head, rows = lines[:2], lines[2:]
    columns = _columns(head[0])
    if columns > MOST_COLUMNS:
        pieces = [piece for row in [head[0], *rows] for piece in _sentences(row.replace("|", " | ").strip())]
        return [_Block(piece, plain(piece)) for piece in pieces]
    groups: list[_Block] = []
    start = size = length = 0
    for index, row in enumerate(rows):
        size += max(_size(row), columns)
        length += len(row)
        # a head far longer than its rows is not repeated for each few of them
        if (size > MOST_WORDS // 2 and length * 4 >= len(head[0])) or index == len(rows) - 1:
            group = "\n".join(head + rows[start : index + 1])
            groups.append(_Block(group, plain(group)))
            start, size, length = index + 1, 0, 0
    return groups or [_Block("\n".join(lines), plain("\n".join(lines)))]


def _columns(line: str) -> int:
    return line.strip().strip("|").count("|") + 1


def _size(source: str) -> int:
    """The words of a block, or its table's cells where blanks do not set them apart."""
    return max(len(source.split()), source.count("|"))


def _sentences(paragraph: str) -> list[str]:
    """A very long paragraph, cut after sentences, or after words where there are none."""
    cuts = [""]
    size = 0
    for sentence in re.split(r"(?<=[.!?])\s+", paragraph):
        words = sentence.split()
        for start in range(0, len(words), MOST_WORDS):
            some = words[start : start + MOST_WORDS]
            if size and size + len(some) > MOST_WORDS:
                cuts.append("")
                size = 0
            cuts[-1] += (" " if cuts[-1] else "") + " ".join(some)
            size += len(some)
    return cuts


def _pack(below: list[_Block]) -> list[tuple[str, str]]:
    """Join blocks into bodies of about 400 words, each with its text; a block, code above all, is never cut."""
    bodies: list[list[_Block]] = []
    size = MOST_WORDS
    for block in below:
        count = _size(block.source)
        if not bodies or (size + count > MOST_WORDS and size > MOST_WORDS // 4):
            bodies.append([])
            size = 0
        bodies[-1].append(block)
        size += count
    return [
        ("\n\n".join(block.source for block in body), "\n".join(block.text for block in body if block.text))
        for body in bodies
    ]


def _words(tokens: Iterable[Token]) -> str:
    """The text of some blocks, one line for each."""
    lines = []
    for token in tokens:
        if token.type == "inline":
            lines.append(_text(token.content))
        elif token.type == "fence":
            code = token.content.strip()
            if token.info.startswith("console") and "</" in code:
                code = _COLOURS.sub("", code)
            lines += [_code_title(token.info), code]
        elif token.type in ("code_block", "rows"):
            lines.append(token.content.strip())
    return "\n".join(line for line in lines if line)


def _text(content: str) -> str:
    """The visible text of a block's Markdown. What is far too long for prose is taken as it is."""
    if len(content) > LONGEST or not _MARKED.search(content):
        return _LINE_END.sub(" ", content).strip()
    if not _MARKED.search(_SIMPLE.sub("", content)):
        return _LINE_END.sub(" ", _SIMPLE.sub(lambda mark: mark[mark.lastindex or 0], content)).strip()
    children: list[Token] = []
    _PARSER.inline.parse(content, _PARSER, {}, children)
    return _joined(children)


def _joined(children: Sequence[Token]) -> str:
    text = ""
    for child in children:
        if child.type in ("text", "text_special", "code_inline", "image"):
            text += child.content
        elif child.type in ("softbreak", "hardbreak"):
            text += " "
    return text.strip()


def _code_title(info: str) -> str:
    """What a reader sees above a block of code: its title, or a file name after the language."""
    words = info.split()[1:]
    if not words:
        return ""
    if named := _CODE_TITLE.search(info):
        return named[1] or named[2] or ""
    return words[0] if "." in words[0] and _CODE_WORD.fullmatch(words[0]) else ""
