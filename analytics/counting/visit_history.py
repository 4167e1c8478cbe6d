"""Visit histories: when each visitor was on which page, and how new visits, also late views, change the cells.

A visit is one (visitor, page, kind, hour), however many views it had. A history
holds all visits of the days for which raw views are kept, so that a late view can be
put in order. Of the time before, it holds only the latest visit of each page and kind.
It is packed as sorted little-endian 64-bit numbers, `page << 34 | kind << 32 | hour`.
A visit of an audience has a key instead of a page, from `cells.FIRST_KEY`.

In memory a visit is one number, too, in which the visitor comes first: numpy sorts, searches and merges plain
numbers several times as fast as it does by two keys.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from analytics.counting.cells import FIRST_KEY, LAYERS, NEVER, UNIONS, AnyInts, Ints, add_up

MAX_VISITS = 50_000  # of one visitor; beyond it, older visits are trimmed early

Columns = tuple[Ints, Ints, Ints, Ints]  # hour, slot, prev and n of cells

MAX_VISITORS = 1 << 16  # of one set of visits

_DTYPE = "<i8"
_HOUR_BITS, _KIND_BITS, _PAGE_BITS = 20, 2, 25  # hours until the year 2089; a page or the key of an audience
_SLOT = _HOUR_BITS + _KIND_BITS  # the bits after a page
_ENTRY = _SLOT + _PAGE_BITS  # the bits after a visitor: 16 are left
_HOUR = (1 << _HOUR_BITS) - 1
_LAYER = 7
_NO_KEYS = (np.empty(0, np.int64), np.empty(0, np.int64))


@dataclass(frozen=True)
class Visits:
    """Visits as an array: of the visitor's index, the page, the kind and the hour, in one number."""

    code: Ints

    @property
    def who(self) -> Ints:
        """The visitor's index."""
        return self.code >> _ENTRY

    @property
    def page(self) -> Ints:
        """The page's number; 0 is the site."""
        return self.code >> _SLOT & ((1 << _PAGE_BITS) - 1)

    @property
    def kind(self) -> Ints:
        """Human, reader or crawler."""
        return self.code >> _HOUR_BITS & ((1 << _KIND_BITS) - 1)

    @property
    def hour(self) -> Ints:
        """Hours since 1970."""
        return self.code & _HOUR

    def __len__(self) -> int:
        return len(self.code)

    def __getitem__(self, chosen: AnyInts | npt.NDArray[np.bool_] | slice) -> "Visits":
        return Visits(self.code[chosen])

    def __add__(self, other: "Visits") -> "Visits":
        return Visits(np.concatenate([self.code, other.code]))

    def sorted(self) -> "Visits":
        """The visits sorted by visitor, page, kind and hour, without duplicates."""
        ordered = np.sort(self.code)
        return Visits(ordered[_begin_runs(ordered)])

    def positions(self, others: "Visits") -> Ints:
        """The index at which each of `others` is, or would be inserted. These visits must be sorted."""
        return np.searchsorted(self.code, others.code)

    def contain(self, others: "Visits", positions: Ints) -> npt.NDArray[np.bool_]:
        """A mask: which of `others` are among these visits, given their `positions`."""
        if not len(self):
            return np.zeros(len(others), bool)
        found: npt.NDArray[np.bool_] = self.code[np.minimum(positions, len(self) - 1)] == others.code
        return found

    def insert(self, others: "Visits", positions: Ints) -> "Visits":
        """The visits with `others` inserted at their `positions`."""
        return Visits(np.insert(self.code, positions, others.code))

    def exclude(self, others: "Visits") -> "Visits":
        """The visits that are not among `others`. Both must be sorted."""
        return self[~others.contain(self, others.positions(self))] if len(others) else self

    def of_audiences(self) -> "Visits":
        """The visits of audiences, whose keys begin at 0 like pages."""
        return Visits(self.code[self.page >= FIRST_KEY] - (FIRST_KEY << _SLOT))

    def pairs(self) -> Ints:
        """One number for each visitor and page."""
        return self.code >> _SLOT

    def series(self) -> Ints:
        """One number for each visitor, page and kind."""
        return self.code >> _HOUR_BITS


@dataclass(frozen=True)
class Change:
    """The effect of new visits: cells to add (negative `n`: to take back), and the histories afterwards.

    The cells are sorted by hour, then as in a bucket: latest `prev` first, then slot.
    """

    hour: Ints
    slot: Ints
    prev: Ints
    n: Ints
    histories: Visits

    def of_pages(self) -> "Change":
        """The cells of pages and of the site."""
        return self._select(self.slot < FIRST_KEY * LAYERS)

    def of_audiences(self) -> "Change":
        """The cells of audiences, whose keys begin at 0 like pages."""
        chosen = self._select(self.slot >= FIRST_KEY * LAYERS)
        return replace(chosen, slot=chosen.slot - FIRST_KEY * LAYERS)

    def _select(self, chosen: npt.NDArray[np.bool_]) -> "Change":
        return Change(self.hour[chosen], self.slot[chosen], self.prev[chosen], self.n[chosen], self.histories)


def from_views(who: Ints, page: Ints, kind: Ints, hour: Ints, keys: tuple[Ints, Ints] = _NO_KEYS) -> Visits:
    """The visits that views make: of each page, of the whole site and of audiences, without duplicates.

    `keys` are those of the audiences: the index of a view, and a key.
    """
    entry = who << _ENTRY | kind << _HOUR_BITS | hour
    view, key = keys
    return Visits(np.concatenate([entry | page << _SLOT, entry, entry[view] | key << _SLOT])).sorted()


def split(visitor: Ints) -> list[Ints]:
    """Group views by their visitors, at most `MAX_VISITORS` in a group. Each group is the indexes of its views."""
    _, number = np.unique(visitor, return_inverse=True)
    part = number // MAX_VISITORS
    return [np.flatnonzero(part == n) for n in range(int(part.max(initial=-1)) + 1)]


def decode(blobs: Sequence[bytes]) -> Visits:
    """Unpack several histories, at most `MAX_VISITORS`; `who` is the index of a history in the sequence."""
    if len(blobs) > MAX_VISITORS:
        raise OverflowError("So many visitors do not fit: split them.")
    lengths = np.fromiter(map(len, blobs), np.int64, len(blobs)) // 8
    packed = np.frombuffer(b"".join(blobs), _DTYPE)
    return Visits(np.repeat(np.arange(len(blobs)) << _ENTRY, lengths) | packed >> 32 << _HOUR_BITS | packed & _HOUR)


def encode(histories: Visits, count: int) -> list[bytes]:
    """Pack sorted visits as the histories of visitors 0 to `count` - 1."""
    entry = histories.code & ((1 << _ENTRY) - 1)
    packed = (entry >> _HOUR_BITS << 32 | entry & _HOUR).astype(_DTYPE).tobytes()
    ends = (np.searchsorted(histories.who, np.arange(count), "right") * 8).tolist()
    return [packed[start:end] for start, end in zip([0, *ends], ends, strict=False)]


def add_visits(stored: Visits, new_visits: Visits, trimmed: Ints, horizon: int) -> Change:
    """Add visits to histories in the order of time, and return how the cells change.

    The change is the cells of the histories after, minus the cells before. The latest
    visit adds one cell. A late visit adds a cell and changes `prev` of the next visit.
    A visit that is stored already adds nothing.

    `trimmed` is the hour before which each history holds only the latest visits. A visit
    older than those cannot be put in order: it counts as a new visitor, once for its hour.
    After an absence of `horizon` hours a visitor counts as new.
    """
    positions = stored.positions(new_visits)
    new = ~stored.contain(new_visits, positions)
    added, positions = new_visits[new], positions[new]
    related = _of_same_visitors_and_pages(stored, added)
    histories = stored.insert(added, positions)
    lost = _is_older_than_kept(added, related, trimmed)
    misplaced, added = added[lost], added[~lost]
    related = _leave_out_unchanged(related, added)
    before = _cells(related, horizon)
    after = _cells(related.insert(added, related.positions(added)), horizon)
    if len(misplaced):
        never, one = np.full(len(misplaced), NEVER), np.ones(len(misplaced), np.int64)
        after = _concatenate(after, (misplaced.hour, misplaced.page << 3 | misplaced.kind, never, one))
    return Change(*_subtract(after, before), histories)


def replace_visits(before: Visits, after: Visits, horizon: int) -> Change:
    """Replace the sorted visits `before` with `after`, of the same visitors, and return how the cells change."""
    return Change(*_subtract(_cells(after, horizon), _cells(before, horizon)), after)


def count_new_visitors(stored: Visits, new_visits: Visits, pages: int) -> Ints:
    """How many visitors of `new_visits` are not in `stored`, by page and layer, in the shape of `cells.count_visitors`.

    The hours do not matter: all visits are taken as visits of one window.
    """
    related, new_visits = (
        Visits(some.series() << _HOUR_BITS | 1)
        for some in (_of_same_visitors_and_pages(stored, new_visits), new_visits)
    )
    counts = np.zeros(pages * LAYERS, np.int64)
    for some, sign in ((related + new_visits, 1), (related, -1)):
        _, slot, _, n = _cells(some.sorted(), 0)
        np.add.at(counts, slot, sign * n)
    return counts.reshape(-1, LAYERS)


def trim(histories: Visits, before: Ints, horizon: int) -> Visits:
    """Trim each history: before the hour `before`, keep the latest visit of each page and kind, within the horizon."""
    limit = before[histories.who]
    return histories[~_has_later_visit(histories, limit) & (histories.hour >= limit - horizon)]


def _has_later_visit(histories: Visits, limit: Ints) -> npt.NDArray[np.bool_]:
    """A mask: which visits are followed by one of the same page and kind that is also before the hour `limit`."""
    older: npt.NDArray[np.bool_] = histories.hour < limit
    series = histories.series()
    older[:-1] &= (series[1:] == series[:-1]) & older[1:]
    older[-1:] = False
    return older


def _begin_runs(values: Ints) -> npt.NDArray[np.bool_]:
    """A mask: where sorted values begin to differ from those before."""
    return np.concatenate([[True], values[1:] != values[:-1]])[: len(values)]


def _of_same_visitors_and_pages(stored: Visits, new_visits: Visits) -> Visits:
    """The stored visits of the visitors and pages of `new_visits`. Both must be sorted."""
    wanted = new_visits.pairs()
    found, _ = _match(stored.pairs(), wanted[_begin_runs(wanted)])
    return stored[found]


def _match(pairs: Ints, wanted: Ints) -> tuple[npt.NDArray[np.bool_], Ints]:
    """Which pairs are among those wanted, as a mask, and for each of these the index of the wanted one.

    Both must be sorted, the wanted ones without duplicates: each has a run of pairs, with few ends to search for.
    """
    begin, end = np.searchsorted(pairs, wanted, "left"), np.searchsorted(pairs, wanted, "right")
    has_run = begin < end
    steps = np.zeros(len(pairs) + 1, np.int8)
    steps[begin[has_run]] = 1
    steps[end[has_run]] -= 1
    return np.cumsum(steps[:-1], dtype=np.int8).view(bool), np.repeat(np.arange(len(wanted)), end - begin)


def _leave_out_unchanged(related: Visits, added: Visits) -> Visits:
    """Drop visits whose cells cannot change: all that precede the last visit before the first added one."""
    if not len(added):
        return related[:0]
    every = added.pairs()
    starts = np.flatnonzero(_begin_runs(every))
    found, place = _match(related.pairs(), every[starts])
    related = related[found]
    return related[~_has_later_visit(related, np.minimum.reduceat(added.hour, starts)[place])]


def hours_to_trim_before(histories: Visits, count: int) -> Ints:
    """For each visitor, the hour before which to trim a history of more than `MAX_VISITS`; 0 for shorter ones."""
    before = np.zeros(count, np.int64)
    for who in np.flatnonzero(np.bincount(histories.who, minlength=count) > MAX_VISITS):
        hours = np.sort(histories.hour[histories.who == who])
        before[who] = hours[-MAX_VISITS // 2]
    return before


def _is_older_than_kept(added: Visits, related: Visits, trimmed: Ints) -> npt.NDArray[np.bool_]:
    """A mask: which visits are older than the latest trimmed visit of the same visitor and page."""
    old: npt.NDArray[np.bool_] = added.hour < trimmed[added.who]
    stored = related[related.hour < trimmed[related.who]] if old.any() else related[:0]
    if not len(stored):
        return np.zeros(len(added), bool)
    pairs, place = np.unique(stored.pairs(), return_inverse=True)
    latest = np.zeros(len(pairs), np.int64)
    np.maximum.at(latest, place, stored.hour)
    at = np.minimum(np.searchsorted(pairs, added.pairs()), len(pairs) - 1)
    lost: npt.NDArray[np.bool_] = old & (pairs[at] == added.pairs()) & (latest[at] >= added.hour)
    return lost


def _cells(histories: Visits, horizon: int) -> Columns:
    """The cells of sorted visits in all layers, as columns."""
    parts = [(*_link_visits(histories, horizon), 1)]
    pairs, kind = histories.pairs(), histories.kind
    mixed, _ = _match(pairs, _pairs_of_several_kinds(pairs, kind))
    if mixed.any():
        several, kind = histories[mixed], kind[mixed]
        for layer, kinds in UNIONS.items():
            some = several[np.isin(kind, kinds)]
            hour, slot, prev = _link_visits(some, horizon)
            union = Visits(np.sort(some.pairs() << _SLOT | some.hour))  # of kind 0, which is no layer's bit
            joined_hour, joined_slot, joined_prev = _link_visits(union, horizon)
            parts += [(joined_hour, joined_slot | layer, joined_prev, 1), (hour, slot & ~_LAYER | layer, prev, -1)]
    hours, slots, prevs = (np.concatenate([part[column] for part in parts]) for column in range(3))
    return hours, slots, prevs, np.concatenate([np.full(len(part[0]), part[3]) for part in parts])


def _concatenate(*cells: Columns) -> Columns:
    hour, slot, prev, n = (np.concatenate(columns) for columns in zip(*cells, strict=True))
    return hour, slot, prev, n


def _subtract(after: Columns, before: Columns) -> Columns:
    """The cells `after` minus the cells `before`, summed by key."""
    hour, slot, prev, n = _concatenate(after, (*before[:3], -before[3]))
    hour, ago, slot, n = add_up(hour, -prev, slot, n=n)
    return hour, slot, -ago, n


def _pairs_of_several_kinds(pairs: Ints, kind: Ints) -> Ints:
    """The pairs with visits of more than one kind, each once. Both arrays must be sorted by pair, then kind."""
    several: Ints = pairs[1:][(pairs[1:] == pairs[:-1]) & (kind[1:] != kind[:-1])]
    return several[_begin_runs(several)]


def _link_visits(visits: Visits, horizon: int) -> tuple[Ints, Ints, Ints]:
    """Hour, slot and previous hour of each distinct visit; `NEVER` when no visit precedes it within the horizon.

    The visits must be sorted.
    """
    series, hour = visits.series(), visits.hour
    same = series[1:] == series[:-1]
    prev = np.full(len(visits), NEVER)
    prev[1:][same] = hour[:-1][same]
    once = prev != hour
    prev[hour - prev > horizon] = NEVER
    return hour[once], (visits.page << 3 | visits.kind)[once], prev[once]
