"""The part of a link that makes a browser scroll to a sentence and mark it.

A text fragment is `#anchor:~:text=[prefix-,]start[,end]`. Browsers look for the
first place where the words stand: whole words, within one block, in any case and
with any accents. A browser that does not know or find it goes to the anchor.
https://wicg.github.io/scroll-to-text-fragment/
"""

import functools
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import quote

from search.hits import Hit
from search.text.markdown.reader import parse

MOST = 300  # encoded characters of a fragment
WHOLE = 150  # a stretch up to this many is named whole, a longer one by its first and last words
TELLING = 3  # fewer words than this often stand in a site's navigation too
_WORD = re.compile(r"[^\s…、。，．！？；：「」『』（）〈〉《》【】・]+")
_EAST_ASIAN = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_TYPESET = re.compile(r"['\"‘’‚‛“”„‟`´«»‹›…‐‑‒–—―−]|--|\.\.\.|->|\((?:c|r|tm)\)", re.IGNORECASE)
_EDGES = ".,;:!?()[]{}*"

Span = tuple[int, int]


class Page:
    """What a reader sees of a page down to the end of a passage, searched as a browser does it."""

    def __init__(self, hit: Hit) -> None:
        above = "".join(f"{line}\n" for line in [hit.title, *lines(hit.above)])
        self.start = len(above)
        self.heading = " ".join(hit.section.split())
        self.text = above + "\n".join(lines(hit.text))
        self.folded = "".join(map(_fold, self.text))
        self.joined = self.folded.replace("\n", " ")
        self.code = dict(_code(hit.body))

    def fragment(self, sentence: str) -> str:
        """`:~:text=…` for a sentence of the passage, as it stands in its text; empty when nothing leads there."""
        at = self.text.find(sentence, self.start) if sentence else -1
        if at < 0:
            return ""
        short = ""
        found = [
            (start, end) for run in _runs(sentence, self.code.get(sentence)) for start, end in _named(sentence, run)
        ]
        for start, end in found:
            if self._is_first(sentence, at, start, end):
                fragment = _write("", sentence[slice(*start)], sentence[slice(*end)] if end else "")
                if len(fragment) <= MOST:
                    if len(sentence[slice(*start)].split()) >= TELLING or end or _EAST_ASIAN.search(sentence):
                        return fragment
                    short = short or fragment
        for start, end in found:
            for prefix in self._before(at + start[0], beyond=not short):
                if self._is_first(sentence, at, start, end, prefix):
                    fragment = _write(prefix, sentence[slice(*start)], sentence[slice(*end)] if end else "")
                    if len(fragment) <= MOST:
                        return fragment
        return short

    def _is_first(self, sentence: str, at: int, start: Span, end: Span | None, prefix: str = "") -> bool:
        """Whether these words lead to this place and to none above it."""
        begin, stop = at + start[0], at + start[1]
        words = self.folded[begin:stop]
        if prefix:
            lead = "".join(map(_fold, prefix)) + " "
            if self.joined.find(lead + words) != begin - len(lead):
                return False
        elif self.folded.find(words) != begin:
            return False
        return end is None or self.folded.find(self.folded[at + end[0] : at + end[1]], stop) == at + end[0]

    def _before(self, at: int, beyond: bool) -> Iterator[str]:
        """Words that stand before a place, in its block, or `beyond` it at the end of the one above; few first.

        Sites put links and labels between blocks, so words from beyond are a last resort,
        and those of the passage's heading none: most sites put a link of its own behind it.
        """
        above, _, line = self.text[:at].rpartition("\n")
        if beyond and not line.strip():
            line = above.rpartition("\n")[2]
            line = "" if line == self.heading else line
        words = line.split()
        for count in (2, 4, 7):
            prefix = " ".join(words[-count:])
            if prefix and (line in self.code or not _TYPESET.search(prefix)):
                yield prefix


def lines(text: str) -> list[str]:
    """The blocks of a visible text, blanks made single, as a browser compares them."""
    return [line for line in (" ".join(line.split()) for line in text.split("\n")) if line]


def _runs(sentence: str, gaps: frozenset[int] | None) -> list[list[Span]]:
    """Stretches of words that every site shows with the same characters, the longest first.

    Quotes, dashes and the like are often typeset: only code is shown as it is written, its wide `gaps` included.
    """
    runs: list[list[Span]] = [[]]
    last = 0
    for word in _WORD.finditer(sentence):
        between = range(last, word.start())
        if gaps.intersection(between) if gaps is not None else _TYPESET.search(sentence, last, word.end()):
            runs.append([])
        if gaps is not None or not _TYPESET.search(word[0]):
            runs[-1].append(word.span())
        last = word.end()
    return sorted(filter(None, runs), key=len, reverse=True) or [[word.span() for word in _WORD.finditer(sentence)]]


def _named(sentence: str, run: list[Span]) -> Iterator[tuple[Span, Span | None]]:
    """Ways to name a stretch: whole, or by its first and last words."""
    whole = _trimmed(sentence, (run[0][0], run[-1][1])) if run else (0, 0)
    if whole[0] == whole[1]:
        return
    if len(_encoded(sentence[slice(*whole)])) <= WHOLE:
        yield whole, None
        return
    for first in (3, 5, 8, 1):
        last = min(3, first)
        if len(run) >= first + last:
            start = _trimmed(sentence, (run[0][0], run[first - 1][1]))
            end = _trimmed(sentence, (run[-last][0], run[-1][1]))
            if start[0] < start[1] and end[0] < end[1]:
                yield start, end
    yield whole, None


def _trimmed(text: str, span: Span) -> Span:
    start, end = span
    while start < end and text[start] in _EDGES:
        start += 1
    while start < end and text[end - 1] in _EDGES:
        end -= 1
    return start, end


def _write(prefix: str, start: str, end: str) -> str:
    lead = f"{_encoded(prefix)}-," if prefix else ""
    return f":~:text={lead}{_encoded(start)}" + (f",{_encoded(end)}" if end else "")


def _encoded(text: str) -> str:
    """Percent-encoded, so that neither the syntax of fragments nor that of Markdown links sees anything in it."""
    return quote(text, safe="").replace("-", "%2D").replace("~", "%7E").replace("_", "%5F")


@functools.lru_cache(maxsize=10_000)
def _fold(letter: str) -> str:
    """One character as browsers compare it: without case and accents. Always one, so that places stay the same."""
    if letter.isascii():
        return letter.lower()
    lower = letter.lower()
    return (unicodedata.normalize("NFD", lower) if len(lower) == 1 and not _EAST_ASIAN.match(letter) else letter)[0]


def _code(body: str) -> Iterator[tuple[str, frozenset[int]]]:
    """The lines of the fenced code in some Markdown, blanks made single, and where they were not."""
    for token in parse(body):
        for line in token.content.split("\n") if token.type == "fence" else ():
            yield " ".join(line.split()), frozenset(_gaps(line.strip()))


def _gaps(line: str) -> Iterator[int]:
    at = 0
    for piece in re.findall(r"\s+|\S+", line):
        if piece.isspace():
            if piece != " ":
                yield at
            at += 1
        else:
            at += len(piece)
