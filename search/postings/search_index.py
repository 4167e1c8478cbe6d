"""The index of a project: its segments as one, without the sections that are gone. It finds candidates and their facts.

Candidates are ranked by BM25 as SQLite's FTS5 computes it (Robertson & Zaragoza 2009), over the weighted counts of a
term in the fields of a section.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from docsite.core.sized_cache import SizedCache
from search.postings.segments import FIELDS, Array, Segment, hash_facet, hash_term
from search.text.terms import EngineQuery, Entry, Query

WEIGHTS = {"title": 10.0, "heading": 5.0, "trail": 3.0, "about": 3.0}  # of a field, against 1 for the body
SATURATION, LENGTH = 1.2, 0.75
MIN_RARITY = 1e-6
MAX_POSTING_BYTES = 16_000_000  # of the postings that were read lately, and never more than the segments have
_TERM_BYTES = 500  # of the postings of a term, without their sections
_POSTING_BYTES = 16  # of each section in them
MAX_CANDIDATES = 2_000  # that an index keeps
_CANDIDATE_BYTES = 900
_PLACE_BYTES = 9  # of `_norms` and `_is_live`


def weigh_fields(weights: Mapping[str, float]) -> Array:
    """For each value of `Segment.fields` the sum of its counts, each times the weight of its field."""
    packed = np.arange(1 << (4 * len(FIELDS)))
    return np.asarray(sum(((packed >> (4 * at)) & 15) * weights[name] for at, name in enumerate(FIELDS)), np.float64)


_WEIGHED = weigh_fields(WEIGHTS)


class Candidate(NamedTuple):
    """A section that may be a result. `above` has the terms of title, heading and description, a blank around each."""

    place: int
    section_id: int
    document_id: int
    position: int
    boost: float
    is_empty: bool
    path: str
    language: str
    version: str
    above: str


@dataclass(frozen=True, eq=False)
class Postings:
    """The sections that have a term: their places, which ascend, counts in their bodies, and their `fields`."""

    docs: Array
    bodies: Array
    fields: Array
    sections: int  # of the index
    norms: Array  # of all its places

    @cached_property
    def impacts(self) -> Array:
        """What the term adds to the score of each section, by BM25."""
        rarity = max(np.log((self.sections - len(self.docs) + 0.5) / (len(self.docs) + 0.5)), MIN_RARITY)
        frequency = self.bodies + _WEIGHED[self.fields]
        return np.asarray(rarity * (frequency * (SATURATION + 1.0) / (frequency + self.norms[self.docs])))

    def locate(self, places: Array) -> tuple[Array, Array]:
        """Where sections at some places are among these, and whether they are there at all."""
        at = self.docs.searchsorted(places)
        return at, self.docs.take(at, mode="clip") == places


class SearchIndex:
    """The sections of some segments, by name, without those that are gone. Each has a place over all segments."""

    def __init__(self, segments: Mapping[str, Segment], gone: Sequence[int] = ()) -> None:
        self.by_name = segments
        self.segments = list(segments.values())
        self._segment_bytes = sum(segment.nbytes for segment in self.segments)
        self._max_posting_bytes = min(self._segment_bytes, MAX_POSTING_BYTES)
        self._bases = np.cumsum([0, *(len(segment.ids) for segment in self.segments)]).tolist()
        self.ids = self._join("ids", np.int64)
        self.documents = self._join("documents", np.int64)
        self.body_lengths = self._join("body_lengths", np.uint32)
        self.title_sizes = self._join("title_sizes", np.uint16)
        self.heading_sizes = self._join("heading_sizes", np.uint16)
        self.positions = self._join("positions", np.uint32)
        self.boosts = self._join("boosts", np.float64)
        self._select(~np.isin(self.ids, np.array(gone, np.int64)) if gone else None)

    def _select(self, is_live: Array | None) -> None:
        """Find, and count, the sections at some places only; None: all of them."""
        lengths = self._join("lengths", np.uint32).astype(np.float64)
        live = lengths if is_live is None else lengths[is_live]
        self._is_live = is_live
        self.sections = len(live)
        self._norms = SATURATION * ((1 - LENGTH) + LENGTH * lengths / ((live.sum() / (len(live) or 1)) or 1.0))
        # What searches read lately, most of which the next ones read again.
        self._postings: SizedCache[int, Postings] = SizedCache()
        self._candidates: dict[int, Candidate] = {}
        self._names: dict[str, str] = {}  # one copy of each path, language and version of the candidates

    @classmethod
    def build(cls, entries: Iterable[Entry]) -> "SearchIndex":
        """The index of some sections, in memory."""
        return cls({"": Segment.build(entries)})

    def restrict(self, facets: Iterable[str]) -> "SearchIndex":
        """The index of the sections with one of some facets. Its counts and lengths are theirs; columns are shared."""
        part = copy(self)
        part._select(self._mark_having(facets))
        return part

    @property
    def nbytes(self) -> int:
        """The size of its segments, and of the largest cache of decoded postings."""
        return self._segment_bytes + self._max_kept_bytes

    @property
    def part_nbytes(self) -> int:
        """The same for an index from `restrict`, whose segments are those of another one."""
        return _PLACE_BYTES * len(self.ids) + self._max_kept_bytes

    @property
    def _max_kept_bytes(self) -> int:
        return self._max_posting_bytes + _CANDIDATE_BYTES * min(self.sections, MAX_CANDIDATES)

    def find(self, query: Query, limit: int) -> list[Candidate]:
        """The likeliest sections, best first."""
        found = np.empty(0, np.int64)
        for engine_query in query.engine_queries:
            found = self.rank(engine_query, query.facets, limit)
            if len(found) == limit:
                break
        return self.load(found)

    def rank(self, query: EngineQuery, facets: Sequence[Sequence[str]], limit: int) -> Array:
        """The places of the likeliest sections by BM25, best first."""
        having = [self._mark_having(alternatives) for alternatives in facets]
        if not all(passing.any() for passing in having):
            return np.empty(0, np.int64)
        needed = sorted(query.needed)
        # A needed term counts twice where other terms are scored, too.
        terms = needed if query.needed == query.scored.keys() else [*needed, *sorted(query.scored)]
        postings = self._find(map(hash_term, terms))
        chosen = np.zeros(len(self.ids), bool)
        for one in postings[: len(needed)]:
            chosen[one.docs] = True
        for passing in having:
            chosen &= passing
        docs = np.concatenate([_NONE, *(posting.docs for posting in postings)])
        found = zip(postings, map(query.scored.__getitem__, terms), strict=True)
        weighed = (one.impacts * share if share < 1 else one.impacts for one, share in found)
        impacts = np.concatenate([_NONE, *weighed])
        scores = np.bincount(docs, impacts, len(self.ids))
        places = np.flatnonzero(chosen)
        if len(places) > limit:
            least = np.partition(scores[places], -limit)[-limit]
            places = places[scores[places] >= least]
        return places[np.lexsort((self.ids[places], -scores[places]))][:limit]

    def load(self, places: Array) -> list[Candidate]:
        """The sections at some places."""
        wanted, known = places.tolist(), self._candidates
        if missing := [place for place in wanted if place not in known]:
            if len(known) + len(missing) > MAX_CANDIDATES:
                known, self._names = {}, {}
                self._candidates, missing = known, wanted
            known.update(zip(missing, self._load(np.array(missing)), strict=True))
        return [known[place] for place in wanted]

    def _load(self, places: Array) -> Iterator[Candidate]:
        columns = (
            places,
            self.ids[places],
            self.documents[places],
            self.positions[places],
            self.boosts[places],
            self.body_lengths[places] == 0,
        )
        rows = zip(*(column.tolist() for column in columns), strict=True)
        share = self._names.setdefault
        for row, (path, language, version, above) in zip(rows, self._read_texts(places), strict=True):
            yield Candidate._make((*row, share(path, path), share(language, language), share(version, version), above))

    def load_sections(self, section_ids: Sequence[int]) -> list[Candidate]:
        """The sections with some ids, in their order, as far as the index has them."""
        if not len(self.ids):
            return []
        order = self._by_id
        wanted = np.array(section_ids, np.int64)
        places = order[np.searchsorted(self.ids, wanted, sorter=order).clip(max=len(order) - 1)]
        is_there = self.ids[places] == wanted
        if self._is_live is not None:
            is_there &= self._is_live[places]
        return self.load(places[is_there])

    def filter(self, candidates: Sequence[Candidate], facets: Sequence[Sequence[str]]) -> list[Candidate]:
        """The candidates with one facet of each group."""
        places = np.array([candidate.place for candidate in candidates], np.int64)
        passing = np.ones(len(places), bool)
        for alternatives in facets:
            passing &= self.have_facet(alternatives, places)
        return [one for one, passes in zip(candidates, passing.tolist(), strict=True) if passes]

    def count(self, terms: Sequence[str], places: Array) -> tuple[Array, Array]:
        """How often the bodies at some places have each term, and their `fields`: two arrays [terms, places]."""
        bodies = np.zeros((len(terms), len(places)), np.uint16)
        fields = np.zeros((len(terms), len(places)), np.uint16)
        wanted = places.astype(np.uint32)  # as postings have them
        for number, postings in enumerate(self._find(map(hash_term, terms))):
            if len(postings.docs):
                at, is_there = postings.locate(wanted)
                np.multiply(postings.bodies.take(at, mode="clip"), is_there, out=bodies[number])
                np.multiply(postings.fields.take(at, mode="clip"), is_there, out=fields[number])
        return bodies, fields

    def holds(self, place: int, terms: Iterable[str]) -> bool:
        """Whether the section at a place has one of the terms."""
        wanted = np.array([place], np.uint32)
        return any(len(posting.docs) and posting.locate(wanted)[1][0] for posting in self._find(map(hash_term, terms)))

    def _mark_having(self, facets: Iterable[str]) -> Array:
        """For each section, whether it has one of some facet terms."""
        having = np.zeros(len(self.ids), bool)
        for postings in self._find(map(hash_facet, facets)):
            having[postings.docs] = True
        return having

    def have_facet(self, facets: Iterable[str], places: Array) -> Array:
        """Whether the sections at some places have one of some facet terms."""
        having = np.zeros(len(places), bool)
        for postings in self._find(map(hash_facet, facets)):
            if len(postings.docs):
                having |= postings.locate(places.astype(np.uint32))[1]
        return having

    def _find(self, keys: Iterable[int]) -> list[Postings]:
        """The postings of each term."""
        wanted = list(keys)
        found = {key: postings for key in wanted if (postings := self._postings.get(key))}
        if missing := [key for key in wanted if key not in found]:
            for key, postings in zip(missing, self._read_postings(missing), strict=True):
                found[key] = postings
                nbytes = _TERM_BYTES + _POSTING_BYTES * len(postings.docs)
                self._postings.put(key, postings, nbytes, self._max_posting_bytes)
        return [found[key] for key in wanted]

    def _read_postings(self, keys: Sequence[int]) -> Iterator[Postings]:
        wanted = np.array(keys, np.uint64)
        spans = [_find_spans(segment, wanted) for segment in self.segments]
        for number in range(len(wanted)):
            found = [
                (
                    segment.docs[start:end] + np.uint32(base) if base else segment.docs[start:end],
                    segment.bodies[start:end],
                    segment.fields[start:end],
                )
                for segment, base, of_segment in zip(self.segments, self._bases, spans, strict=False)
                for start, end in [of_segment[number]]
                if start < end
            ]
            if len(found) == 1:
                docs, bodies, fields = found[0]
            elif found:
                docs, bodies, fields = map(np.concatenate, zip(*found, strict=True))
            else:
                docs, bodies, fields = _EMPTY
            if self._is_live is not None:
                live = self._is_live[docs]
                docs, bodies, fields = docs[live], bodies[live], fields[live]
            yield Postings(docs, bodies, fields, self.sections, self._norms)

    def _join(self, name: str, kind: type) -> Array:
        """A column over all segments."""
        return np.concatenate([np.empty(0, kind), *(getattr(segment, name) for segment in self.segments)])

    @cached_property
    def _by_id(self) -> Array:
        return np.argsort(self.ids, kind="stable")

    def _read_texts(self, places: Array) -> Iterator[Sequence[str]]:
        """Path, language, version and names of the sections at some places."""
        numbers = np.searchsorted(self._bases, places, "right") - 1  # of their segments
        starts, ends = np.empty(len(places), np.int64), np.empty(len(places), np.int64)
        for number in set(numbers.tolist()):
            here = numbers == number
            rows = places[here] - self._bases[number]
            starts[here] = self.segments[number].text_starts[rows]
            ends[here] = self.segments[number].text_starts[rows + 1]
        texts = [memoryview(segment.texts) for segment in self.segments]  # type: ignore[arg-type]  # arrays are buffers
        for number, start, end in zip(numbers.tolist(), starts.tolist(), ends.tolist(), strict=True):
            yield str(texts[number][start:end], "utf-8").split("\0")


_NONE = np.empty(0, np.uint32)
_EMPTY = (_NONE, np.empty(0, np.uint16), np.empty(0, np.uint16))


def _find_spans(segment: Segment, keys: Array) -> list[tuple[int, int]]:
    """Where the postings of some terms begin and end. A term that the segment lacks has none."""
    if not len(segment.keys):
        return [(0, 0)] * len(keys)
    at = np.searchsorted(segment.keys, keys)
    at[at == len(segment.keys)] = 0
    is_there = segment.keys[at] == keys
    return list(zip(segment.starts[at].tolist(), segment.starts[at + is_there].tolist(), strict=True))
