"""Which page of the index a missing one probably is: by its text, its title and its address.

Each page gets a score, a weighted sum of likenesses. The confidence comes from the best score and its distance from the
second. Weights are trained on pages that public repositories have renamed: `python -m tests.bench.redirects --fit`.
"""

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from math import exp, log
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from docsite.extras.dead_ends.fingerprints import SIZE, decode, split_trigrams, split_words

MAX_CONFIDENCE = 0.999

Floats = npt.NDArray[np.float64]


class Known(NamedTuple):
    """What is known of a page. `title` and `sketch` are empty for an address that is only asked for.

    `generation`: of a missing page the first index without it, of another the first with it.
    """

    path: str
    title: str = ""
    sketch: bytes = b""
    generation: int = 0


class Match(NamedTuple):
    """A page, and the chance that it is the one, 0 to 1."""

    path: str
    confidence: float


FEATURES = ("text", "title", "same_title", "name", "same_name", "words", "folder", "named_so", "is_new")


@dataclass(frozen=True)
class Weights:
    """The weights of the features, and of score, distance and one for the confidence."""

    score: tuple[float, ...]
    confidence: tuple[float, float, float]


WITH_TEXT = Weights((4.54, 1.77, 0.83, 2.16, 0.48, 3.14, 2.27, 1.23, 3.72), (0.424, 0.591, -6.13))
ADDRESS_ONLY = Weights((0.0, 0.0, 0.0, 5.58, 1.04, 5.7, 3.24, 1.5, 0.0), (0.31, 0.469, -3.524))


@dataclass
class _Terms:
    """The terms of one part of each page, in both directions. Rare terms weigh more."""

    split: Callable[[str], list[str]]
    pages: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    sizes: list[float] = field(default_factory=list)
    count: int = 0

    def load(self, texts: Sequence[str]) -> None:
        self.count = len(texts)
        split = [set(self.split(text)) for text in texts]
        for number, terms in enumerate(split):
            for term in terms:
                self.pages[term].append(number)
        self.sizes = [sum(map(self.weigh, terms)) for terms in split]

    def weigh(self, term: str) -> float:
        return log(1 + (self.count + 1) / (1 + len(self.pages.get(term, ()))))

    def compare(self, text: str) -> Floats:
        """The share of terms that each page has in common with a text, 0 to 1."""
        common = np.zeros(self.count)
        terms = set(self.split(text))
        for term in terms:
            common[self.pages.get(term, [])] += self.weigh(term)
        either = np.asarray(self.sizes) + sum(map(self.weigh, terms)) - common
        return np.divide(common, either, out=np.zeros(self.count), where=either > 0)


class Matcher:
    """Finds the pages of one index."""

    def __init__(self, pages: Sequence[Known]) -> None:
        self.pages = pages
        self._sketches = np.array([decode(page.sketch) for page in pages], np.uint32).reshape(-1, SIZE)
        self._has_text = self._sketches.any(axis=1)
        titles, names = [page.title.casefold() for page in pages], [name_of(page.path) for page in pages]
        self._with_title, self._with_name = _group(titles), _group([name.casefold() for name in names])
        self._since = np.array([page.generation for page in pages])
        self._title_words, self._path_words = _Terms(split_words), _Terms(split_words)
        self._folder_words, self._name_trigrams = _Terms(split_words), _Terms(split_trigrams)
        self._folder_words.load([folder_of(page.path) for page in pages])
        self._title_words.load(titles)
        self._path_words.load([page.path for page in pages])
        self._name_trigrams.load(names)

    def find(self, missing: Known) -> Match | None:
        """The nearest page; None where no page has anything in common with the missing one."""
        if not self.pages:
            return None
        weights = WITH_TEXT if missing.sketch or missing.title else ADDRESS_ONLY
        scores = self.compare(missing) @ np.array(weights.score)
        best, confidence = choose(scores, weights)
        return Match(self.pages[best].path, confidence) if scores[best] > 0 else None

    def compare(self, missing: Known) -> Floats:
        """The features of each page: a row for each."""
        name, title = name_of(missing.path), missing.title.casefold()
        same_title, same_name = np.zeros(len(self.pages)), np.zeros(len(self.pages))
        same_title[self._with_title.get(title, [])] = 1
        same_name[self._with_name.get(name.casefold(), [])] = 1
        text = (self._sketches == decode(missing.sketch)).mean(axis=1) if missing.sketch else np.zeros(len(self.pages))
        return np.column_stack(
            [
                text * self._has_text,
                self._title_words.compare(title),
                same_title,
                self._name_trigrams.compare(name),
                same_name,
                self._path_words.compare(missing.path),
                self._folder_words.compare(folder_of(missing.path)),
                self._title_words.compare(name),
                (self._since >= missing.generation) * 1.0 if missing.generation else np.zeros(len(self.pages)),
            ]
        )


def _group(texts: Sequence[str]) -> dict[str, list[int]]:
    """By each text, the places where it stands in the list. Empty texts are left out."""
    groups: dict[str, list[int]] = defaultdict(list)
    for number, text in enumerate(texts):
        if text:
            groups[text].append(number)
    return groups


def choose(scores: Floats, weights: Weights) -> tuple[int, float]:
    """The number of the best page, and the chance that it is the one."""
    chance = 1 / (1 + exp(-float(np.array(weights.confidence) @ describe(scores))))
    return int(np.argmax(scores)), min(chance, MAX_CONFIDENCE)


def describe(scores: Floats) -> Floats:
    """What the confidence depends on: the best score, its distance from the second, and one."""
    first, second = np.partition(scores, -2)[-1:-3:-1] if len(scores) > 1 else (scores[0], 0.0)
    return np.array([first, first - second, 1.0])


def folder_of(path: str) -> str:
    """All of a path but its last part."""
    return path.rsplit("/", 1)[0]


def name_of(path: str) -> str:
    """The last part of a path."""
    return path.rsplit("/", 1)[-1]
