"""Trails: when each visitor was seen on which page, and what sightings change in the cells.

A sighting is one (visitor, page, kind, hour), however many views it had. The
trail of a visitor holds those of the period in which raw views are kept, so that
a late view finds its place, and of the time before only the latest of each page
and kind. It is packed as sorted little-endian 64-bit numbers,
`page << 34 | kind << 32 | hour`.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analytics.counting.cells import LAYERS, NEVER, UNIONS, AnyInts, Ints, add_up

MAX_VISITS = 50_000  # of one visitor; beyond, older ones are kept as if they were older still

Columns = tuple[Ints, Ints, Ints, Ints]  # hour, slot, prev and n of cells

_DTYPE = "<i8"
_HOUR = (1 << 32) - 1
_LAYER = 7


@dataclass(frozen=True)
class Visits:
    """Parallel arrays: `who` numbers the visitors at hand, `entry` is packed as in a trail."""

    who: Ints
    entry: Ints

    @property
    def page(self) -> Ints:
        """The page's number; 0 is the site."""
        return self.entry >> 34

    @property
    def kind(self) -> Ints:
        """Human, reader or crawler."""
        return (self.entry >> 32) & 3

    @property
    def hour(self) -> Ints:
        """Hours since 1970."""
        return self.entry & _HOUR

    def __len__(self) -> int:
        return len(self.who)

    def __getitem__(self, chosen: AnyInts | npt.NDArray[np.bool_] | slice) -> "Visits":
        return Visits(self.who[chosen], self.entry[chosen])

    def __add__(self, other: "Visits") -> "Visits":
        return Visits(np.concatenate([self.who, other.who]), np.concatenate([self.entry, other.entry]))

    def sorted(self) -> "Visits":
        """By visitor, page, kind and hour, each once."""
        ordered = self[np.lexsort((self.entry, self.who))]
        new = (ordered.who[1:] != ordered.who[:-1]) | (ordered.entry[1:] != ordered.entry[:-1])
        return ordered[np.concatenate([[True], new])] if len(ordered) else ordered

    def positions(self, others: "Visits") -> Ints:
        """Where each of other sightings stands, or would stand, among these, which are sorted: a binary search."""
        low, high = (np.searchsorted(self.who, others.who, side) for side in ("left", "right"))
        while (open_ := low < high).any():
            middle = np.minimum((low + high) // 2, len(self) - 1)
            before = self.entry[middle] < others.entry
            low, high = np.where(open_ & before, middle + 1, low), np.where(open_ & ~before, middle, high)
        return low

    def contain(self, others: "Visits", places: Ints) -> npt.NDArray[np.bool_]:
        """Which of other sightings are among these."""
        if not len(self):
            return np.zeros(len(others), bool)
        at = np.minimum(places, len(self) - 1)
        found: npt.NDArray[np.bool_] = (self.who[at] == others.who) & (self.entry[at] == others.entry)
        return found

    def insert(self, others: "Visits", places: Ints) -> "Visits":
        """With other sightings at their places."""
        return Visits(np.insert(self.who, places, others.who), np.insert(self.entry, places, others.entry))

    def exclude(self, others: "Visits") -> "Visits":
        """Those that are not among others; both are sorted."""
        return self[~others.contain(self, others.positions(self))] if len(others) else self

    def pairs(self) -> Ints:
        """One number for each visitor and page."""
        return self.who << 23 | self.page


@dataclass(frozen=True)
class Change:
    """What new sightings do: cells that are added or taken back, and the trails as they are now.

    The cells are sorted by hour, then as in a bucket: latest `prev` first, then slot.
    """

    hour: Ints
    slot: Ints
    prev: Ints
    n: Ints
    trails: Visits


def from_views(who: Ints, page: Ints, kind: Ints, hour: Ints) -> Visits:
    """Sightings of pages and of the site from views, each once."""
    entry = kind << 32 | hour
    both = Visits(np.concatenate([who, who]), np.concatenate([page << 34 | entry, entry]))
    return both.sorted()


def decode(blobs: Sequence[bytes]) -> Visits:
    """The sightings of several trails; `who` is the place of a trail in the sequence."""
    lengths = np.fromiter((len(blob) // 8 for blob in blobs), np.int64, len(blobs))
    return Visits(np.repeat(np.arange(len(blobs)), lengths), np.frombuffer(b"".join(blobs), _DTYPE))


def encode(trails: Visits, count: int) -> list[bytes]:
    """The packed trails of visitors 0 to `count` - 1, from sorted sightings."""
    packed = trails.entry.astype(_DTYPE).tobytes()
    ends = (np.searchsorted(trails.who, np.arange(count), "right") * 8).tolist()
    return [packed[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def add_visits(known: Visits, seen: Visits, trimmed: Ints, horizon: int) -> Change:
    """Put sightings into trails, wherever in time they belong, and return what that changes in the cells.

    The change is the cells of the trails after, less the cells of the trails
    before: a sighting in order adds one cell; one that comes late adds its own and
    moves the next one's `prev`; one that is known adds nothing. `trimmed` is the
    hour before which each visitor's trail holds only the latest sightings. One that
    is older than those has lost its place: it counts as a new visitor's, once for its
    hour. `horizon` is the number of hours after which an absence is forgotten.
    """
    places = known.positions(seen)
    new = ~known.contain(seen, places)
    fresh, places = seen[new], places[new]
    near = _of_same_visitors_and_pages(known, fresh)
    trails = known.insert(fresh, places)
    lost = _is_older_than_kept(fresh, near, trimmed)
    orphans, fresh = fresh[lost], fresh[~lost]
    near = _leave_out_unchanged(near, fresh)
    before = _cells(near, horizon)
    after = _cells(near.insert(fresh, near.positions(fresh)), horizon)
    if len(orphans):
        never, one = np.full(len(orphans), NEVER), np.ones(len(orphans), np.int64)
        after = _concatenate(after, (orphans.hour, orphans.page << 3 | orphans.kind, never, one))
    return Change(*_subtract(after, before), trails)


def replace_visits(before: Visits, after: Visits, horizon: int) -> Change:
    """Put one set of sorted sightings in the place of another of the same visitors, and return what that changes."""
    return Change(*_subtract(_cells(after, horizon), _cells(before, horizon)), after)


def count_new_visitors(known: Visits, seen: Visits, pages: int) -> Ints:
    """How many visitors of `seen` are not in `known`, by page and layer, in the shape of `cells.count_visitors`.

    What matters is whether, not when: both are taken as of one window.
    """
    near, seen = (
        Visits(some.who, some.entry >> 32 << 32 | 1) for some in (_of_same_visitors_and_pages(known, seen), seen)
    )
    counts = np.zeros(pages * LAYERS, np.int64)
    for some, sign in ((near + seen, 1), (near, -1)):
        _, slot, _, n = _cells(some.sorted(), 0)
        np.add.at(counts, slot, sign * n)
    return counts.reshape(-1, LAYERS)


def trim(trails: Visits, before: Ints, horizon: int) -> Visits:
    """Of what is before each visitor's hour `before`, keep the latest of each page and kind, within the horizon."""
    limit = before[trails.who]
    return trails[~_has_later_visit(trails, limit) & (trails.hour >= limit - horizon)]


def _has_later_visit(trails: Visits, limit: Ints) -> npt.NDArray[np.bool_]:
    """Which sightings have a later one of the same page and kind that is before its hour `limit`, too."""
    older: npt.NDArray[np.bool_] = trails.hour < limit
    same = (trails.who[1:] == trails.who[:-1]) & (trails.entry[1:] >> 32 == trails.entry[:-1] >> 32)
    older[:-1] &= same & older[1:]
    older[-1:] = False
    return older


def _of_same_visitors_and_pages(known: Visits, seen: Visits) -> Visits:
    """What is known of the visitors and pages of `seen`."""
    return known[np.isin(known.pairs(), np.unique(seen.pairs()))]


def _leave_out_unchanged(near: Visits, fresh: Visits) -> Visits:
    """Leave out what comes before the sighting before the first fresh one: it makes the same cells as before."""
    if not len(fresh):
        return near[:0]
    pairs, place = np.unique(fresh.pairs(), return_inverse=True)
    first = np.full(len(pairs), _HOUR)
    np.minimum.at(first, place, fresh.hour)
    at = np.minimum(np.searchsorted(pairs, near.pairs()), len(pairs) - 1)
    near, at = near[found := pairs[at] == near.pairs()], at[found]
    return near[~_has_later_visit(near, first[at])]


def hours_to_trim_before(trails: Visits, count: int) -> Ints:
    """For each visitor the hour before which to trim so that about `MAX_VISITS` are left; 0 for nearly all."""
    before = np.zeros(count, np.int64)
    for who in np.flatnonzero(np.bincount(trails.who, minlength=count) > MAX_VISITS):
        hours = np.sort(trails.hour[trails.who == who])
        before[who] = hours[-MAX_VISITS // 2]
    return before


def _is_older_than_kept(fresh: Visits, near: Visits, trimmed: Ints) -> npt.NDArray[np.bool_]:
    """Which sightings are older than the latest one known of that visitor and page from before the trail's detail."""
    old = fresh.hour < trimmed[fresh.who]
    kept = near[near.hour < trimmed[near.who]]
    if not old.any() or not len(kept):
        return np.zeros(len(fresh), bool)
    pairs, place = np.unique(kept.pairs(), return_inverse=True)
    latest = np.zeros(len(pairs), np.int64)
    np.maximum.at(latest, place, kept.hour)
    at = np.minimum(np.searchsorted(pairs, fresh.pairs()), len(pairs) - 1)
    lost: npt.NDArray[np.bool_] = old & (pairs[at] == fresh.pairs()) & (latest[at] >= fresh.hour)
    return lost


def _cells(trails: Visits, horizon: int) -> Columns:
    """The cells that sorted sightings make: hour, slot, prev and n, in all layers."""
    page, kind, hour = trails.page, trails.kind, trails.hour
    parts = [(*_link_visits(trails.who, page << 3 | kind, hour, horizon), 1)]
    pairs = trails.pairs()
    mixed = np.isin(pairs, _pairs_of_several_kinds(pairs, kind))
    if mixed.any():
        who, page, kind, hour = trails.who[mixed], page[mixed], kind[mixed], hour[mixed]
        for layer, kinds in UNIONS.items():
            of = np.isin(kind, kinds)
            apart = _link_visits(who[of], page[of] << 3 | kind[of], hour[of], horizon)
            of = of[order := np.lexsort((hour, page, who))]
            union = _link_visits(who[order][of], page[order][of] << 3 | layer, hour[order][of], horizon)
            parts += [(*union, 1), (apart[0], apart[1] & ~_LAYER | layer, apart[2], -1)]
    hours, slots, prevs = (np.concatenate([part[column] for part in parts]) for column in range(3))
    return hours, slots, prevs, np.concatenate([np.full(len(part[0]), part[3]) for part in parts])


def _concatenate(*cells: Columns) -> Columns:
    hour, slot, prev, n = (np.concatenate(columns) for columns in zip(*cells, strict=True))
    return hour, slot, prev, n


def _subtract(after: Columns, before: Columns) -> Columns:
    """Cells added up: those after, less those before."""
    hour, slot, prev, n = _concatenate(after, (*before[:3], -before[3]))
    hour, ago, slot, n = add_up(hour, -prev, slot, n=n)
    return hour, slot, -ago, n


def _pairs_of_several_kinds(pairs: Ints, kind: Ints) -> Ints:
    """The pairs that have sightings of more than one kind; both arrays are sorted by pair, then kind."""
    several: Ints = pairs[1:][(pairs[1:] == pairs[:-1]) & (kind[1:] != kind[:-1])]
    return several


def _link_visits(who: Ints, slot: Ints, hour: Ints, horizon: int) -> tuple[Ints, Ints, Ints]:
    """Hour, slot and previous hour of each distinct sighting; `NEVER` when there is none within the horizon.

    The arrays are sorted by visitor, slot and hour.
    """
    same = (who[1:] == who[:-1]) & (slot[1:] == slot[:-1])
    prev = np.full(len(who), NEVER)
    prev[1:][same] = hour[:-1][same]
    once = prev != hour
    prev[hour - prev > horizon] = NEVER
    return hour[once], slot[once], prev[once]
