"""Builds the part of a link that makes a browser scroll to a sentence and highlight it.

A text fragment is `#anchor:~:text=[prefix-,]start[,end]`:

    "It needs a network connection."       :~:text=It%20needs%20a%20network%20connection
    a sentence of more than 150 characters :~:text=its%20first%20words,its%20last%20words
    "It works.", the second on the page    :~:text=Then.-,It%20works

Browsers take the first place where the words stand: whole words, within one
block, without regard to case and accents. A browser that finds no such place, or
does not know text fragments, goes to the anchor.
https://wicg.github.io/scroll-to-text-fragment/
"""

import functools
import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple
from urllib.parse import quote

from docsite.core.unicode.normalization import normalize
from search.hits import Hit
from search.text.markdown.reader import parse

MAX_FRAGMENT = 300  # encoded characters
MAX_WHOLE = 150  # encoded characters; a longer range is named by its first and last words
MIN_DISTINCT_WORDS = 3  # fewer words often stand in a site's navigation too
_PREFIX_WORDS = (2, 4, 7)
_WORD = re.compile(r"[^\s…、。，．！？；：「」『』（）〈〉《》【】・]+")
_PIECE = re.compile(r"[\x00-\x7f]+|[^\x00-\x7f]+")
_EAST_ASIAN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
# Sites may show these with other characters than the source has.
_TYPESET = re.compile(r"['\"‘’‚‛“”„‟`´«»‹›…‐‑‒–—―−]|--|\.\.\.|->|\((?:c|r|tm)\)", re.IGNORECASE)
_PUNCTUATION = ".,;:!?()[]{}*"


class Span(NamedTuple):
    """A range of characters."""

    start: int
    end: int


class Range(NamedTuple):
    """A part of a sentence to name in a fragment: the whole of `first`, or from `first` to `last`."""

    first: Span
    last: Span | None = None


class PageText:
    """The visible text of a page down to the end of a passage, with the search that browsers do in it."""

    def __init__(self, hit: Hit) -> None:
        lines_above = chain([hit.title], *map(visible_lines, hit.above))
        above = "".join(f"{line}\n" for line in lines_above)
        self.start = len(above)  # of the passage
        self.text = above + "\n".join(visible_lines(hit.text))
        self._heading = " ".join(hit.section.split())
        self._folded = _fold(self.text)
        self._folded_line = self._folded.replace("\n", " ")
        self._code_lines = dict(_find_code_lines(hit.body))

    def build_fragment(self, sentence: str) -> str:
        """Build `:~:text=…` for a sentence of the passage. Empty when no fragment leads to it.

        `sentence` must stand in `text` character by character.
        """
        at = self.text.find(sentence, self.start) if sentence else -1
        if at < 0:
            return ""
        stable_runs = _find_stable_runs(sentence, self._code_lines.get(sentence))
        ranges = [found for run in stable_runs for found in _list_ranges(sentence, run)]
        short = ""
        for found in ranges:
            fragment = _format_fragment(sentence, found) if self._is_first(at, found) else ""
            if fragment and (_is_distinct(sentence, found) or _EAST_ASIAN.search(sentence)):
                return fragment
            short = short or fragment
        for found in ranges:
            for prefix in self._list_prefixes(at + found.first.start, may_cross_block=not short):
                if self._is_first(at, found, prefix) and (fragment := _format_fragment(sentence, found, prefix)):
                    return fragment
        return short

    def _is_first(self, at: int, found: Range, prefix: str = "") -> bool:
        """Whether a browser finds these words of the sentence at `at` first here, not further up."""
        begin, end = at + found.first.start, at + found.first.end
        words = self._folded[begin:end]
        if prefix:
            before = _fold(prefix) + " "
            if self._folded_line.find(before + words) != begin - len(before):
                return False
        elif self._folded.find(words) != begin:
            return False
        if found.last is None:
            return True
        last = self._folded[at + found.last.start : at + found.last.end]
        return self._folded.find(last, end) == at + found.last.start

    def _list_prefixes(self, at: int, may_cross_block: bool) -> Iterator[str]:
        """The words before a position, few first: of its block, or of the end of the block above.

        Sites put links and labels between blocks, so words of the block above are a last resort. Words of the
        passage's heading are never used: most sites put a link behind it.
        """
        above, _, line = self.text[:at].rpartition("\n")
        if may_cross_block and not line.strip():
            line = above.rpartition("\n")[2]
            line = "" if line == self._heading else line
        words = line.split()
        for count in _PREFIX_WORDS:
            prefix = " ".join(words[-count:])
            if prefix and (line in self._code_lines or not _TYPESET.search(prefix)):
                yield prefix


def visible_lines(text: str) -> list[str]:
    """The blocks of a visible text, with single spaces, as a browser compares them."""
    return [line for line in (" ".join(line.split()) for line in text.split("\n")) if line]


def _find_stable_runs(sentence: str, wide_gaps: frozenset[int] | None) -> list[list[Span]]:
    """Runs of words that every site shows with the same characters, longest first.

    Sites may typeset quotes, dashes and the like, so a run ends there. Code (`wide_gaps` is not None) is shown as
    written; there a run ends at a gap of more than one space.
    """
    runs: list[list[Span]] = [[]]
    last = 0
    for word in _WORD.finditer(sentence):
        if wide_gaps is None:
            is_break = bool(_TYPESET.search(sentence, last, word.end()))
            is_stable = not _TYPESET.search(word[0])
        else:
            is_break = bool(wide_gaps.intersection(range(last, word.start())))
            is_stable = True
        if is_break:
            runs.append([])
        if is_stable:
            runs[-1].append(Span(*word.span()))
        last = word.end()
    whole = [[Span(*word.span()) for word in _WORD.finditer(sentence)]]
    return sorted(filter(None, runs), key=len, reverse=True) or whole


def _list_ranges(sentence: str, run: list[Span]) -> Iterator[Range]:
    """The ways to name a run, best first: whole, or by its first and last words."""
    whole = _trim(sentence, run[0].start, run[-1].end) if run else Span(0, 0)
    if whole.start == whole.end:
        return
    if len(_encode(sentence[whole.start : whole.end])) <= MAX_WHOLE:
        yield Range(whole)
        return
    for first_words in (3, 5, 8, 1):
        last_words = min(3, first_words)
        if len(run) >= first_words + last_words:
            first = _trim(sentence, run[0].start, run[first_words - 1].end)
            last = _trim(sentence, run[-last_words].start, run[-1].end)
            if first.start < first.end and last.start < last.end:
                yield Range(first, last)
    yield Range(whole)


def _trim(text: str, start: int, end: int) -> Span:
    """Leave out punctuation at both ends."""
    while start < end and text[start] in _PUNCTUATION:
        start += 1
    while start < end and text[end - 1] in _PUNCTUATION:
        end -= 1
    return Span(start, end)


def _is_distinct(sentence: str, found: Range) -> bool:
    """Whether a range has enough words to stand only once on a site's page, navigation included."""
    return found.last is not None or len(sentence[found.first.start : found.first.end].split()) >= MIN_DISTINCT_WORDS


def _format_fragment(sentence: str, found: Range, prefix: str = "") -> str:
    """Write the fragment; empty when it is too long."""
    before = f"{_encode(prefix)}-," if prefix else ""
    first = _encode(sentence[found.first.start : found.first.end])
    last = f",{_encode(sentence[found.last.start : found.last.end])}" if found.last else ""
    fragment = f":~:text={before}{first}{last}"
    return fragment if len(fragment) <= MAX_FRAGMENT else ""


def _encode(text: str) -> str:
    """Percent-encode a text, with the signs that fragments and Markdown links use."""
    return quote(text, safe="").replace("-", "%2D").replace("~", "%7E").replace("_", "%5F")


def _fold(text: str) -> str:
    """A text without case and accents, as browsers compare it, of the same length."""
    pieces = _PIECE.findall(text)
    return "".join(piece.lower() if piece.isascii() else "".join(map(_fold_character, piece)) for piece in pieces)


@functools.lru_cache(maxsize=10_000)
def _fold_character(character: str) -> str:
    """A character without case and accents, as browsers compare it. Always one, so that positions stay the same."""
    lower = character.lower()
    if len(lower) > 1 or _EAST_ASIAN.match(character):
        return character[0]
    return normalize("NFD", lower)[0]


def _find_code_lines(body: str) -> Iterator[tuple[str, frozenset[int]]]:
    """The lines of fenced code in a Markdown text, with single spaces, each with the positions of wider gaps."""
    for token in parse(body):
        for line in token.content.split("\n") if token.type == "fence" else ():
            yield " ".join(line.split()), frozenset(_find_wide_gaps(line.strip()))


def _find_wide_gaps(line: str) -> Iterator[int]:
    at = 0
    for piece in re.findall(r"\s+|\S+", line):
        if piece.isspace():
            if piece != " ":
                yield at
            at += 1
        else:
            at += len(piece)
