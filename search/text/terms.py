"""Entries that engines store and queries that they answer, both as ready terms. No database."""

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Entry:
    """A section as an engine stores it: terms joined by spaces, and facets that filters match.

    `heading` is the section's own, `trail` holds those above it. `about` is the
    page's description, keywords and path, for its first section only. `names` are
    what it is called, each as one word: a heading, or the page's titles.
    """

    section_id: int
    document_id: int
    position: int
    title: str
    heading: str
    trail: str
    about: str
    body: str
    facets: str = ""
    path: str = ""
    names: str = ""
    language: str = ""
    version: str = ""
    boost: float = 1.0


@dataclass(frozen=True)
class Term:
    """One word of a query: the index terms that match it, each with its certainty, and how rare it is."""

    spellings: tuple[tuple[str, float], ...]
    weight: float = 1.0  # 1 for a reader's word, less for what was only derived or taken from the context
    rarity: float = 1.0
    word: str = ""  # as it was asked for


@dataclass(frozen=True)
class Wanted:
    """What an engine looks for: sections with one of `needed`, ranked by all the `scored` terms with their rarity."""

    needed: frozenset[str]
    scored: Mapping[str, float]


@dataclass(frozen=True)
class Query:
    """What to look for. `facets` are alternatives: a section needs one of each."""

    terms: Sequence[Term]
    pairs: Sequence[tuple[str, str]] = ()  # terms that stand side by side
    facets: Sequence[Sequence[str]] = ()
    name: str = ""  # the whole text as one word
    of_context: bool = False  # whether it is too short to stand alone, so that its context is searched for
    asked: Sequence[Wanted] = ()  # what engines try in order: the rarer words, then every word

    @property
    def common(self) -> frozenset[str]:
        """Index terms that nearly every section has, left out at first."""
        return frozenset(self.asked[-1].scored.keys() - self.asked[0].scored.keys()) if self.asked else frozenset()

    @cached_property
    def spellings(self) -> frozenset[str]:
        """Every index term that counts as a match."""
        return frozenset(spelling for term in self.terms for spelling, _ in term.spellings)


def facet(kind: str, value: str) -> str:
    """One term for a version, language or tag; the empty value stands for pages that have none."""
    return f"facet{kind}" + hashlib.sha256(value.strip().lower().encode()).hexdigest()[:16]


def rarity(sections: int, holding: int) -> float:
    """Inverse document frequency as BM25 has it (Robertson & Zaragoza 2009, equation 3.3, kept positive)."""
    return math.log(1 + (sections - holding + 0.5) / (holding + 0.5))
