"""The one reader of Markdown: blocks, quotable text, visible words, links and anchors, all on markdown-it's tokens.

`dialects` has the rules for what the generators of sites add. Only the rewriter of streamed answers
(`assistant.citations`) reads Markdown by itself, because it gets halves of lines.
"""

from search.text.markdown.anchors import anchor_and_heading, slug
from search.text.markdown.links import Link, links
from search.text.markdown.quotable import APART, ELEMENTS, clean, cut, width
from search.text.markdown.reader import (
    blocks,
    fence,
    fenced_lines,
    fences,
    headings,
    is_code,
    new_parser,
    parse,
    title_of,
)
from search.text.markdown.spans import CodeSpans
from search.text.markdown.visible import inline_text, plain

__all__ = [
    "APART",
    "ELEMENTS",
    "CodeSpans",
    "Link",
    "anchor_and_heading",
    "blocks",
    "clean",
    "cut",
    "fence",
    "fenced_lines",
    "fences",
    "headings",
    "inline_text",
    "is_code",
    "links",
    "new_parser",
    "parse",
    "plain",
    "slug",
    "title_of",
    "width",
]
