"""Find the positions of links and code spans in some Markdown."""

import re
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from markdown_it.common.utils import unescapeAll

from search.text.markdown.reader import prose

_TICKS = re.compile("`+")
_AT = re.compile(r"[^\s@]+@[^\s@]+")
_MAIL = re.compile(r"[a-z0-9][\w.+-]*@(?:[\w-]+\.)+[a-z]{2,}", re.IGNORECASE)
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


class CodeSpans:
    """The runs of backticks in a part of a text, by their lengths: one of the same length ends a span."""

    def __init__(self, source: str, start: int = 0, end: int | None = None) -> None:
        self._source = source
        self._runs: defaultdict[int, list[int]] = defaultdict(list)
        for run in _TICKS.finditer(source, start, len(source) if end is None else end):
            self._runs[len(run[0])].append(run.start())

    def end(self, at: int, limit: int | None = None) -> int:
        """Where the span ends that begins with the backticks at `at`; just behind these when nothing ends it before
        `limit`.
        """
        opening = _TICKS.match(self._source, at)
        if not opening:
            return at
        alike = self._runs[len(opening[0])]
        closing = bisect_left(alike, opening.end())
        if closing < len(alike) and (limit is None or alike[closing] < limit):
            return alike[closing] + len(opening[0])
        return opening.end()


def links(source: str) -> Iterator[Link]:
    """The links, images and addresses in some Markdown outside code."""
    if _LINKED.search(source):
        for start, end in prose(source):
            yield from _links_within(source, start, end)


def _links_within(source: str, start: int, end: int) -> Iterator[Link]:
    """The links of one piece, in one pass, with a stack of open brackets. Code spans are skipped."""
    spans: CodeSpans | None = None
    opened: list[re.Match[str]] = []
    around = 0  # how many open brackets enclose a link already, so that they open no other
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
                at = mark.start() + 1  # the parentheses hold text
            around = min(around, len(opened))


def is_pseudo_address(text: str) -> bool:
    """Whether a text has the form of a mail address but is none: docutils links `--from=a@b`."""
    return bool(_AT.fullmatch(text)) and not _MAIL.fullmatch(text)
