"""The stretch of a text to show under a result, and where the words that matched stand in it."""

from collections.abc import Collection
from functools import lru_cache

from search.text import analysis

LENGTH = 280  # characters
MOST_SPOTS = 60  # looked at in a text
LONG = 100  # characters of what has no blanks; not kept
LEAD = 40  # shown before the first match
Spot = tuple[int, int, frozenset[str]]  # start, end, and the wanted terms there


@lru_cache(maxsize=50_000)
def _terms(word: str, language: str) -> frozenset[str]:
    return frozenset(analysis.terms(word, language))


@lru_cache(maxsize=20_000)
def _stems(word: str, language: str) -> tuple[frozenset[str], tuple[tuple[int, int, str], ...]]:
    """The terms of a word's joined forms, and of its parts with their places."""
    _, joined = analysis.split_name(word)
    pieces = [(start, end, analysis.stem(word[start:end].lower(), language)) for start, end in analysis.pieces_of(word)]
    return frozenset(analysis.stem(form, language) for form in joined), tuple(pieces)


class Marker:
    """Finds the wanted terms of a query in texts of one language."""

    def __init__(self, wanted: Collection[str], language: str = "en") -> None:
        self.wanted = frozenset(wanted)
        self.language = language

    def spots(self, flat: str) -> list[Spot]:
        """The words and code names that stand for a wanted term. Whitespace in the text is single blanks."""
        found: list[Spot] = []
        at = 0
        for piece in flat.split(" "):
            end = at + len(piece)
            if len(piece) > LONG or not self.wanted.isdisjoint(_terms(piece, self.language)):
                for word in analysis.TOKEN.finditer(flat, at, end):
                    found += self.inside(word.group(), word.start())
                if len(found) >= MOST_SPOTS:
                    break
            at = end + 1
        return found

    def inside(self, word: str, at: int) -> list[Spot]:
        """The parts of a word that stand for a wanted term, joined where they touch; all of it where it is named so."""
        names, pieces = _stems(word, self.language)
        if found := self.wanted & names:
            return [(at, at + len(word), found)]
        spots: list[Spot] = []
        for start, end, term in pieces:
            if term in self.wanted:
                if spots and spots[-1][1] >= at + start:
                    spots[-1] = (spots[-1][0], at + end, spots[-1][2] | {term})
                else:
                    spots.append((at + start, at + end, frozenset([term])))
        if not spots and (whole := self.wanted.intersection(analysis.terms(word, self.language))):
            return [(at, at + len(word), whole)]  # in signs that mean others, as ｚｅｂｒａ does
        return spots


def excerpt(text: str, marker: Marker) -> tuple[str, tuple[tuple[int, int], ...]]:
    """The stretch that holds most different wanted terms, cut at words, and the matches as [start, end) in it.

    Offsets count Unicode code points.
    """
    flat = " ".join(text.split())
    spots = marker.spots(flat)
    start, end = _window(flat, spots)
    lead, tail = "…" if start else "", "…" if end < len(flat) else ""
    marks = [(at - start + len(lead), to - start + len(lead)) for at, to, _ in spots if start <= at and to <= end]
    return lead + flat[start:end] + tail, tuple(marks)


def _window(flat: str, spots: list[Spot]) -> tuple[int, int]:
    if len(flat) <= LENGTH:
        return 0, len(flat)
    best, start = -1.0, 0
    for number, (at, _, _) in enumerate(spots):
        inside = [found for begin, end, found in spots[number : number + 60] if end <= at + LENGTH - LEAD]
        value = len(frozenset().union(*inside)) + len(inside) / 100
        if value > best:
            best, start = value, at
    start = max(0, min(start - LEAD, len(flat) - LENGTH))
    if start:
        blank = flat.find(" ", start, start + LEAD)
        start = blank + 1 if blank >= 0 else start
    end = min(len(flat), start + LENGTH)
    if end < len(flat):
        blank = flat.rfind(" ", start + LENGTH // 2, end)
        end = blank if blank >= 0 else end
    return start, end
