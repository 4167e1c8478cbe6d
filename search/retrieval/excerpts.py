"""The excerpt of a text that a result shows, with the matching words highlighted."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice

from search.hits import Hit
from search.text import analysis
from search.text.scanning import Scanner
from search.text.terms import Marks

LENGTH = 280  # characters
MAX_HIGHLIGHTS = 60  # matches in a text that are considered
SEPARATOR = " · "  # between cells, entries and lines of code
_LINE_ENDS = ".:;!?,…–—。：；！？、，"
BEFORE_MATCH = 40  # characters before the first match
Highlight = tuple[int, int, frozenset[str]]  # start, end, and the wanted terms there


class Highlighter:
    """Finds the wanted terms of a query in texts of one language."""

    def __init__(self, marks: Marks, language: str = "en") -> None:
        self.marks = marks
        self.wanted = marks.terms
        self.language = language
        self._scanner = Scanner(self.wanted, language)
        self._known: dict[str, Sequence[Highlight]] = {}  # the matches in each piece that was read, from its beginning

    def find(self, text: str) -> tuple[str, list[Highlight]]:
        """A text as one line, and the words and code names in it that match a wanted term."""
        line = _join_lines(text)
        if not self.wanted:
            return line, []
        matches = self._find_all(line)
        return line, list(islice(self._drop_lonely(matches) if self.marks.pairs else matches, MAX_HIGHLIGHTS))

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

    def _find_all(self, line: str) -> Iterator[Highlight]:
        for at, piece in self._scanner.find_pieces(line):
            if piece not in self._known:
                self._known[piece] = [
                    highlight
                    for token in analysis.TOKEN.finditer(piece)
                    for highlight in self._find_in_word(token[0][: analysis.MAX_WORD], token.start())
                ]
            for start, end, terms in self._known[piece]:
                yield at + start, at + end, terms

    def _find_in_word(self, word: str, at: int) -> list[Highlight]:
        """The parts of a word that match, joined where they touch; the whole word where it matches as a code name."""
        terms = analysis.terms_of([word], self.language) if word.isascii() else analysis.terms(word, self.language)
        found = self.wanted.intersection(terms)
        if not found:
            return []
        whole = [(at, at + len(word), found)]
        parts, joined = analysis.split_name(word)
        is_one = len(parts) == 1 and word.isalpha()
        if is_one or any(analysis.stem(form, self.language) in found for form in joined):
            return whole
        highlights: list[Highlight] = []
        for start, end in analysis.pieces_of(word):
            term = analysis.stem(word[start:end].lower(), self.language)
            if term in found:
                if highlights and highlights[-1][1] >= at + start:
                    highlights[-1] = (highlights[-1][0], at + end, highlights[-1][2] | {term})
                else:
                    highlights.append((at + start, at + end, frozenset([term])))
        return highlights or whole  # written in other characters, such as ｚｅｂｒａ


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
