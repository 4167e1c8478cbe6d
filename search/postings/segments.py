"""A segment: the postings and columns of some sections as arrays, and as one run of bytes. No database.

A segment never changes, so processes can share its bytes. It knows terms by 64 bits of their hash: sorted numbers are
searched in a file as well as in memory, and segments are merged without the words.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.text.terms import Entry

Array = NDArray[Any]

FIELDS = ("title", "heading", "trail", "about")  # four bits each of `fields`, the title's lowest
MAX_COUNT, MAX_BODY_COUNT = 15, 65_535  # a term that is there more often counts as often as this
_ALIGNMENT = 8  # bytes; where arrays begin
_TYPES = {
    "keys": "<u8", "starts": "<i8", "docs": "<u4", "bodies": "<u2", "fields": "<u2",
    "ids": "<i8", "documents": "<i8", "positions": "<u4", "lengths": "<u4", "body_lengths": "<u4",
    "title_sizes": "<u2", "heading_sizes": "<u2", "boosts": "<f8", "text_starts": "<i8", "texts": "<u1",
}  # fmt: skip
_COLUMNS = (
    "ids", "documents", "positions", "lengths", "body_lengths", "title_sizes", "heading_sizes", "boosts",
)  # fmt: skip


@lru_cache(maxsize=50_000)
def hash_term(term: str) -> int:
    """The hash by which a segment knows a term, 64 bits."""
    return int.from_bytes(hashlib.blake2b(term.encode(), digest_size=8).digest(), "little")


def hash_facet(facet: str) -> int:
    """The same for a facet. No word of a text has it, since it begins with a blank."""
    return hash_term(f" {facet}")


@dataclass(frozen=True, eq=False)
class Segment:
    """Postings, then one column for each fact of a section. The place of a section is its row in the columns.

    The postings of the term `keys[i]` are those from `starts[i]` to `starts[i + 1]`: the places `docs`, which ascend,
    how often the bodies have the term, and how often each of FIELDS has it. Facets have postings, too.
    """

    keys: Array  # ascend
    starts: Array
    docs: Array
    bodies: Array
    fields: Array
    ids: Array  # of sections; ascend
    documents: Array
    positions: Array
    lengths: Array  # in terms, with the facets
    body_lengths: Array
    title_sizes: Array  # in different terms
    heading_sizes: Array
    boosts: Array
    text_starts: Array
    texts: Array  # UTF-8 of path, language, version, and title, heading and about as terms; NUL between them

    @property
    def nbytes(self) -> int:
        """The size of its arrays."""
        return sum(getattr(self, name).nbytes for name in _TYPES)

    def encode(self) -> bytes:
        """The bytes to store."""
        arrays = [np.asarray(getattr(self, name), kind) for name, kind in _TYPES.items()]
        head = json.dumps([len(array) for array in arrays]).encode()
        pieces = [len(head).to_bytes(_ALIGNMENT, "little"), head]
        for array in arrays:
            pieces += [bytes(-len(pieces[-1]) % _ALIGNMENT), array.tobytes()]
        return b"".join(pieces)

    @classmethod
    def decode(cls, stored: bytes | Array) -> "Segment":
        """The segment of some bytes, or of a mapped file, which must stay as they are. Nothing is copied."""
        at = _ALIGNMENT + int.from_bytes(bytes(stored[:_ALIGNMENT]), "little")
        arrays = {}
        lengths = json.loads(bytes(stored[_ALIGNMENT:at]))
        for (name, kind), length in zip(_TYPES.items(), lengths, strict=True):
            at += -at % _ALIGNMENT
            arrays[name] = np.frombuffer(stored, kind, length, at)
            at += arrays[name].nbytes
        return cls(**arrays)

    @classmethod
    def build(cls, entries: Iterable[Entry]) -> "Segment":
        """The segment of some sections."""
        rows = sorted(entries, key=lambda entry: entry.section_id)
        numbers: defaultdict[str, int] = defaultdict(count().__next__)  # of the terms, in the order of their coming
        terms: list[int] = []
        sizes: list[int] = []  # of each field of each section, in terms
        for row in rows:
            texts = [getattr(row, name).split() for name in FIELDS]
            for field in (row.body.split(), *texts, [f" {facet}" for facet in row.facets.split()]):
                sizes.append(len(field))
                terms += map(numbers.__getitem__, field)
        widths = np.array(sizes, np.int64).reshape(len(rows), len(FIELDS) + 2)
        texts = [_join_texts(row.path, row.language, row.version, _join_names(row)).encode() for row in rows]
        kinds, docs = (np.repeat(np.tile(one, two), widths.ravel()) for one, two in (
            (np.arange(widths.shape[1]), len(rows)), (np.arange(len(rows)).repeat(widths.shape[1]), 1)
        ))  # fmt: skip
        return cls(
            **_count(
                np.array([hash_term(term) for term in numbers], np.uint64), np.array(terms, np.int64), docs, kinds
            ),
            ids=np.array([row.section_id for row in rows], np.int64),
            documents=np.array([row.document_id for row in rows], np.int64),
            positions=np.array([row.position for row in rows], np.uint32),
            lengths=widths.sum(axis=1).astype(np.uint32),
            body_lengths=widths[:, 0].astype(np.uint32),
            title_sizes=np.array([len(set(row.title.split())) for row in rows], np.uint16),
            heading_sizes=np.array([len(set(row.heading.split())) for row in rows], np.uint16),
            boosts=np.array([row.boost for row in rows], np.float64),
            text_starts=np.cumsum([0, *map(len, texts)], dtype=np.int64),
            texts=np.frombuffer(b"".join(texts), np.uint8),
        )


def merge(segments: Iterable[Segment], gone: Array) -> Segment:
    """One segment of several, without the sections that have these ids."""
    # In the order of their ids, postings come out in order: then a stable sort by key is quick, and enough.
    parts = sorted(segments, key=lambda segment: segment.ids[:1].tolist())
    kept = [~np.isin(part.ids, gone) for part in parts]
    ids = np.concatenate([np.empty(0, np.int64), *(part.ids[keep] for part, keep in zip(parts, kept, strict=True))])
    order = np.argsort(ids, kind="stable")
    places = np.argsort(order, kind="stable")
    columns: dict[str, list[Array]] = {name: [np.empty(0, kind)] for name, kind in _TYPES.items()}
    texts: list[Array] = []
    base = 0
    for part, keep in zip(parts, kept, strict=True):
        new = np.full(len(keep), -1, np.int64)
        new[keep] = places[base : (base := base + int(keep.sum()))]
        docs = new[part.docs]
        is_kept = docs >= 0
        columns["keys"].append(np.repeat(part.keys, np.diff(part.starts))[is_kept])
        columns["docs"].append(docs[is_kept].astype(np.uint32))
        columns["bodies"].append(part.bodies[is_kept])
        columns["fields"].append(part.fields[is_kept])
        for name in _COLUMNS:
            columns[name].append(getattr(part, name)[keep])
        starts = part.text_starts.tolist()
        texts += [part.texts[starts[place] : starts[place + 1]] for place in np.flatnonzero(keep).tolist()]
    joined = {name: np.concatenate(arrays) for name, arrays in columns.items()}
    is_in_order = bool((order[1:] > order[:-1]).all())
    by_key = np.argsort(joined["keys"], kind="stable") if is_in_order else np.lexsort((joined["docs"], joined["keys"]))
    keys, starts_of_keys = _group(joined["keys"][by_key])
    texts = [texts[place] for place in order.tolist()]
    return Segment(
        keys=keys,
        starts=starts_of_keys,
        **{name: joined[name][by_key] for name in ("docs", "bodies", "fields")},
        **{name: joined[name][order] for name in _COLUMNS},
        text_starts=np.cumsum([0, *map(len, texts)], dtype=np.int64),
        texts=np.concatenate([np.empty(0, np.uint8), *texts]),
    )


def _count(hashes: Array, terms: Array, docs: Array, kinds: Array) -> Mapping[str, Array]:
    """Postings of single terms. `terms` are places in `hashes`. Of the `kinds`, 0 is the body, then come FIELDS."""
    by_hash = np.argsort(hashes)
    ranks = np.empty(len(hashes), np.int64)
    ranks[by_hash] = np.arange(len(hashes))
    width = int(docs.max(initial=0)) + 1
    pairs, at = np.unique(ranks[terms] * width + docs, return_inverse=True)
    size = len(pairs)
    counts = [np.bincount(at[kinds == kind], minlength=size) for kind in range(len(FIELDS) + 1)]
    fields = np.zeros(size, np.uint16)
    for number, found in enumerate(counts[1:]):
        fields |= (found.clip(max=MAX_COUNT) << (4 * number)).astype(np.uint16)
    keys, starts = _group(hashes[by_hash][pairs // width])
    return {
        "keys": keys,
        "starts": starts,
        "docs": (pairs % width).astype(np.uint32),
        "bodies": counts[0].clip(max=MAX_BODY_COUNT).astype(np.uint16),
        "fields": fields,
    }


def _group(keys: Array) -> tuple[Array, Array]:
    """The different ones of sorted keys, and where each begins; the last start is the end."""
    begins = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]])) if len(keys) else np.empty(0, np.int64)
    return keys[begins], np.append(begins, len(keys)).astype(np.int64)


def _join_texts(*texts: str) -> str:
    return "\0".join(text.replace("\0", " ") for text in texts)


def _join_names(row: Entry) -> str:
    """The terms that stand side by side in title, heading and description, with two blanks between the fields."""
    return f" {row.title}  {row.heading}  {row.about} "
