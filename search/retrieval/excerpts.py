"""The excerpt of a text that a result shows, with the matching words highlighted."""

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import accumulate, compress, count, islice

from search.text import analysis
from search.text.terms import Marks

LENGTH = 280  # characters
MAX_HIGHLIGHTS = 60  # matches in a text that are considered
MAX_CACHED_WORD = 100  # characters
MAX_CACHED_WORDS = 50_000  # of a language
SEPARATOR = " · "  # between cells, entries and lines of code
_LINE_ENDS = ".:;!?,…–—。：；！？、，"
BEFORE_MATCH = 40  # characters before the first match
Highlight = tuple[int, int, frozenset[str]]  # start, end, and the wanted terms there


class _Words:
    """The words of texts in one language that were read lately, by their terms. They are the same in all queries."""

    def __init__(self, language: str) -> None:
        self._language = language
        self._forget()

    def _forget(self) -> None:
        by_term: defaultdict[str, set[str]] = defaultdict(set)
        self._kept: tuple[set[str], defaultdict[str, set[str]]] = set(), by_term  # replaced as one: threads share them

    def select(self, words: set[str], wanted: Collection[str]) -> set[str]:
        """Those of the words that have a wanted term, and those that are too long to be kept."""
        if len(self._kept[0]) > MAX_CACHED_WORDS:
            self._forget()
        read, by_term = self._kept
        new = words.difference(read)
        long = {word for word in new if len(word) > MAX_CACHED_WORD}
        for word in new - long:
            for term in analysis.terms(word, self._language):
                by_term[term].add(word)
            read.add(word)
        return long.union(*(words.intersection(by_term.get(term, ())) for term in wanted))


@lru_cache(maxsize=64)
def _words_in(language: str) -> _Words:
    return _Words(language)


@lru_cache(maxsize=20_000)
def _stems(word: str, language: str) -> tuple[frozenset[str], tuple[tuple[int, int, str], ...]]:
    """The terms of a word's joined forms, and its parts as start, end and term."""
    _, joined = analysis.split_name(word)
    pieces = [(start, end, analysis.stem(word[start:end].lower(), language)) for start, end in analysis.pieces_of(word)]
    return frozenset(analysis.stem(form, language) for form in joined), tuple(pieces)


class Highlighter:
    """Finds the wanted terms of a query in texts of one language."""

    def __init__(self, marks: Marks, language: str = "en") -> None:
        self.marks = marks
        self.wanted = marks.terms
        self.language = language
        self._known: dict[str, Sequence[Highlight]] = {}  # the matches in each word that has one, from its beginning

    def find(self, flat: str) -> list[Highlight]:
        """The words and code names that match a wanted term. The text must have single blanks only."""
        matches = self._find_all(flat)
        return list(islice(self._drop_lonely(matches) if self.marks.pairs else matches, MAX_HIGHLIGHTS))

    def _drop_lonely(self, matches: Iterable[Highlight]) -> Iterator[Highlight]:
        """The matches without those of a word that has a sense only beside another one, and stands elsewhere."""
        before: Highlight | None = None
        was_given = True
        for match in matches:
            is_pair = before is not None and before[1] + 1 >= match[0] and self._are_pair(before[2], match[2])
            if is_pair and before and not was_given:
                yield before
            before, was_given = match, is_pair or not self.marks.anywhere.isdisjoint(match[2])
            if was_given:
                yield match

    def _are_pair(self, left: frozenset[str], right: frozenset[str]) -> bool:
        return any((first, second) in self.marks.pairs for first in left for second in right)

    def _find_all(self, flat: str) -> Iterator[Highlight]:
        pieces = flat.split(" ")
        for piece in _words_in(self.language).select(set(pieces), self.wanted).difference(self._known):
            self._known[piece] = self._find_in_piece(piece)
        matches = list(map(self._known.get, pieces))
        starts = accumulate(map(len, pieces), initial=0)
        for blanks, at, of_piece in compress(zip(count(), starts, matches, strict=False), matches):
            for start, end, terms in of_piece or ():
                yield at + blanks + start, at + blanks + end, terms

    def _find_in_piece(self, piece: str) -> Sequence[Highlight]:
        words = analysis.TOKEN.finditer(piece)
        return [one for word in words for one in self._find_in_word(word[0][: analysis.MAX_WORD], word.start())]

    def _find_in_word(self, word: str, at: int) -> list[Highlight]:
        """The parts of a word that match, joined where they touch; the whole word where it matches as a code name."""
        names, pieces = _stems(word, self.language)
        if found := self.wanted & names:
            return [(at, at + len(word), found)]
        highlights: list[Highlight] = []
        for start, end, term in pieces:
            if term in self.wanted:
                if highlights and highlights[-1][1] >= at + start:
                    highlights[-1] = (highlights[-1][0], at + end, highlights[-1][2] | {term})
                else:
                    highlights.append((at + start, at + end, frozenset([term])))
        if not highlights and (whole := self.wanted.intersection(analysis.terms(word, self.language))):
            return [(at, at + len(word), whole)]  # written in other characters, such as ｚｅｂｒａ
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
    flat = _join_lines(text)
    highlights = highlighter.find(flat)
    start, end = _choose_window(flat, highlights)
    before, after = "…" if start else "", "…" if end < len(flat) else ""
    marks = [
        (at - start + len(before), to - start + len(before)) for at, to, _ in highlights if start <= at and to <= end
    ]
    return before + flat[start:end] + after, tuple(marks)


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
        last = bisect_right(ends, at + LENGTH - BEFORE_MATCH, number, min(number + MAX_HIGHLIGHTS, len(ends)))
        inside = (last - number) / 100
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
