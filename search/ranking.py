"""The score of a candidate: how much of the query it holds, how rare those words are, and where they stand.

BM25F (Robertson & Zaragoza 2009) over title, headings and body, read together
with coverage, through one logistic function. The result is in 0..1 and means
the same for every query, so that a threshold does too.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from search.terms import Entry, Query

FIELD_WEIGHT = {"title": 6.0, "headings": 4.0, "body": 1.0}
SATURATION = 1.2
LENGTH = 0.6  # how much a long section is held back
TYPICAL_LENGTH = 160

# Logistic weights, chosen by hand on queries of which the answering page is known.
INTERCEPT = -5.2
WEIGHTS = {"coverage": 2.3, "title": 1.6, "headings": 1.2, "overlap": 0.8, "relative": 2.6, "strength": 1.2}


@dataclass(frozen=True)
class Features:
    """What is known of a candidate; every value is in 0..1."""

    coverage: float  # share of the query, by rarity, that occurs at all
    title: float  # the same, in the title
    headings: float  # the same, in the headings
    overlap: float  # share of the heading (of an intro: the title) that the query names
    relative: float  # BM25F against the best candidate's
    strength: float  # BM25F against the most that the query could give

    def score(self) -> float:
        """Probability-like score."""
        total = INTERCEPT + sum(weight * getattr(self, name) for name, weight in WEIGHTS.items())
        return 1 / (1 + math.exp(-total))


def rank(
    query: Query, weights: Sequence[float], entries: Sequence[Entry], sections: int, found: dict[str, int]
) -> list[Features]:
    """Features of each entry, in the order given.

    `weights` says how much each query term counts (1 for the reader's words,
    less for context); `sections` and `found` are the index's size and the
    number of sections each spelling occurs in.
    """
    holding = [min(sections, sum(found.get(spelling, 0) for spelling in term)) for term in query]
    idf = [math.log(1 + (sections - n + 0.5) / (n + 0.5)) for n in holding]
    rarity = [weight * told for weight, told in zip(weights, idf, strict=True)]
    total = sum(rarity) or 1.0
    most = total * (SATURATION + 1)
    bm25: list[float] = []
    shares: list[tuple[float, float, float, float]] = []
    spellings = {spelling for term in query for spelling in term}
    for entry in entries:
        fields = {name: getattr(entry, name).split() for name in FIELD_WEIGHT}
        norm = 1 - LENGTH + LENGTH * len(fields["body"]) / TYPICAL_LENGTH
        score = covered = in_title = in_headings = 0.0
        for term, weight in zip(query, rarity, strict=True):
            counts = {name: max(words.count(spelling) for spelling in term) for name, words in fields.items()}
            frequency = (
                counts["title"] * FIELD_WEIGHT["title"]
                + counts["headings"] * FIELD_WEIGHT["headings"]
                + counts["body"] * FIELD_WEIGHT["body"] / norm
            )
            if frequency:
                covered += weight
                score += weight * frequency * (SATURATION + 1) / (frequency + SATURATION)
            in_title += weight if counts["title"] else 0
            in_headings += weight if counts["headings"] else 0
        bm25.append(score)
        heading = set(fields["headings"] or fields["title"])
        overlap = len(heading & spellings) / len(heading) if heading else 0.0
        shares.append((covered / total, in_title / total, in_headings / total, overlap))
    best = max(bm25, default=0) or 1.0
    return [Features(*share, score / best, score / most) for score, share in zip(bm25, shares, strict=True)]
