"""The excerpt of a text that a result shows, with the matching words highlighted."""

import sys
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, chain, islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from docsite.core.sized_cache import SizedCache
from search.hits import Hit
from search.text import analysis
from search.text.terms import Marks

LENGTH = 280  # characters
MAX_HIGHLIGHTS = 60  # matches in a text that are considered
MAX_KEPT_WORD = 100  # characters
MAX_KEPT_TEXT = 50_000  # characters
MAX_LINE_BYTES = 16 * 1024 * 1024  # of the texts of all projects that were read lately, about 4,000 sections
_LINE_BYTES = 400  # of one, without what it holds
SEPARATOR = " · "  # between cells, entries and lines of code
_LINE_ENDS = ".:;!?,…–—。：；！？、，"
BEFORE_MATCH = 40  # characters before the first match
Highlight = tuple[int, int, frozenset[str]]  # start, end, and the wanted terms there


@dataclass(frozen=True, slots=True, eq=False)
class _Line:
    """A text as one line, and which index terms its pieces have. Pieces have one blank between them.

    Terms are known by their hashes. Two with the same hash do no harm: then a piece is read in vain.
    """

    flat: str
    starts: Sequence[int]  # where each piece begins, and where the next one after the last would
    terms: NDArray[np.int64]  # ascend
    pieces: NDArray[np.uint32]  # for each term the number of a piece with it

    @classmethod
    def read(cls, text: str, language: str) -> "_Line":
        """Read a text. Queries are often about the same texts, so the last ones are kept."""
        line = _lines.get((language, text))
        if line is None:
            line = cls.build(_join_lines(text), language)
            if len(text) <= MAX_KEPT_TEXT:
                nbytes = sys.getsizeof(text) + sys.getsizeof(line.flat) + 4 * len(line.starts) + 12 * len(line.terms)
                _lines.put((language, text), line, nbytes + _LINE_BYTES, MAX_LINE_BYTES)
        return line

    @classmethod
    def build(cls, flat: str, language: str) -> "_Line":
        """Read a text that has single blanks only."""
        pieces = flat.split(" ")
        terms = [_terms(piece, language) if len(piece) <= MAX_KEPT_WORD else _UNKNOWN for piece in pieces]
        hashes = np.array([hash(term) for of_piece in terms for term in of_piece], np.int64)
        numbers = np.repeat(np.arange(len(pieces), dtype=np.uint32), [len(of_piece) for of_piece in terms])
        order = hashes.argsort(kind="stable")
        starts = array("I", accumulate((len(piece) + 1 for piece in pieces), initial=0))
        return cls(flat, starts, hashes[order], numbers[order])

    def select(self, wanted: NDArray[np.int64]) -> Iterator[tuple[int, str]]:
        """The pieces that may have a wanted term, in their order: where they begin, and what they are."""
        begins, ends = self.terms.searchsorted(wanted).tolist(), self.terms.searchsorted(wanted, "right").tolist()
        spans = (self.pieces[begin:end].tolist() for begin, end in zip(begins, ends, strict=True) if begin < end)
        for number in sorted(set(chain.from_iterable(spans))):
            start = self.starts[number]
            yield start, self.flat[start : self.starts[number + 1] - 1]


_lines: SizedCache[tuple[str, str], _Line] = SizedCache()  # by language and text
_UNKNOWN = ("",)  # the terms of a piece that is too long to be kept


@lru_cache(maxsize=20_000)
def _terms(piece: str, language: str) -> Sequence[str]:
    return tuple(analysis.terms(piece, language))


class _Word(NamedTuple):
    """A word or code name in a piece of a line."""

    start: int
    end: int
    names: frozenset[str]  # the terms of its joined forms
    parts: Sequence[tuple[int, int, str]]  # start, end and term of each
    terms: frozenset[str]  # as the index has them


def _read_words(piece: str, language: str) -> Sequence[_Word]:
    found = analysis.TOKEN.finditer(piece)
    return tuple(_read_word(token[0][: analysis.MAX_WORD], token.start(), language) for token in found)


_read_words_once = lru_cache(maxsize=20_000)(_read_words)


def _read_word(word: str, at: int, language: str) -> _Word:
    _, joined = analysis.split_name(word)
    names = frozenset(analysis.stem(form, language) for form in joined)
    parts = [
        (at + start, at + end, analysis.stem(word[start:end].lower(), language))
        for start, end in analysis.pieces_of(word)
    ]
    return _Word(at, at + len(word), names, tuple(parts), frozenset(analysis.terms(word, language)))


class Highlighter:
    """Finds the wanted terms of a query in texts of one language."""

    def __init__(self, marks: Marks, language: str = "en") -> None:
        self.marks = marks
        self.wanted = marks.terms
        self._wanted_hashes = np.array(sorted(map(hash, self.wanted.union(_UNKNOWN))), np.int64)
        self.language = language
        self._known: dict[str, Sequence[Highlight]] = {}  # the matches in each word that has one, from its beginning

    def find(self, text: str) -> tuple[str, list[Highlight]]:
        """A text as one line, and the words and code names in it that match a wanted term."""
        if not self.wanted:
            return _join_lines(text), []
        line = _Line.read(text, self.language)
        matches = self._find_all(line)
        return line.flat, list(islice(self._drop_lonely(matches) if self.marks.pairs else matches, MAX_HIGHLIGHTS))

    def _drop_lonely(self, matches: Iterable[Highlight]) -> Iterator[Highlight]:
        """The matches without those of a word that has a sense only beside another one, and stands elsewhere."""
        before: Highlight | None = None
        was_given = True
        for match in matches:
            is_pair = (
                before is not None
                and before[1] + 1 >= match[0]
                and any((first, second) in self.marks.pairs for first in before[2] for second in match[2])
            )
            if is_pair and before and not was_given:
                yield before
            before, was_given = match, is_pair or not self.marks.anywhere.isdisjoint(match[2])
            if was_given:
                yield match

    def _find_all(self, line: _Line) -> Iterator[Highlight]:
        for at, piece in line.select(self._wanted_hashes):
            if piece not in self._known:
                words = (_read_words_once if len(piece) <= MAX_KEPT_WORD else _read_words)(piece, self.language)
                self._known[piece] = [highlight for word in words for highlight in self._find_in_word(word)]
            for start, end, terms in self._known[piece]:
                yield at + start, at + end, terms

    def _find_in_word(self, word: _Word) -> list[Highlight]:
        """The parts of a word that match, joined where they touch; the whole word where it matches as a code name."""
        if word.names and self.wanted & word.names:
            return [(word.start, word.end, self.wanted & word.terms)]
        highlights: list[Highlight] = []
        for start, end, term in word.parts:
            if term in self.wanted:
                if highlights and highlights[-1][1] >= start:
                    highlights[-1] = (highlights[-1][0], end, highlights[-1][2] | {term})
                else:
                    highlights.append((start, end, frozenset([term])))
        if not highlights and (found := self.wanted & word.terms):
            return [(word.start, word.end, found)]  # written in other characters, such as ｚｅｂｒａ
        return highlights


class Highlighters(dict[str, Highlighter]):
    """The highlighters of one query by language. Each knows the words of the texts that it has read."""

    def __init__(self, marks: Marks) -> None:
        super().__init__()
        self._marks = marks

    def __missing__(self, language: str) -> Highlighter:
        self[language] = Highlighter(self._marks, language)
        return self[language]


def build_excerpt(text: str, highlighter: Highlighter) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The part of a text with the most different wanted terms, cut at words, and its matches as [start, end).

    Offsets count Unicode code points.
    """
    flat, highlights = highlighter.find(text)
    start, end = _choose_window(flat, highlights)
    before, after = "…" if start else "", "…" if end < len(flat) else ""
    marks = [
        (at - start + len(before), to - start + len(before)) for at, to, _ in highlights if start <= at and to <= end
    ]
    return before + flat[start:end] + after, tuple(marks)


def build_beginning(text: str) -> str:
    """The beginning of a text as an excerpt, where no word is looked for."""
    flat = _join_lines(text)
    _, end = _choose_window(flat, [])
    return flat[:end] + ("…" if end < len(flat) else "")


def excerpt_of(passage: Hit) -> str:
    """The excerpt of a passage; if it has none, the beginning of its text, and without a text its heading."""
    return passage.excerpt or build_beginning(passage.text) or passage.section


def _join_lines(text: str) -> str:
    """The lines of a text as one. After a line without a full stop, such as a cell or code, there is a separator."""
    pieces: list[str] = []
    for line in text.splitlines():
        if words := " ".join(line.split()):
            if pieces:
                pieces.append(" " if pieces[-1][-1] in _LINE_ENDS else SEPARATOR)
            pieces.append(words)
    return "".join(pieces)


def _choose_window(flat: str, highlights: list[Highlight]) -> tuple[int, int]:
    if len(flat) <= LENGTH:
        return 0, len(flat)
    best, start = -1.0, 0
    ends = [end for _, end, _ in highlights]  # ascending
    terms = [found for _, _, found in highlights]
    all_terms = len(frozenset().union(*terms))
    for number, (at, _, _) in enumerate(highlights):
        if best >= all_terms + 0.5 + (len(ends) - number) / 100:
            break  # no later one can be better
        last = bisect_right(ends, at + LENGTH - BEFORE_MATCH, number, min(number + MAX_HIGHLIGHTS, len(ends)))
        # A code name that is wanted as a whole has several terms. Its own line begins with it.
        inside = (last - number) / 100 + (0.5 if len(terms[number]) > 1 and len(terms[number]) == all_terms else 0)
        if all_terms + inside > best and (value := len(frozenset().union(*terms[number:last])) + inside) > best:
            best, start = value, at
    start = max(0, min(start - BEFORE_MATCH, len(flat) - LENGTH))
    if start:
        blank = flat.find(" ", start, start + BEFORE_MATCH)
        start = blank + 1 if blank >= 0 else start
    end = min(len(flat), start + LENGTH)
    if end < len(flat):
        blank = flat.rfind(" ", start + LENGTH // 2, end)
        end = blank if blank >= 0 else end
    return start, end
