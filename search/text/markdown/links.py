"""Where the links of some Markdown stand."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from markdown_it.common.utils import unescapeAll

from search.text.markdown.reader import prose
from search.text.markdown.spans import CodeSpans

_LINKED = re.compile(r"\]\(|<[a-zA-Z]")
_MARK = re.compile(
    r"\\[!-/:-@\[-`{-~]"  # an escaped character
    r"|(?P<ticks>`+)"
    r"|<(?P<address>[a-zA-Z][a-zA-Z0-9+.-]{1,31}:[^\s<>]*)>"
    r"|(?P<opens>!?\[)"
    r"|\](?P<target>\(\s*+(?:<(?P<angled>[^<>\n]*)>|(?P<plain>(?:\\.|[^\\()\s<>]|\((?:\\.|[^\\()\s<>])*+\))*+))"
    r"(?:\s++(?:\"[^\"]*\"|'[^']*'|\([^()]*\)))?\s*+\))?"
)


class Link(NamedTuple):
    """A link or an image at `source[start:end]`, whose label is at `source[label_start:label_end]`."""

    start: int
    label_start: int
    label_end: int
    end: int
    target: str
    is_image: bool = False


def links(source: str) -> Iterator[Link]:
    """The links, images and addresses in some Markdown outside code."""
    if _LINKED.search(source):
        for start, end in prose(source):
            yield from _links_within(source, start, end)


def _links_within(source: str, start: int, end: int) -> Iterator[Link]:
    """The links of one piece, in one pass: brackets are put on a stack, code spans are passed over."""
    spans: CodeSpans | None = None
    opened: list[re.Match[str]] = []
    around = 0  # how many of these stand around a link already, so that they open no other
    at = start
    while mark := _MARK.search(source, at, end):
        at = mark.end()
        if mark["ticks"]:
            spans = spans or CodeSpans(source, mark.start(), end)
            at = spans.end(mark.start())
        elif mark["address"]:
            yield Link(mark.start(), mark.start() + 1, at - 1, at, mark["address"])
        elif mark["opens"]:
            opened.append(mark)
        elif mark[0][0] == "]":
            first = opened.pop() if opened else None
            is_image = first is not None and first[0] == "!["
            if first and mark["target"] and (is_image or len(opened) >= around):
                target = unescapeAll(mark["angled"] or mark["plain"] or "")
                yield Link(first.start(), first.end(), mark.start(), at, target, is_image)
                around = around if is_image else len(opened)
            else:
                at = mark.start() + 1  # what stands in the parentheses is text
            around = min(around, len(opened))
