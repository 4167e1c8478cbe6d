"""The arithmetic of cells and visit histories alone, without a database."""

import random
from collections import Counter, defaultdict

import numpy as np
import pytest

from analytics.counting import visit_history
from analytics.counting.cells import (
    ANY,
    LAYERS,
    SPANS,
    UNIONS,
    Bucket,
    add_up,
    count_views,
    count_visitors,
    cover,
    merge,
    sort_unique,
    sum_layers,
)
from tests.variants import first_of

HOUR_0 = 490_000  # some hour of 2025
LAYER_KINDS = {0: {0}, 1: {1}, 2: {2}, **{layer: set(kinds) for layer, kinds in UNIONS.items()}}


class Store:
    """Cells and visit histories in a dictionary, as the sealer keeps them: hours, and longer buckets made of them."""

    def __init__(self, horizon):
        self.horizon = horizon
        self.hours = {}
        self.histories = defaultdict(lambda: (0, b""))

    def add(self, sightings):
        """Take visits (visitor, page, kind, hour) in one step."""
        visitor, page, kind, hour = np.array(sightings, np.int64).T
        visitors, who = np.unique(visitor, return_inverse=True)
        known = [self.histories[one] for one in visitors.tolist()]
        trimmed = np.array([before for before, _ in known])
        change = visit_history.add_visits(
            visit_history.decode([blob for _, blob in known]),
            visit_history.from_views(who, page, kind, hour),
            trimmed,
            self.horizon,
        )
        for start in np.unique(change.hour).tolist():
            of = change.hour == start
            none = np.empty(0, np.int64)
            new = Bucket.build(start, change.prev[of], change.slot[of], change.n[of], none, none)
            old = [Bucket.decode(start, self.hours[start])] if start in self.hours else []
            self.hours[start] = merge(start, [*old, new]).encode()
        blobs = visit_history.encode(change.histories, len(visitors))
        self.histories.update(zip(visitors.tolist(), zip(trimmed.tolist(), blobs, strict=True), strict=True))

    def trim(self, before):
        """Forget detail before an hour, as the sweep does."""
        for visitor, (_, blob) in list(self.histories.items()):
            kept = visit_history.trim(visit_history.decode([blob]), np.array([before]), self.horizon)
            self.histories[visitor] = (before, visit_history.encode(kept, 1)[0])

    def bucket(self, span, start):
        """A bucket, merged from the next shorter ones."""
        if span == 1:
            return Bucket.decode(start, self.hours[start]) if start in self.hours else merge(start, [])
        shorter = SPANS[SPANS.index(span) + 1]
        parts = [self.bucket(shorter, at) for at in range(start, start + span, shorter)]
        return Bucket.decode(start, merge(start, parts).encode())

    def count(self, lo, hi, pages):
        """Visitors by page and layer, unions added up."""
        buckets = [
            self.bucket(span, start)
            for span, first, end in cover(lo, hi, hi)
            for start in range(first, end, span)
        ]  # fmt: skip
        return count_visitors(buckets, lo, pages)


def brute(seen, lo, hi, horizon):
    """(page, layer) -> visitors of a window; one who was away for longer than the horizon counts again."""
    is_counted = defaultdict(int)
    hours = defaultdict(set)
    for visitor, page, kind, hour in seen:
        for layer, kinds in LAYER_KINDS.items():
            if kind in kinds:
                hours[visitor, page, layer].add(hour)
                hours[visitor, 0, layer].add(hour)
    for (_, page, layer), of in hours.items():
        before = None
        for hour in sorted(of):
            first = before is None or before < lo or hour - before > horizon
            is_counted[page, layer] += first and lo <= hour < hi
            before = hour
    return is_counted


def assert_exact(store, seen, dice, reach, pages):
    """Every layer of every page agrees with brute force on random windows."""
    for _ in range(8):
        lo, hi = sorted(HOUR_0 + dice.randint(-5, reach + 5) for _ in range(2))
        expected = brute(seen, lo, hi + 1, store.horizon)
        is_counted = store.count(lo, hi + 1, pages)
        for layers, crawlers in (((0, 3, 5), True), ((0, 1, 4), False)):
            table = sum_layers(is_counted, crawlers=crawlers)
            for page in range(pages):
                assert table[page].tolist() == [expected[page, layer] for layer in layers], (lo, hi, page)


def random_sightings(dice, size, reach, pages):
    visitors, kinds = dice.randint(1, 6), dice.choice([[0], [0, 1], [0, 1, 2]])
    return [
        (dice.randint(-visitors, visitors), dice.randint(1, pages - 1), dice.choice(kinds),
         HOUR_0 + int(reach * dice.random() ** 2))
        for _ in range(size)
    ]  # fmt: skip


@pytest.mark.parametrize("seed", first_of(range(60), 5))
def test_windows_are_exact_in_whatever_order_sightings_come(seed):
    dice = random.Random(seed)
    reach, pages = dice.choice([3, 30, 500]), dice.randint(2, 5)
    store = Store(dice.choice([10**5, 10**5, max(1, reach // 5)]))
    seen = random_sightings(dice, dice.choice([3, 40, 150]), reach, pages)
    arriving = [*seen, *dice.sample(seen, len(seen) // 3)]
    if seed % 2:
        dice.shuffle(arriving)
    while arriving:
        size = dice.randint(1, 25)
        step, arriving = arriving[:size], arriving[size:]
        store.add(step)
    assert_exact(store, seen, dice, reach, pages)


@pytest.mark.parametrize("seed", first_of(range(30), 4))
def test_trails_that_are_trimmed_change_no_count_of_what_comes_in_time(seed):
    dice = random.Random(seed)
    reach, pages, raw = 400, 4, 60
    store = Store(10**5)
    seen = sorted(random_sightings(dice, 120, reach, pages), key=lambda sighting: sighting[3])
    waiting = list(seen)
    while waiting:  # out of order by less than `raw` hours
        now = waiting[0][3]
        near = [sighting for sighting in waiting[:30] if sighting[3] < now + raw]
        step = dice.sample(near, dice.randint(1, len(near)))
        for sighting in step:
            waiting.remove(sighting)
        store.add(step)
        store.trim(min([now, *(sighting[3] for sighting in waiting)]))
    assert_exact(store, seen, dice, reach, pages)
    assert len(store.histories) == len({visitor for visitor, *_ in seen})
    latest = {(visitor, page, kind) for visitor, page, kind, _ in seen}
    latest |= {(visitor, 0, kind) for visitor, _, kind, _ in seen}
    store.trim(HOUR_0 + reach + 1)
    assert sum(len(blob) // 8 for _, blob in store.histories.values()) == len(latest)


def test_a_sighting_older_than_the_trail_counts_as_new_and_takes_nothing_back():
    store = Store(10**5)
    store.add([(1, 1, 0, HOUR_0 + 10)])
    store.add([(1, 1, 0, HOUR_0 + 50)])
    store.trim(HOUR_0 + 100)
    for _ in range(2):
        store.add([(1, 1, 0, HOUR_0 + 20)])
    assert store.count(HOUR_0, HOUR_0 + 30, 2)[1, 0] == 2  # the first one is known no more
    assert store.count(HOUR_0 + 40, HOUR_0 + 60, 2)[1, 0] == 1
    assert store.count(HOUR_0 + 20, HOUR_0 + 21, 2)[1, 0] == 1


@pytest.mark.slow
def test_a_bucket_survives_packing_whatever_its_numbers():
    numbers = np.array([1, -1, 127, 128, -128, 254, 255, 100_000, -100_000])
    slots = np.array([1, 8, 9, 70_000, 5, 6, 7, 8 << 20, 3])
    prev = HOUR_0 - np.array([1, 2, 3, 4, 5, 60_000, HOUR_0, HOUR_0, HOUR_0])
    bucket = Bucket.build(HOUR_0, prev, slots, numbers, slots, np.abs(numbers))
    again = merge(HOUR_0, [Bucket.decode(HOUR_0, bucket.encode())])
    assert again.age.tolist() == bucket.age.tolist()
    assert dict(zip(again.slot.tolist(), again.n.tolist(), strict=True)) == dict(
        zip(slots.tolist(), numbers.tolist(), strict=True)
    )
    assert count_views([again], 1 << 21)[1 << 20, 0] == 100_000


def test_a_layer_without_mixed_visitors_costs_nothing():
    store = Store(10**5)
    store.add([(1, 1, 0, HOUR_0), (2, 1, 1, HOUR_0), (3, 1, 2, HOUR_0)])
    cells = Bucket.decode(HOUR_0, store.hours[HOUR_0])
    assert {slot % LAYERS for slot in cells.slot.tolist()} == {0, 1, 2}
    store.add([(1, 1, 1, HOUR_0)])
    cells = Bucket.decode(HOUR_0, store.hours[HOUR_0])
    assert ANY in {slot % LAYERS for slot in cells.slot.tolist()}


@pytest.mark.parametrize("seed", range(20))
def test_a_cover_is_the_window_without_gaps_and_only_of_closed_buckets(seed):
    dice = random.Random(seed)
    lo = HOUR_0 + dice.randint(0, 2000)
    hi, closed = lo + dice.randint(0, 2000), HOUR_0 + dice.randint(0, 4000)
    hours = []
    for span, first, end in cover(lo, hi, closed):
        assert first % span == 0
        assert end % span == 0
        assert span == 1 or end <= closed
        hours += range(first, end)
    assert hours == list(range(lo, hi))


@pytest.mark.parametrize("bits", [4, 20, 40])  # 40: three keys do not fit one number
@pytest.mark.parametrize("size", [0, 1, 50, 2_000])
def test_sums_are_those_of_a_dictionary_however_the_keys_are_sorted(size, bits):
    random = np.random.default_rng(size + bits)
    keys = [random.integers(-(1 << bits), 1 << bits, 40)[random.integers(40, size=size)] for _ in range(3)]
    n = random.integers(-2, 3, size).astype(np.int8)
    sums: Counter[tuple[int, ...]] = Counter()
    for *key, number in zip(*(column.tolist() for column in keys), n.tolist(), strict=True):
        sums[tuple(key)] += number
    found = [column.tolist() for column in add_up(*keys, n=n)]
    assert list(zip(*found, strict=True)) == sorted((*key, number) for key, number in sums.items() if number)


def test_numbers_of_several_parts_are_sorted_once_each():
    parts = [np.array(some, np.int64) for some in ([2, 5, 5], [], [1, 5, -(2**63)], [2**63 - 1])]
    assert sort_unique(*parts).tolist() == [-(2**63), 1, 2, 5, 2**63 - 1]
    assert sort_unique(*parts[1:2]).tolist() == []
