"""The quicker block parser gives the tokens of markdown-it, whatever stands on the lines."""

import random

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from docsite.site.navigation import CONTENT
from search.text.markdown import reader
from search.text.markdown.block_parser import parse_blocks
from search.text.markdown.dialects import add_dialects

BEGINNINGS = [
    *("", "   ", "\t", "> ", ">", ">\t", "- ", "-\t", "-", "- - ", "+ ", "* ", "*", "1. ", "2) ", "1234567890. "),
    *("    ", "===", "---", "=", "***", "_ _ _", "```", "~~~", "`` `", "# ", "#", "####### ", "| a |", "|---|"),
    *("a | b", "<!-- ", "-->", "x <!-- y", "!!! note", "???", '=== "T"', ":::tip", "::: a.b", "[x]: /y", "[^1]: z"),
    *(": m", "/// tip | T", "<script>", "</script>", "{.c}", "\\", "\u00a0", "\u2028", "\x0b", "٣. ", "a\rb", "\0"),
]  # fmt: skip


@pytest.fixture(scope="module")
def sources() -> list[str]:
    """Pieces of pages with changes, and lines of nothing but marks."""
    choice = random.Random(27)
    pages = [page.read_text().split("\n") for page in sorted(CONTENT.glob("*.md"))[:12]]
    found = []
    for number in range(600):
        page = choice.choice(pages)
        at = choice.randrange(len(page))
        lines = page[at : at + choice.randrange(20)] if number % 3 else []
        for _ in range(choice.randrange(1, 12)):
            at = choice.randrange(len(lines) + 1)
            text = choice.choice(["", "a", lines[at] if at < len(lines) else "b"])
            lines[at : at + choice.randrange(2)] = [choice.choice(BEGINNINGS) + choice.choice(BEGINNINGS) + text]
        found.append("\n".join(lines))
    return found


def make_markdown_it(table) -> MarkdownIt:
    """A parser with the same rules, each tried on every line."""
    parser = reader.new_parser().disable(["inline", "text_join", "reference", "html_block"])
    parser.block.ruler.at("table", table, {"alt": ["paragraph", "reference"]})
    return parser


def test_plain_markdown_has_the_same_tokens(sources):
    slow = make_markdown_it(reader._table)
    assert [reader.parse(source) for source in sources] == [slow.parse(source) for source in sources]


@pytest.mark.matrix
def test_a_page_of_a_site_has_the_same_tokens_without_the_texts_of_paragraphs(sources):
    slow = make_markdown_it(reader._rows)
    add_dialects(slow)
    for source in (source.replace("\r", " ") for source in sources):
        assert without_paragraphs(reader.parse_site(source)) == without_paragraphs(slow.parse(source)), source


@pytest.mark.matrix
def test_mdx_has_the_same_tokens(sources):
    slow = make_markdown_it(reader._rows).disable(["code", "lheading"])
    slow.block.ruler.at("paragraph", reader._deep_paragraph)
    assert [parse_blocks(reader._MDX, source) for source in sources] == [slow.parse(source) for source in sources]


def without_paragraphs(tokens: list[Token]) -> list[tuple[object, ...]]:
    """What the tokens say, where paragraphs have no text."""
    return [
        (token.type.removesuffix("_open"), token.map, token.level, token.content, token.info, token.meta)
        for before, token in zip([None, *tokens], tokens, strict=False)
        if token.type != "paragraph_close" and (before is None or before.type != "paragraph_open")
    ]
