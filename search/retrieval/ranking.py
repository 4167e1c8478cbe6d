"""The score of a candidate: a logistic regression over its features.

The text score is BM25F (Robertson & Zaragoza 2009) over the fields of a
section. Other features say how much of the query the section, its headings and
its page hold. `manage.py train` writes the weights to `weights.json`, with the
recipe. The score is in 0..1 and means the same for every query and site,
so that a threshold does too.
"""

import json
import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from search.text.terms import Entry, Query

WEIGHTS_FILE = Path(__file__).with_name("weights.json")
FIELD_WEIGHT = {"title": 3.0, "heading": 3.0, "trail": 2.0, "about": 3.0}  # in BM25F, against 1 for the body
SATURATION = 1.6
LENGTH = 0.75  # how much a long section is discounted
TYPICAL_LENGTH = 160

FEATURES = {
    "relative": "text score against the best candidate's, times the share of the words, by rarity, that it holds",
    "relative_long": "the same for long questions: in full from twelve words on",
    "lead": "text score of its page less that of the best other page, against the best, times the same share",
    "known": "share of the reader's words, by rarity, that any candidate holds",
    "words": "share of the reader's words that it holds",
    "heading_overlap": "share of its heading that the reader named; all of it where they typed a name in it",
    "title_overlap": "share of the page's title that the reader named",
    "exact": "whether its heading, a name in it or its page's title is just what the reader typed",
    "trail": "share of the words, by rarity, in the headings above",
    "about": "share of the words, by rarity, in the page's description, keywords and path (first section only)",
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


@dataclass(frozen=True)
class Model:
    """Weights of the features, by name. A feature without a weight counts nothing."""

    intercept: float
    weights: Mapping[str, float]

    def __post_init__(self) -> None:
        object.__setattr__(self, "_row", [self.weights.get(name, 0.0) for name in FEATURES])

    def score(self, features: Sequence[float], boost: float = 1.0) -> float:
        """The probability that a section with these features answers; `boost` multiplies its odds."""
        row: list[float] = self._row  # type: ignore[attr-defined]
        total = self.intercept + sum(map(float.__mul__, row, features)) + math.log(boost)
        return probability(total)

    @classmethod
    def load(cls, file: Path = WEIGHTS_FILE, name: str = "") -> "Model":
        """Read the model from a weights file: the one for search, or another by its name."""
        stored = json.loads(file.read_text())
        stored = stored[name] if name else stored
        return cls(stored["intercept"], stored["weights"])


def probability(log_odds: float) -> float:
    """The probability with these log-odds, in 0..1, rounded to four digits."""
    return round(1 / (1 + math.exp(-max(-30.0, min(30.0, log_odds)))), 4)


MODEL = Model.load()  # for readers who search: which page is meant
PASSAGE_MODEL = Model.load(name="passages")  # for the assistant: which section answers a question in people's own words


@contextmanager
def use_model(model: Model | None, passage_model: Model | None = None) -> Iterator[None]:
    """Within the block, search ranks with these models, to judge them; None keeps the shipped one."""
    global MODEL, PASSAGE_MODEL
    shipped = MODEL, PASSAGE_MODEL
    MODEL, PASSAGE_MODEL = model or MODEL, passage_model or PASSAGE_MODEL
    try:
        yield
    finally:
        MODEL, PASSAGE_MODEL = shipped


@dataclass(frozen=True)
class Preferences:
    """What a reader prefers: a language, a version, pages near the current one. Empty means no preference."""

    language: str = ""
    version: str = ""
    current_path: str = ""


class Candidate:
    """A section ready to be scored: its fields as sets, and the BM25F impact of each of its terms."""

    __slots__ = (
        "about", "above", "boost", "document_id", "heading", "impact", "is_empty", "language", "names", "path",
        "position", "section_id", "title", "trail", "version",
    )  # fmt: skip

    def __init__(self, entry: Entry) -> None:
        self.section_id = entry.section_id
        self.document_id = entry.document_id
        self.path = entry.path
        self.names = frozenset(entry.names.split())
        self.position = entry.position
        self.language = entry.language
        self.version = entry.version
        self.boost = entry.boost
        fields = {name: getattr(entry, name).split() for name in FIELD_WEIGHT}
        self.title, self.heading, self.trail, self.about = (frozenset(terms) for terms in fields.values())
        self.above = f" {entry.title}  {entry.heading}  {entry.about} "
        body = entry.body.split()
        self.is_empty = not body
        norm = 1 - LENGTH + LENGTH * len(body) / TYPICAL_LENGTH
        frequency = {term: count / norm for term, count in Counter(body).items()}
        for name, weight in FIELD_WEIGHT.items():
            for term in fields[name]:
                frequency[term] = frequency.get(term, 0.0) + weight
        self.impact = {term: f * (SATURATION + 1) / (f + SATURATION) for term, f in frequency.items()}


def compute_features(
    query: Query,
    candidates: Sequence[Candidate],
    preferences: Preferences = Preferences(),
    likeness: Mapping[int, float] = {},
) -> list[list[float]]:
    """The features of each candidate, in the order of FEATURES; each value is in 0..1 (`lead` in -1..1)."""
    rarities = [term.rarity * term.weight for term in query.terms]
    impacts = [_compute_impacts(query, candidate) for candidate in candidates]
    scores = [sum(map(float.__mul__, rarities, row)) for row in impacts]
    pages = _sum_by_page(candidates, impacts, scores)
    page_scores = {page: sum(map(float.__mul__, rarities, row)) for page, (row, _, _) in pages.items()}
    best = max(scores, default=0.0) or 1.0
    language = _choose_language(candidates, scores, preferences.language)
    away = {one.document_id for one in candidates if _differs(one.language, language)}
    away |= {one.document_id for one in candidates if _differs(one.version, preferences.version)}
    rivals = page_scores.keys() - away or page_scores.keys()  # a translation or an old version is no rival
    first, second = [*sorted((page_scores[page] for page in rivals), reverse=True), 0.0, 0.0][:2]
    words = [number for number, term in enumerate(query.terms) if term.weight == 1.0]
    total = sum(rarities[number] for number in words) or 1.0
    known = [number for number in words if any(row[number] for row in impacts)]
    known_share = sum(rarities[number] for number in known) / total
    query_length = min(len(words), 12) / 12
    needles = [f" {one} {next_one} " for one, next_one in query.pairs]
    folder = preferences.current_path.rsplit("/", 1)[0]

    rows = []
    for candidate, row, score in zip(candidates, impacts, scores, strict=True):
        held = [number for number in words if row[number]]
        page_score = page_scores[candidate.document_id]
        _, count, summed = pages[candidate.document_id]
        coverage = sum(rarities[number] for number in held) / total
        exact = query.name in candidate.names
        lead = max(-1.0, min(1.0, (page_score - (second if page_score == first else first)) / (first or 1.0)))
        here = bool(preferences.current_path) and candidate.path == preferences.current_path
        beside = bool(preferences.current_path) and not here and candidate.path.rsplit("/", 1)[0] == folder
        rows.append([
            score / best * coverage,
            score / best * coverage * query_length,
            lead * coverage,
            known_share,
            len(held) / (len(words) or 1),
            1.0 if exact and candidate.heading else _overlap(candidate.heading, query),
            _overlap(candidate.title, query),
            1.0 if exact else 0.0,
            _share_held(query, candidate.trail, held, rarities) / total,
            _share_held(query, candidate.about, held, rarities) / total,
            sum(needle in candidate.above for needle in needles) / len(needles) if needles else 0.0,
            min(1.0, (summed - score) / best / 5),
            min(1.0, math.log1p(count) / 4),
            1.0 if candidate.position == 0 else 0.0,
            query_length,
            1.0 if _differs(candidate.language, language) else 0.0,
            1.0 if beside else 0.0,
            1.0 if here else 0.0,
            1.0 if _differs(candidate.version, preferences.version) else 0.0,
            likeness.get(candidate.section_id, 0.0),
        ])  # fmt: skip
    return rows


def _differs(value: str, wanted: str) -> bool:
    """Whether a page has another value than the one wanted; False where either is unknown."""
    return bool(value and wanted) and value != wanted


def _choose_language(candidates: Sequence[Candidate], scores: Sequence[float], wanted: str) -> str:
    """The preferred language, unless its pages match the query much less than those in another language."""
    best: dict[str, float] = {}
    for candidate, score in zip(candidates, scores, strict=True):
        best[candidate.language] = max(score, best.get(candidate.language, 0.0))
    likeliest = max(best, key=lambda language: (best[language], language), default="")
    wanted_score = max(best.get(wanted, 0.0), best.get("", 0.0))
    return wanted if wanted_score >= best.get(likeliest, 0.0) / 2 else likeliest


def _compute_impacts(query: Query, candidate: Candidate) -> list[float]:
    """The BM25F impact of each query term, not yet multiplied by its rarity: that of its best spelling."""
    impact = candidate.impact.get
    return [
        max([certainty * impact(spelling, 0.0) for spelling, certainty in term.spellings]) if len(term.spellings) > 1
        else term.spellings[0][1] * impact(term.spellings[0][0], 0.0)
        for term in query.terms
    ]  # fmt: skip


def _sum_by_page(
    candidates: Sequence[Candidate], impacts: Sequence[list[float]], scores: Sequence[float]
) -> dict[int, tuple[list[float], int, float]]:
    """For each page: the best impact of each term, the number of candidates, and the sum of their scores."""
    pages: dict[int, tuple[list[float], int, float]] = {}
    for candidate, row, score in zip(candidates, impacts, scores, strict=True):
        if known := pages.get(candidate.document_id):
            pages[candidate.document_id] = (list(map(max, known[0], row)), known[1] + 1, known[2] + score)
        else:
            pages[candidate.document_id] = (row, 1, score)
    return pages


def _share_held(query: Query, field: frozenset[str], held: Iterable[int], rarities: Sequence[float]) -> float:
    """The rarity of the words found in a field, each times how certain its spelling is."""
    if field.isdisjoint(query.spellings):
        return 0.0
    share = 0.0
    for number in held:
        for spelling, certainty in query.terms[number].spellings:
            if spelling in field:
                share += certainty * rarities[number]
                break
    return share


def _overlap(field: frozenset[str], query: Query) -> float:
    return len(field & query.spellings) / len(field) if field else 0.0
