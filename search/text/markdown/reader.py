"""The blocks of Markdown: markdown-it's tokens, with the lines that they stand on."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from markdown_it import MarkdownIt
from markdown_it.parser_block import RuleFuncBlockType
from markdown_it.rules_block import StateBlock, table
from markdown_it.token import Token

from search.text.markdown.block_parser import BlockParser, bare_paragraph, paragraph, parse_blocks
from search.text.markdown.dialects import add_dialects

MAX_CELLS = 20_000  # of a table; the cells of a larger one are not parsed
MAX_COLUMNS = 200
MAX_PARAGRAPH = 20_000  # characters; a longer paragraph is data, and its inline markup is not parsed
MAX_HEADING = 1000  # characters; a longer line could take long to parse
_HEADING = re.compile(r"(?m)^[^\S\n]*(?:#{1,6}[^\S\n]|(?:=+|-+)[^\S\n]*$)")  # matches any line that may be one
_TITLE = re.compile(r"(?m)^ {0,3}(?:#[ \t]+\S.*|=+[ \t]*)$")
_LINE_END = re.compile(r"\r\n?|\n")
_CODE_STARTS = frozenset("`~ \t\r")  # a block that begins with any other character is no code


class Heading(NamedTuple):
    """A heading: the number of the line that ends its text, its level, and its text as Markdown."""

    line: int
    level: int
    source: str


def new_parser() -> MarkdownIt:
    """A parser for CommonMark with tables and strikethrough, to which a caller may add its own rules."""
    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def _block_parser(
    table_rule: RuleFuncBlockType, paragraph_rule: RuleFuncBlockType, add_rules: Callable[[MarkdownIt], object]
) -> MarkdownIt:
    """A parser for blocks only, because most text has no inline markup. It reads HTML and definitions as text."""
    parser = new_parser().disable(["reference", "html_block", "lheading"])  # `paragraph` reads underlined headings
    parser.block.ruler.at("table", table_rule, {"alt": ["paragraph", "reference"]})
    parser.block.ruler.at("paragraph", paragraph_rule)
    add_rules(parser)
    parser.block = BlockParser(parser.block.ruler)
    return parser


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A table. If it is so large that a token for each cell would cost too much, it is one `rows` token."""
    if silent or not table(state, start, end, True):
        return silent and table(state, start, end, True)
    columns = columns_of(state.getLines(start, start + 1, 0, False))
    last = _end_of_rows(state, start, end)
    if columns <= MAX_COLUMNS and columns * (last - start) <= MAX_CELLS:
        return table(state, start, end, False)
    return _push_rows(state, start, last)


def _rows(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A table as one `rows` token, for callers that do not need its cells."""
    found = table(state, start, end, True)
    return found and (silent or _push_rows(state, start, _end_of_rows(state, start, end)))


def _end_of_rows(state: StateBlock, start: int, end: int) -> int:
    stops = state.md.block.ruler.getRules("blockquote")
    last = start + 2
    while last < end and state.sCount[last] >= state.blkIndent and not state.isEmpty(last):
        if state.is_code_block(last) or any(stop(state, last, end, True) for stop in stops):
            break
        last += 1
    return last


def _push_rows(state: StateBlock, start: int, end: int) -> bool:
    rows = state.push("rows", "", 0)
    rows.map = [start, end]
    rows.content = state.getLines(start, end, state.blkIndent, False)
    state.line = end
    return True


def _deep_paragraph(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A paragraph that a fence may interrupt at any indentation. In CommonMark an indented fence continues it."""
    stops = state.md.block.ruler.getRules("paragraph")
    before, state.parentType = state.parentType, "paragraph"
    last = start + 1
    while last < state.lineMax and not state.isEmpty(last):
        if state.sCount[last] >= 0 and any(stop(state, last, state.lineMax, True) for stop in stops):
            break
        last += 1
    state.push("paragraph", "p", 0).map = [start, last]
    state.parentType, state.line = before, last
    return True


def columns_of(row: str) -> int:
    """How many columns a row of a table has."""
    return row.strip().strip("|").count("|") + 1


_PLAIN = _block_parser(_table, paragraph, lambda parser: None)
_DIALECTS = _block_parser(_rows, bare_paragraph, add_dialects)
_MDX = _block_parser(_rows, _deep_paragraph, lambda parser: parser.disable("code"))


def parse(source: str) -> list[Token]:
    """The block tokens of plain Markdown, such as `clean` gives. A huge table is one `rows` token."""
    return parse_blocks(_PLAIN, source)


def parse_site(source: str) -> list[Token]:
    """The block tokens of a page as its site has it, with those of `dialects`.

    A paragraph is one token without its text, and a table one `rows` token.
    """
    return _parse_lines(_DIALECTS, source)


def _parse_lines(parser: MarkdownIt, source: str) -> list[Token]:
    """Parse a text in which only a line feed ends a line, so that line numbers fit `split("\\n")`."""
    return parse_blocks(parser, source.replace("\r", " "))


def top_level(tokens: Sequence[Token]) -> Iterator[tuple[int, int]]:
    """Where each top-level block begins and ends among the tokens."""
    start = 0
    for index, token in enumerate(tokens):
        if token.level == 0 and token.nesting <= 0:
            yield start, index + 1
            start = index + 1


def blocks(lines: list[str]) -> list[str]:
    """The top-level blocks of some lines, as they are written."""
    tokens = parse("\n".join(lines))
    found = [source_of(tokens[start], lines) for start, _ in top_level(tokens)]
    return [block for block in found if block]


def is_code(block: str) -> bool:
    """Whether a block is fenced or indented code."""
    if block.lstrip("\n")[:1] not in _CODE_STARTS:
        return False
    return next((token.type in ("fence", "code_block") for token in parse(block)), False)


def source_of(token: Token, lines: list[str]) -> str:
    """The lines of a block as they are written; empty for a rule between blocks."""
    if token.type == "hr" or not token.map:
        return ""
    block = "\n".join(lines[token.map[0] : token.map[1]]).strip("\n")
    return block if block.strip() else ""


def headings(source: str) -> Iterator[Heading]:
    """The headings of a page as its site has it, except those in lists and quotes."""
    tokens = parse_site(source) if _HEADING.search(source) else []
    around = 0  # admonitions and tabs, whose headings count
    for index, token in enumerate(tokens):
        if token.type.startswith("indented_"):
            around += token.nesting
        elif token.type == "heading_open" and token.level == around and token.map:
            text = tokens[index + 1].content
            if len(text) <= MAX_HEADING:
                last = token.map[1] - (2 if token.markup in ("=", "-") else 1)
                yield Heading(last, int(token.tag[1]), text)


def title_of(source: str) -> str:
    """The first heading of the first level, as Markdown; empty without one. Most pages begin with it."""
    candidate = _TITLE.search(source)
    for piece in (source[: candidate.end()], source) if candidate else ():
        if title := next((heading.source for heading in headings(piece) if heading.level == 1), ""):
            return title
    return ""


def fences(source: str, is_mdx: bool = False) -> Iterator[tuple[int, int]]:
    """The fenced code of a page: the number of the first line of each, and of the line behind its last one.

    MDX has no indented code, so a fence may stand as far to the right as its component does.
    """
    has_marks = "```" in source or "~~~" in source
    for token in _parse_lines(_MDX if is_mdx else _DIALECTS, source) if has_marks else ():
        if token.type == "fence" and token.map:
            yield token.map[0], token.map[1]


def fenced_lines(source: str, is_mdx: bool = False) -> set[int]:
    """The numbers of the lines that are fenced code, with those of the fences themselves."""
    return {line for first, last in fences(source, is_mdx) for line in range(first, last)}


def prose(source: str) -> Iterator[tuple[int, int]]:
    """The spans of paragraphs, headings and table rows in plain Markdown. No link crosses their borders."""
    starts = [0, *(end.end() for end in _LINE_END.finditer(source)), len(source)]
    for token in parse(source):
        if not token.map:
            continue
        first, last = token.map
        if token.type in ("paragraph_open", "heading_open"):
            yield starts[first], starts[last]
        elif token.type in ("tr_open", "rows"):
            yield from zip(starts[first:last], starts[first + 1 :], strict=False)


def fence(code: str, info: str = "") -> str:
    """Code in a fence that is longer than those within it."""
    ticks = max((len(run) for run in re.findall("`{3,}", code)), default=2) + 1
    return f"{'`' * ticks}{info}\n{code}\n{'`' * ticks}"
