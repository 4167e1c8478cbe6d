"""The stretch of a text to show under a result, and where the words that matched stand in it."""

import re
from collections.abc import Collection, Iterator

from search import analysis

LENGTH = 280  # characters
LEAD = 40  # shown before the first match
Spot = tuple[int, int, frozenset[str]]  # start, end, and the wanted terms there


class Marker:
    """Finds the wanted terms of a query in texts of one language."""

    def __init__(self, wanted: Collection[str], language: str = "en") -> None:
        self.wanted = frozenset(wanted)
        self.language = language
        self.known: dict[str, frozenset[str]] = {}
        # Only where a word begins as a stem does is it analysed, and code names, which may be written apart. A stem's
        # first letters are those of its words (visibl: visibility), its last ones are not.
        starts = {re.escape(term[: max(2, min(4, len(term) - 1))]) for term in wanted}
        self.likely = re.compile("|".join([*sorted(starts), r"[^\W_][-._:/'+]+[^\W_]"]), re.IGNORECASE)

    def spots(self, flat: str) -> list[Spot]:
        """The words and code names that stand for a wanted term."""
        found = []
        for begin, end in self.chunks(flat):
            for word in analysis.TOKEN.finditer(flat, begin, end):
                text = word.group()
                if text not in self.known:
                    self.known[text] = self.wanted.intersection(analysis.terms(text, self.language))
                if self.known[text]:
                    found.append((*word.span(), self.known[text]))
        return found

    def chunks(self, flat: str) -> Iterator[tuple[int, int]]:
        """Stretches between blanks that may hold one; where letters have accents or are not Latin, all of it."""
        if not flat.isascii():
            yield 0, len(flat)
            return
        end = 0
        while match := self.likely.search(flat, end):
            begin = flat.rfind(" ", end, match.start()) + 1 or end
            end = flat.find(" ", match.end())
            end = len(flat) if end < 0 else end
            yield begin, end


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
