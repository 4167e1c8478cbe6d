"""Count distinct visitors by addition: for each bucket of time, how many visitors had which previous visit.

Sort the visitors of a page into buckets of time, and let `prev` be the last hour
before the bucket in which a visitor was on that page. In a
window of whole buckets `[lo, hi)` each visitor has exactly one first bucket, and
of all its buckets in the window only that one has `prev < lo`: the visitor was
seen in the window, so there is a first one, and every later one has a previous
visit that is at or after `lo`. Therefore

    distinct(page, lo, hi) = SUM(n) WHERE lo <= bucket < hi AND prev < lo

where `n` is the number of visitors with that page, bucket and `prev`. This is
exact, and needs no visitor's identity.

`prev` is an hour whatever the bucket's span, so buckets of different spans may
stand side by side in one window. A longer bucket is made from shorter ones by
addition, too: of the cells within it those with `prev` before its start are the
visitors' first ones, and the others drop out. Counts are signed: a late view
takes back what it changes.

Cells have layers. Three layers are the kinds of views: human, reader (an AI
client that fetches for somebody, or any client that fetches Markdown) and crawler.
A visitor seen as two kinds counts once in their union. So three more layers hold,
for each union, the difference between the union and the sum of its kinds. They are
nearly empty: a union needs no full copy of its own.

Hours are counted from 1970-01-01T00:00 UTC. Pages are numbers of a project; page
0 is the whole site. A slot is `page << 3 | layer`.
"""

import struct
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int64]
AnyInts = npt.NDArray[np.integer[Any]]

HUMAN, READER, CRAWLER = 0, 1, 2  # kinds of views, each a layer
AI, READING, ANY = 3, 4, 5  # layers of unions
UNIONS = {AI: (READER, CRAWLER), READING: (HUMAN, READER), ANY: (HUMAN, READER, CRAWLER)}
LAYERS = 8  # the number of layers in a slot
SITE = 0
MAX_PAGES = 1 << 23
FIRST_KEY = MAX_PAGES  # from here on, numbers are keys of audiences, see `analytics.counting.audiences`

SPANS = (192, 24, 1)  # hours of a bucket; each holds whole buckets of the next
NEVER = 0  # as `prev`: not seen before, or too long ago for an age of two bytes
_NEVER = 0xFFFF  # `NEVER` as an age, while cells are summed

_HEADER = struct.Struct("<BBxxIII")  # version, bytes of a slot; how many ages, cells and view counts
_VERSION = 1
_FEW = 300  # entries that are sorted faster by several keys than by a packed one
_MAX_PIECE = 127  # the largest packed number; larger ones are packed as several


@dataclass(frozen=True)
class Bucket:
    """The cells and view counts of one bucket of time of one project.

    `slot` and `n` are parallel; so is `age`, the hours from `prev` to `start`,
    but for the cells without `prev`, which come last and have none. They are
    sorted by age, then slot. `viewed` (slots) and `count_views` are parallel, too: the number of
    views of each kind of a page. A slot may occur more than once with an age: the
    numbers add up.
    """

    start: int
    age: AnyInts
    slot: AnyInts
    n: AnyInts
    viewed: AnyInts
    views: AnyInts

    @classmethod
    def build(cls, start: int, prev: Ints, slot: Ints, n: Ints, viewed: Ints, views: Ints) -> "Bucket":
        """A bucket from distinct cells sorted by `prev`, latest first and `NEVER` last, then slot."""
        return cls(start, start - prev[prev != NEVER], slot, n, viewed, views)

    @classmethod
    def decode(cls, start: int, blob: bytes) -> "Bucket":
        """Decode what `encode` returned. The arrays share the memory of the blob."""
        version, width, ages, cells, pages = _HEADER.unpack_from(blob)
        if version != _VERSION:
            raise ValueError(f"cells of version {version}, not {_VERSION}")
        at = _HEADER.size
        arrays = []
        for kind, count in (("<u2", ages), (f"<u{width}", cells), ("i1", cells), (f"<u{width}", pages), ("i1", pages)):
            arrays.append(np.frombuffer(blob, kind, count, at))
            at += arrays[-1].nbytes
        return cls(start, *arrays)

    def encode(self) -> bytes:
        """Little-endian: a header, then the five arrays one after the other; numbers in one byte."""
        slot, n, times = _split_large(self.slot, self.n)
        viewed, views, _ = _split_large(self.viewed, self.views)
        age = np.repeat(self.age, times[: len(self.age)])
        width = 4 if max(slot.max(initial=0), viewed.max(initial=0)) > 0xFFFF else 2
        arrays = [age.astype("<u2"), slot.astype(f"<u{width}"), n, viewed.astype(f"<u{width}"), views]
        header = _HEADER.pack(_VERSION, width, len(age), len(slot), len(viewed))
        return header + b"".join(array.tobytes() for array in arrays)

    def first(self, hour: int) -> slice:
        """The cells with `prev` before `hour`, which must not be after `start`."""
        return slice(int(np.searchsorted(self.age, self.start - hour, "right")), None)


def _split_large(slot: AnyInts, n: AnyInts) -> tuple[AnyInts, AnyInts, AnyInts]:
    """Split numbers into pieces of one byte. Returns slots, pieces, and the count of pieces of each number."""
    if not len(n) or (n.max() <= _MAX_PIECE and n.min() >= -_MAX_PIECE):
        return slot, n.astype(np.int8), np.ones(len(n), np.int64)
    times = np.maximum(-(-np.abs(n) // _MAX_PIECE), 1)
    ends = np.cumsum(times)
    pieces = np.repeat(np.sign(n) * _MAX_PIECE, times)
    pieces[ends - 1] = n - np.sign(n) * _MAX_PIECE * (times - 1)
    return np.repeat(slot, times), pieces.astype(np.int8), times


def merge(start: int, buckets: Iterable[Bucket]) -> Bucket:
    """Merge buckets that start at or after `start` into one that starts there."""
    ages, slots, ns, viewed, views = [], [], [], [], []
    for bucket in buckets:
        first = bucket.first(start)
        age = bucket.age[first].astype(np.int64) - (bucket.start - start)
        slots.append(bucket.slot[first])
        ns.append(bucket.n[first])
        ages.append(np.concatenate([age, np.full(len(slots[-1]) - len(age), _NEVER)]))
        viewed.append(bucket.viewed)
        views.append(bucket.views)
    age, slot, n = add_up(_join(ages), _join(slots), n=_join(ns))
    return Bucket(start, age[age != _NEVER], slot, n, *add_up(_join(viewed), n=_join(views)))


def count_visitors(buckets: Iterable[Bucket], lo: int, pages: int) -> Ints:
    """Visitors by page and layer of a window of buckets that starts at hour `lo`: shape (`pages`, 8), row 0 the site.

    The formula of this module. Add up the layers with `sum_layers`.
    """
    slots, ns = [], []
    for bucket in buckets:
        first = bucket.first(lo)
        slots.append(bucket.slot[first])
        ns.append(bucket.n[first])
    return _by_page(slots, ns, pages)


def count_views(buckets: Iterable[Bucket], pages: int) -> Ints:
    """Views by page and kind, in the same shape."""
    buckets = list(buckets)
    return _by_page([bucket.viewed for bucket in buckets], [bucket.views for bucket in buckets], pages)


def count_page(buckets: Iterable[Bucket], lo: int, page: int = SITE) -> tuple[Ints, Ints]:
    """Visitors of the site or one page by layer, and views by kind, of a window of buckets that starts at hour `lo`."""
    seen, viewed = np.zeros(LAYERS), np.zeros(LAYERS)
    for bucket in buckets:
        first = bucket.first(lo)
        slot, n = bucket.slot[first], bucket.n[first]
        mine = slot >> 3 == page
        seen += np.bincount(slot[mine] & (LAYERS - 1), weights=n[mine], minlength=LAYERS)
        own = slice(None) if page == SITE else bucket.viewed >> 3 == page  # views are stored by page alone
        viewed += np.bincount(bucket.viewed[own] & (LAYERS - 1), weights=bucket.views[own], minlength=LAYERS)
    return np.rint(seen).astype(np.int64), np.rint(viewed).astype(np.int64)


def sum_layers(counts: Ints, *, crawlers: bool) -> Ints:
    """Human, AI and total of each page, shape (pages, 3): AI with or without the crawlers."""
    human, reader, crawler = counts[:, HUMAN], counts[:, READER], counts[:, CRAWLER]
    if crawlers:
        return np.stack([human, reader + crawler + counts[:, AI], human + reader + crawler + counts[:, ANY]], axis=1)
    return np.stack([human, reader, human + reader + counts[:, READING]], axis=1)


def cover(lo: int, hi: int, closed: int, spans: Sequence[int] = SPANS) -> list[tuple[int, int, int]]:
    """The fewest buckets that make up `[lo, hi)`, as ranges (span, first start, end).

    Buckets longer than an hour are there only when they end by hour `closed`.
    """
    span, *shorter = spans
    if not shorter:
        return [(span, lo, hi)] if lo < hi else []
    first, end = -(-lo // span) * span, min(hi, closed) // span * span
    if first >= end:
        return cover(lo, hi, closed, shorter)
    return [*cover(lo, first, closed, shorter), (span, first, end), *cover(end, hi, closed, shorter)]


def cover_steps(steps: Sequence[tuple[int, int]], closed: int) -> list[tuple[int, int, int]]:
    """The buckets that make up each of some steps of whole hours, as few ranges. The steps follow each other.

    No bucket lies across two steps, so a bucket belongs to the step in which it starts.
    """
    ranges: list[tuple[int, int, int]] = []
    for span, first, end in sorted(part for lo, hi in steps for part in cover(lo, hi, closed)):
        if ranges and ranges[-1][0] == span and ranges[-1][2] == first:
            ranges[-1] = (span, ranges[-1][1], end)
        else:
            ranges.append((span, first, end))
    return ranges


def split(buckets: Iterable[Bucket], steps: Sequence[tuple[int, int]]) -> list[list[Bucket]]:
    """The buckets of each of some steps that follow each other, by the hours in which they start."""
    starts = [first for first, _ in steps]
    parts: list[list[Bucket]] = [[] for _ in steps]
    for bucket in buckets:
        parts[bisect_right(starts, bucket.start) - 1].append(bucket)
    return parts


def sort_unique(*parts: Ints) -> Ints:
    """The distinct numbers of all parts, sorted. `np.unique` hashes them: ten million take 14 s instead of 0.2."""
    numbers = np.concatenate(parts)
    numbers.sort(kind="stable")  # merges parts that are sorted
    differs = numbers[1:] != numbers[:-1]
    return numbers if differs.all() else numbers[np.concatenate([[True], differs])]


def add_up(*keys: AnyInts, n: AnyInts) -> list[Any]:
    """The distinct keys, sorted by the first, then the next, and the sum of `n` for each, without zeros."""
    if not len(n):
        return [*(np.empty(0, np.int64) for _ in keys), np.empty(0, np.int64)]
    packing = _Packing.find([*keys, n]) if len(n) > _FEW else None
    if packing is None:
        order = np.lexsort(keys[::-1])
        sorted_keys: Sequence[AnyInts] = [key[order] for key in keys]
        changes = np.logical_or.reduce([key[1:] != key[:-1] for key in sorted_keys])
        numbers = n[order].astype(np.int64)
    else:
        packed = np.sort(packing.pack([*keys, n]))
        *sorted_keys, numbers = packing.unpack(packed)
        changes = np.diff(packed >> packing.widths[-1]) != 0
    starts = np.flatnonzero(np.concatenate([[True], changes]))
    sums = np.add.reduceat(numbers, starts)
    kept = sums != 0
    first = starts[kept]
    return [*(key[first] for key in sorted_keys), sums[kept]]


@dataclass(frozen=True)
class _Packing:
    """How to write several columns as one number for each row, in their order. numpy sorts numbers fastest."""

    lows: list[int]
    widths: list[int]  # bits

    @classmethod
    def find(cls, columns: Sequence[AnyInts]) -> "_Packing | None":
        """The packing of these columns; None if their numbers need more than 63 bits."""
        lows = [int(column.min()) for column in columns]
        widths = [(int(column.max()) - low).bit_length() for column, low in zip(columns, lows, strict=True)]
        return cls(lows, widths) if sum(widths) <= 63 else None

    def pack(self, columns: Sequence[AnyInts]) -> Ints:
        """One number for each row."""
        packed: Ints = np.zeros(len(columns[0]), np.int64)
        for column, low, width in zip(columns, self.lows, self.widths, strict=True):
            packed <<= width
            packed += column.astype(np.int64) - low
        return packed

    def unpack(self, packed: Ints) -> list[Ints]:
        """The columns again."""
        columns = []
        for low, width in zip(self.lows[::-1], self.widths[::-1], strict=True):
            columns.append((packed & ((1 << width) - 1)) + low)
            packed = packed >> width
        return columns[::-1]


def _by_page(slots: list[AnyInts], ns: list[AnyInts], pages: int) -> Ints:
    slot, n = _join(slots), _join(ns)
    sums = np.bincount(slot, weights=n, minlength=pages * LAYERS)
    return np.rint(sums).astype(np.int64).reshape(-1, LAYERS)


def _join(arrays: list[Any]) -> Any:
    return np.concatenate(arrays) if arrays else np.empty(0, np.int64)
