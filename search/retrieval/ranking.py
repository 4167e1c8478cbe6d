"""The score of a candidate: a logistic regression over its features.

The text score is BM25F (Robertson & Zaragoza 2009) over the fields of a
section. Other features say how much of the query the section, its headings and
its page hold. `make train` writes the weights to `weights.json`, with the
recipe. The score is in 0..1 and means the same for every query and site,
so that a threshold does too.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.postings.search_index import Candidate, SearchIndex, weigh_fields
from search.postings.segments import FIELDS
from search.text.terms import Query

WEIGHTS_FILE = Path(__file__).with_name("weights.json")
FIELD_WEIGHT = {"title": 3.0, "heading": 3.0, "trail": 2.0, "about": 3.0}  # in BM25F, against 1 for the body
SATURATION = 1.6
LENGTH = 0.75  # how much a long section is discounted
TYPICAL_LENGTH = 160
Array = NDArray[Any]

_WEIGHTED = weigh_fields(FIELD_WEIGHT)
_MASKS = {name: np.uint16(15 << (4 * at)) for at, name in enumerate(FIELDS)}

FEATURES = {
    "relative": "text score against the best candidate's, times the share of the words, by rarity, that it holds",
    "relative_long": "the same for long questions: in full from twelve words on",
    "lead": "text score of its page less that of the best other page, against the best, times the same share",
    "known": "share of the reader's words, by rarity, that any candidate holds",
    "words": "share of the reader's words that it holds",
    "heading_overlap": "share of its heading that the reader named; all of it where they typed a name in it",
    "title_overlap": "share of the page's title that the reader named",
    "exact": "whether its heading, a name in it or its page's title is just what the reader typed, but for stop words",
    "heading": "share of the words, by rarity, in its own heading: the first section with all of them leads its page",
    "trail": "share of the words, by rarity, in the headings above",
    "about": "share of the words, by rarity, in the page's description, keywords, path and links to it (first section)",
    "pairs": "share of neighbouring words that stand side by side in title, heading or description",
    "support": "text score of the page's other candidates",
    "breadth": "how many candidates the page has",
    "intro": "whether it is the page's first section",
    "query_length": "number of words asked for, up to twelve",
    "foreign": "whether its page is in another language than the one asked for or the front page's",
    "same_folder": "whether its page stands beside the one that the reader is on",
    "current_page": "whether it is of the page that the reader is on",
    "outdated": "whether its page is of another version than the latest and none was asked for",
    "meaning": "how far it stands out as like the question in meaning (`search.retrieval.meaning`); for answers only",
}

EXACT, HEADING = map(list(FEATURES).index, ("exact", "heading"))


@dataclass(frozen=True)
class Model:
    """Weights of the features, by name. A feature without a weight counts nothing."""

    intercept: float
    weights: Mapping[str, float]

    def score(self, features: Array, boosts: Array | float = 1.0) -> list[float]:
        """For each row of features, the probability that its section answers; its boost multiplies the odds."""
        log_odds = self.intercept + features @ self._weights + np.log(boosts)
        scores: list[float] = np.round(1 / (1 + np.exp(-log_odds.clip(-30.0, 30.0))), 4).tolist()
        return scores

    @cached_property
    def _weights(self) -> Array:
        return np.array([self.weights.get(name, 0.0) for name in FEATURES])

    @classmethod
    def load(cls, name: str = "") -> "Model":
        """Read the weights file: the model for search, or another by its name."""
        stored = json.loads(WEIGHTS_FILE.read_text())
        stored = stored[name] if name else stored
        return cls(stored["intercept"], stored["weights"])


MODEL = Model.load()  # for readers who search: which page is meant
PASSAGE_MODEL = Model.load(name="passages")  # for the assistant: which section answers a question in people's own words


@dataclass(frozen=True)
class Preferences:
    """What a reader prefers: a language, a version, pages near the current one. Empty means no preference."""

    language: str = ""
    version: str = ""
    current_path: str = ""


def compute_features(
    index: SearchIndex,
    query: Query,
    candidates: Sequence[Candidate],
    preferences: Preferences = Preferences(),
    likeness: Mapping[int, float] = {},
) -> Array:
    """The features of each candidate of the index: [candidates, FEATURES]. Each is in 0..1 (`lead` in -1..1)."""
    if not candidates:
        return np.empty((0, len(FEATURES)))
    places = np.array([candidate.place for candidate in candidates])
    spellings = sorted(query.spellings)
    bodies, fields = index.count(spellings, places)
    has = {name: (fields & mask) > 0 for name, mask in _MASKS.items()}
    rarities = np.array([term.rarity * term.weight for term in query.terms])
    impacts = _compute_impacts(query, spellings, bodies, fields, index.body_lengths[places])  # [terms, candidates]
    scores = rarities @ impacts
    best = scores.max() or 1.0
    language = _choose_language(candidates, scores.tolist(), preferences.language)
    foreign = _differ([candidate.language for candidate in candidates], language)
    outdated = _differ([candidate.version for candidate in candidates], preferences.version)

    by_page, begins, page = _group(index.documents[places])
    page_scores = rarities @ np.maximum.reduceat(impacts[:, by_page], begins, axis=1)
    counts, sums = np.bincount(page), np.bincount(page, scores)
    is_rival = np.bincount(page, foreign | outdated) == 0  # a translation or an old version is no rival
    lead = _compute_lead(page_scores, page_scores[is_rival] if is_rival.any() else page_scores)

    words = [number for number, term in enumerate(query.terms) if term.weight == 1.0]
    total = sum(rarities[words].tolist()) or 1.0
    held = impacts[words] > 0  # [words, candidates]
    coverage = rarities[words] @ held / total
    query_length = min(len(words), 12) / 12
    exact = index.have_facet(query.names, places)
    headings, titles = index.heading_sizes[places], index.title_sizes[places]
    here = preferences.current_path
    columns: dict[str, Any] = {
        "relative": scores / best * coverage,
        "relative_long": scores / best * coverage * query_length,
        "lead": lead[page] * coverage,
        "known": (rarities[words] @ held.any(axis=1)) / total,
        "words": held.sum(axis=0) / (len(words) or 1),
        "heading_overlap": np.where(exact & (headings > 0), 1.0, has["heading"].sum(axis=0) / headings.clip(1)),
        "title_overlap": has["title"].sum(axis=0) / titles.clip(1),
        "exact": exact,
        "heading": _share_held(query, words, spellings, has["heading"], rarities) / total,
        "trail": _share_held(query, words, spellings, has["trail"], rarities) / total,
        "about": _share_held(query, words, spellings, has["about"], rarities) / total,
        "pairs": _share_pairs(query, candidates, spellings, has["title"] | has["heading"] | has["about"]),
        "support": ((sums[page] - scores) / best / 5).clip(max=1.0),
        "breadth": (np.log1p(counts) / 4).clip(max=1.0)[page],
        "intro": index.positions[places] == 0,
        "query_length": query_length,
        "foreign": foreign,
        "same_folder": [one.path != here and _folder(one.path) == _folder(here) for one in candidates] if here else 0.0,
        "current_page": [candidate.path == here for candidate in candidates] if here else 0.0,
        "outdated": outdated,
        "meaning": [likeness.get(candidate.section_id, 0.0) for candidate in candidates] if likeness else 0.0,
    }
    rows = np.empty((len(candidates), len(FEATURES)))
    for number, name in enumerate(FEATURES):
        rows[:, number] = columns[name]
    return rows


def _compute_lead(scores: Array, rivals: Array) -> Array:
    """How far each page is ahead of the best other one of its rivals, in -1..1 of the best score."""
    first, second = [*sorted(rivals.tolist(), reverse=True)[:2], 0.0, 0.0][:2]
    ahead = scores - np.where(scores == first, second, first)
    lead: Array = (ahead / (first or 1.0)).clip(-1.0, 1.0)
    return lead


def _group(values: Array) -> tuple[Array, Array, Array]:
    """The order of some values, where each different one begins in it, and for each value the number of its group."""
    order = values.argsort(kind="stable")
    begins = np.ones(len(values), bool)
    np.not_equal(values[order[1:]], values[order[:-1]], out=begins[1:])
    groups = np.empty(len(values), np.int64)
    groups[order] = begins.cumsum() - 1
    return order, np.flatnonzero(begins), groups


def _compute_impacts(
    query: Query, spellings: Sequence[str], bodies: Array, fields: Array, body_lengths: Array
) -> Array:
    """The BM25F impact of each query term, not yet multiplied by its rarity: that of its best spelling."""
    frequency = bodies / (1 - LENGTH + LENGTH * body_lengths / TYPICAL_LENGTH) + _WEIGHTED[fields]
    impact = frequency * (SATURATION + 1) / (frequency + SATURATION)
    found = _find_rows(spellings, impact)
    rows = np.zeros((len(query.terms), bodies.shape[1]))
    for number, term in enumerate(query.terms):
        for spelling, certainty in term.spellings:
            if spelling in found:
                np.maximum(rows[number], certainty * found[spelling], out=rows[number])
    return rows


def _choose_language(candidates: Sequence[Candidate], scores: Sequence[float], wanted: str) -> str:
    """The preferred language, unless its pages match the query much less than those in another language."""
    languages = [candidate.language for candidate in candidates]
    best = dict.fromkeys(languages, 0.0)
    if len(best) == 1:
        return wanted if wanted in best or "" in best or not any(scores) else languages[0]
    for language, score in zip(languages, scores, strict=True):
        best[language] = max(score, best[language])
    if wanted and wanted not in best:  # `pt`, where the pages say `pt-br`
        wanted = next((language for language in best if language.startswith(f"{wanted}-")), wanted)
    likeliest = max(best, key=lambda language: (best[language], language), default="")
    wanted_score = max(best.get(wanted, 0.0), best.get("", 0.0))
    return wanted if wanted_score >= best.get(likeliest, 0.0) / 2 else likeliest


def _differ(values: Sequence[str], wanted: str) -> Array:
    """Whether pages have another value than the one wanted; False where either is unknown."""
    if not wanted or {"", wanted}.issuperset(values):
        return np.zeros(len(values), bool)
    return np.array([value not in ("", wanted) for value in values])


def _share_held(query: Query, words: Sequence[int], spellings: Sequence[str], has: Array, rarities: Array) -> Array:
    """The rarity of the words found in a field, each times how certain its first spelling there is."""
    share = np.zeros(has.shape[1])
    found = _find_rows(spellings, has)
    for number in words:
        is_left: Array | bool = True
        for spelling, certainty in query.terms[number].spellings:
            if spelling in found:
                share += certainty * rarities[number] * (found[spelling] & is_left)
                is_left = is_left & ~found[spelling]
    return share


def _find_rows(spellings: Sequence[str], rows: Array) -> Mapping[str, Array]:
    """By spelling the rows that are not empty."""
    found = np.flatnonzero(rows.any(axis=1)).tolist()
    return {spellings[number]: rows[number] for number in found}


def _share_pairs(query: Query, candidates: Sequence[Candidate], spellings: Sequence[str], has: Array) -> Array:
    """The share of neighbouring words that stand side by side in title, heading or description.

    `has` says which candidates have each spelling in one of the three.
    """
    found = np.zeros(len(candidates))
    if query.pairs:
        rows = dict(zip(spellings, has, strict=True))
        for one, next_one in query.pairs:
            if one in rows and next_one in rows:
                needle = f" {one} {next_one} "
                for number in np.flatnonzero(rows[one] & rows[next_one]).tolist():
                    found[number] += needle in candidates[number].above
        found /= len(query.pairs)
    return found


def _folder(path: str) -> str:
    return path.rsplit("/", 1)[0]
