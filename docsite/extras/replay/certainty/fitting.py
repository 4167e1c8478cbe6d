"""Curves of calibration, and the threshold from which few answers miss. No database.

The threshold comes from a fixed sequence of tests (Angelopoulos et al., “Learn then Test”, 2021): from the highest one
down, each is accepted if the upper limit of its share of misses is small enough, and the first that fails ends the
search. So the chance that the accepted one misses more often than promised is at most `1 - CONFIDENCE`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

CONFIDENCE = 0.9
THRESHOLDS = tuple(step / 20 for step in range(19, 6, -1))  # .95 to .35, below which no answer is given anyway
BINS = (0.0, 0.12, 0.35, 0.5, 0.65, 0.8, 0.95, 1.01)  # the first two limits are those of refusals and answers
Z = 1.645  # of a two-sided interval of 90 %


class Sample(NamedTuple):
    """An answer or a result: its estimated probability (0 to 1), and whether it is right."""

    chance: float
    is_right: bool


@dataclass(frozen=True)
class Bin:
    """The samples with a chance from `start` to `end`: how many, how many right, and the limits of the true share."""

    start: float
    end: float
    count: int
    right: int
    low: float
    high: float

    @property
    def percents(self) -> tuple[int, int, int]:
        """The share of right ones, and the limits of the true share."""
        return round(100 * self.right / self.count), round(100 * self.low), round(100 * self.high)


@dataclass(frozen=True)
class Fit:
    """The lowest threshold that keeps a limit of misses; None if none is sure to.

    `answers` samples reach it, and `misses` are wrong; the true share of misses is at most `bound`. `needed` is how
    many answers without a miss it takes at least.
    """

    limit: float
    threshold: float | None
    answers: int
    misses: int
    bound: float
    needed: int

    @property
    def bound_percent(self) -> str:
        """The upper limit of the true share."""
        return f"{100 * self.bound:.1f}"


def compute_curve(samples: Sequence[Sample]) -> list[Bin]:
    """The share of right ones among samples of about the same chance. Bins without samples are left out."""
    curve = []
    for start, end in pairwise(BINS):
        some = [sample for sample in samples if start <= sample.chance < end]
        if some:
            right = sum(sample.is_right for sample in some)
            curve.append(Bin(start, min(end, 1.0), len(some), right, *_interval(right, len(some))))
    return curve


def fit(samples: Sequence[Sample], limit: float) -> Fit:
    """Find the lowest threshold at which at most the share `limit` of the answers miss, with `CONFIDENCE`."""
    needed = count_needed(limit)
    found = Fit(limit, None, 0, 0, 1.0, needed)
    for threshold in THRESHOLDS:
        tried = measure(samples, threshold, limit)
        if tried.answers < needed:
            continue  # the number of answers says nothing about misses, so the sequence stays valid
        if tried.bound > limit:
            break
        found = tried
    return found


def measure(samples: Sequence[Sample], threshold: float, limit: float = 0.0) -> Fit:
    """How many of the answers at a threshold miss."""
    answers = [sample for sample in samples if sample.chance >= threshold]
    misses = sum(not sample.is_right for sample in answers)
    return Fit(limit, threshold, len(answers), misses, upper_limit(misses, len(answers)), count_needed(limit))


def count_needed(limit: float) -> int:
    """How many answers without a miss it takes to be sure of a limit; 0 for no limit."""
    return math.ceil(math.log(1 - CONFIDENCE) / math.log(1 - limit)) if limit else 0


def upper_limit(misses: int, count: int) -> float:
    """The largest share of misses that fits so few of them: the one-sided limit of Clopper and Pearson."""
    if misses >= count:
        return 1.0
    low, high = misses / count, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        if _probability_of_at_most(misses, count, middle) > 1 - CONFIDENCE:
            low = middle
        else:
            high = middle
    return high


def _probability_of_at_most(misses: int, count: int, share: float) -> float:
    """That of so many answers at most so many miss, if each misses with this probability."""
    hit, miss = math.log1p(-share) if share < 1 else -math.inf, math.log(share) if share > 0 else -math.inf
    if not math.isfinite(hit) or not math.isfinite(miss):
        return float(share <= 0)
    total = math.lgamma(count + 1)
    return sum(
        math.exp(total - math.lgamma(k + 1) - math.lgamma(count - k + 1) + k * miss + (count - k) * hit)
        for k in range(misses + 1)
    )


def _interval(right: int, count: int) -> tuple[float, float]:
    """The interval of Wilson for a share."""
    share, weight = right / count, Z * Z / count
    middle = (share + weight / 2) / (1 + weight)
    half = Z * math.sqrt(share * (1 - share) / count + weight / (4 * count)) / (1 + weight)
    return max(0.0, middle - half), min(1.0, middle + half)
