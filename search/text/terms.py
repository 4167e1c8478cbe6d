"""Entries that engines store and queries that engines run. Both hold index terms. No database."""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True)
class Entry:
    """A section as an engine stores it: terms joined by spaces, and facets that filters match.

    `heading` is the section's own, `trail` holds those above it. `about` is the
    page's description, keywords, path and what other pages call it, for its first section only. Facets of the kind
    `n` are its names: its heading, or the titles of its page, each written as one word, whole and without stop words.
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
    language: str = ""
    version: str = ""
    boost: float = 1.0


@dataclass(frozen=True)
class Term:
    """One word of a query: the index terms that match it, each with its certainty, and the rarity of the word."""

    spellings: tuple[tuple[str, float], ...]
    weight: float = 1.0  # 1 for a reader's word; less for a word that was derived or comes from the context
    rarity: float = 1.0
    word: str = ""  # as the reader typed it
    is_minor: bool = False  # a function word, such as the second half of `sign-on`


@dataclass(frozen=True)
class Marks:
    """What a text has marked: index terms wherever they are, and pairs of terms where they stand side by side."""

    anywhere: frozenset[str] = frozenset()
    pairs: frozenset[tuple[str, str]] = frozenset()

    @property
    def terms(self) -> frozenset[str]:
        """All of them."""
        return self.anywhere.union(*self.pairs)


@dataclass(frozen=True)
class EngineQuery:
    """A query as an engine runs it: sections with one of the `needed` terms, ranked by the `scored` terms.

    `scored` holds the share of its score with which each term counts, in 0..1.
    """

    needed: frozenset[str]
    scored: Mapping[str, float]


@dataclass(frozen=True)
class Query:
    """A parsed query. `facets` holds groups of facet terms: a section needs one term of each group."""

    terms: Sequence[Term]
    pairs: Sequence[tuple[str, str]] = ()  # terms that stand side by side
    facets: Sequence[Sequence[str]] = ()
    name: str = ""  # the whole text as one word
    content_names: Sequence[str] = ()  # it without stop words, with the stems of each language; paths of operations
    unknown_words: Sequence[str] = ()  # of the reader, in lower case, that no page has and that are not misspelt
    is_about_context: bool = False  # whether it is so short that its context is searched for
    engine_queries: Sequence[EngineQuery] = ()  # run in order until one finds enough: the rarer words, then every word

    @property
    def names(self) -> list[str]:
        """Facets of sections whose heading is the query, exactly or apart from stop words and endings."""
        return [facet("n", name) for name in (self.name, *self.content_names) if name]

    @property
    def common(self) -> frozenset[str]:
        """Index terms that nearly every section has, left out at first."""
        if not self.engine_queries:
            return frozenset()
        return frozenset(self.engine_queries[-1].scored.keys() - self.engine_queries[0].scored.keys())

    @cached_property
    def spellings(self) -> frozenset[str]:
        """Every index term that counts as a match."""
        return frozenset(spelling for term in self.terms for spelling, _ in term.spellings)

    @cached_property
    def marks(self) -> Marks:
        """What a reader sees as a match: `on` of `sign-on` only beside `sign`, and no longer word that begins with it.

        A query that has only such words has them marked wherever they are.
        """
        minor = {term.spellings[0][0] for term in self.terms if term.is_minor}
        major = [term for term in self.terms if not term.is_minor]
        if len(self.terms) == 1 or not minor:
            return Marks(self.spellings)
        if not major:
            return Marks(frozenset(minor))
        anywhere = frozenset(spelling for term in major for spelling, _ in term.spellings) - minor
        return Marks(anywhere, frozenset(pair for pair in self.pairs if not minor.isdisjoint(pair)))


def facet(kind: str, value: str) -> str:
    """One term for a version, language, tag or group; the empty value stands for pages that have none."""
    return f"facet{kind}" + hashlib.sha256(value.strip().lower().encode()).hexdigest()[:16]


def group_facets(groups: Iterable[str]) -> list[str]:
    """The facets by which readers find a page of these groups; without groups, that of public pages."""
    return [facet("g", group) for group in groups] or [facet("g", "")]


def rarity(sections: int, holding: int) -> float:
    """Inverse document frequency as BM25 has it (Robertson & Zaragoza 2009, equation 3.3, kept positive)."""
    return math.log(1 + (sections - holding + 0.5) / (holding + 0.5))
