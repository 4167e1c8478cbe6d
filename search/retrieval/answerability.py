"""Estimate whether the documentation answers a question at all: a logistic regression over the best passages.

A passage's score only compares it with other passages. Its text shows more: a
sentence may be much like the question, and neighbouring words of the question
may be neighbours in the passage, too. `make train` writes the weights to
`weights.json`. It learns from questions of each documentation set, and from
questions of other sets, which that set does not answer.
"""

import functools
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from search.hits import Hit
from search.retrieval import parsing
from search.retrieval.ranking import WEIGHTS_FILE
from search.text import analysis, english
from search.text.terms import Query

MIN_CHANCE = 0.35  # below it, the passages may be beside the point
MIN_CLOSE_CHANCE = 0.12  # below it, the documentation does not answer
MIN_PASSAGE_SCORE = 0.005  # passages with a smaller score answer nothing
PASSAGES = 3  # the best ones, whose text is compared with the question
SHORT = 5  # words; a shorter question has few pairs of words
NO_PASSAGE = -9.0  # log-odds where there is no second page

FEATURES = {
    "best": "log-odds of the best passage's score",
    "second": "log-odds of the best passage of another page",
    "side_by_side": "neighbouring words of the question that stand side by side in a passage: log(1 + number)",
    "alike": "the sentence most like the question: Dice's coefficient of their words",
    "short": "the words that the question has less than five, as a share of five",
    "whole": "the same if one passage holds all words of the question, else 0",
    "unknown": "how rare in English that word of the question is which no page has: 1 for a name, 0 if there is none",
}

_SENTENCE = re.compile(r"\n|(?<=[.!?])\s+")


@dataclass(frozen=True)
class ChanceModel:
    """Weights of the features, in their order."""

    intercept: float
    weights: Sequence[float]

    def estimate(self, features: Sequence[float]) -> float:
        """The probability (0..1) that passages with these features answer, if half of all questions have an answer."""
        log_odds = self.intercept + sum(map(float.__mul__, self.weights, features))
        return round(1 / (1 + math.exp(-max(-30.0, min(30.0, log_odds)))), 4)

    @classmethod
    def load(cls) -> "ChanceModel":
        """Read the weights file."""
        stored = json.loads(WEIGHTS_FILE.read_text())["answerable"]
        return cls(stored["intercept"], [stored["weights"].get(name, 0.0) for name in FEATURES])


MODEL = ChanceModel.load()


def estimate_chance(query: Query, passages: Sequence[Hit]) -> float:
    """The probability (0..1) that the passages, best first, answer the query; 0 without passages."""
    return MODEL.estimate(compute_features(query, passages)) if passages else 0.0


def compute_features(query: Query, passages: Sequence[Hit]) -> list[float]:
    """The features of the passages, best first, in the order of FEATURES."""
    wanted: dict[str, set[int]] = {}
    function_words = analysis.FUNCTION_WORDS.get(_language(passages[0]), frozenset())
    terms = [term for term in query.terms if term.weight != parsing.JOINED and term.word.lower() not in function_words]
    for number, term in enumerate(terms):
        for spelling, _ in term.spellings:
            wanted.setdefault(spelling, set()).add(number)
    side_by_side, alike, held = 0, 0.0, 0
    for passage in passages[:PASSAGES]:
        pairs, dice, words = _compare(wanted, len(terms), passage)
        side_by_side, alike, held = max(side_by_side, pairs), max(alike, dice), max(held, words)
    short = max(0.0, 1 - len(terms) / SHORT)
    second = next((hit.score for hit in passages if hit.path != passages[0].path), None)
    return [
        _log_odds(passages[0].score),
        NO_PASSAGE if second is None else _log_odds(second),
        math.log1p(side_by_side),
        alike,
        short,
        short if terms and held == len(terms) else 0.0,
        max(map(english.measure_rarity, query.unknown_words), default=0.0),
    ]


def _compare(wanted: Mapping[str, set[int]], count: int, passage: Hit) -> tuple[int, float, int]:
    """The number of neighbouring words side by side, the likeness of the best sentence, the number of words held."""
    language = passage.language or "en"
    stop_terms = _stop_terms(language[:2].lower())
    together: set[int] = set()
    there: set[int] = set()
    alike = 0.0
    for sentence in _SENTENCE.split(f"{' '.join(passage.breadcrumb)}\n{passage.text}"):
        terms = [term for term in analysis.terms(sentence, language) if term not in stop_terms]
        found = list(map(wanted.get, terms))
        if any(found):
            shared = set().union(*filter(None, found))
            there |= shared
            alike = max(alike, 2 * len(shared) / (count + len(set(terms))))
            for before, after in pairwise(found):
                if before and after:
                    together |= {number for number in before if number + 1 in after}
    return len(together), alike, len(there)


def _language(passage: Hit) -> str:
    return (passage.language or "en")[:2].lower()


@functools.cache
def _stop_terms(language: str) -> frozenset[str]:
    words = analysis.STOP_WORDS if language == "en" else analysis.FUNCTION_WORDS.get(language, frozenset())
    return frozenset(analysis.stem(word, language) for word in words)


def _log_odds(score: float) -> float:
    score = min(max(score, 1e-4), 1 - 1e-4)
    return math.log(score / (1 - score))
