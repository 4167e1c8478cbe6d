"""The stretch of a text to show under a result, and where the words that matched stand in it."""

import re
from collections.abc import Collection

from search import analysis

LENGTH = 280  # characters
LEAD = 40  # shown before the first match
_WORD = re.compile(r"\S+")


def excerpt(text: str, wanted: Collection[str], language: str = "en") -> tuple[str, tuple[tuple[int, int], ...]]:
    """The stretch that holds most different wanted terms, cut at words, and the matches as [start, end) in it.

    Offsets count Unicode code points.
    """
    flat = " ".join(text.split())
    spots = [
        (start, end, found)
        for start, end in _spans(flat)
        if (found := frozenset(analysis.terms(flat[start:end], language)).intersection(wanted))
    ]
    start, end = _window(flat, spots)
    lead, tail = "…" if start else "", "…" if end < len(flat) else ""
    marks = [(at - start + len(lead), to - start + len(lead)) for at, to, _ in spots if start <= at and to <= end]
    return lead + flat[start:end] + tail, tuple(marks)


def _spans(flat: str) -> list[tuple[int, int]]:
    """Where the words and code names are."""
    return [match.span() for match in analysis.TOKEN.finditer(flat)]


def _window(flat: str, spots: list[tuple[int, int, frozenset[str]]]) -> tuple[int, int]:
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
