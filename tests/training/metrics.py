"""Measures of a ranked list of pages against the pages that answer the query."""

from collections.abc import Mapping, Sequence
from math import log2


def ndcg(pages: Sequence[str], relevant: Mapping[str, int], depth: int = 10) -> float:
    """Normalised discounted cumulative gain: 1 when the right pages come first, by their grades."""
    best = sum(grade / log2(place + 2) for place, grade in enumerate(sorted(relevant.values(), reverse=True)[:depth]))
    gained = sum(relevant.get(page, 0) / log2(place + 2) for place, page in enumerate(pages[:depth]))
    return gained / best


def recall(pages: Sequence[str], relevant: Mapping[str, int], depth: int = 5) -> float:
    """The share of the right pages that are among the first."""
    return len(set(pages[:depth]) & set(relevant)) / len(relevant)


def success(pages: Sequence[str], relevant: Mapping[str, int]) -> float:
    """1 when the first page is right."""
    return float(bool(pages) and pages[0] in relevant)


def calibration_error(scored: Sequence[tuple[float, bool]], bins: int = 10) -> float:
    """Expected calibration error: how far scores are from the share of right pages, in bins of equal width."""
    gaps = 0.0
    for number in range(bins):
        inside = [pair for pair in scored if min(int(pair[0] * bins), bins - 1) == number]
        gaps += abs(sum(score for score, _ in inside) - sum(right for _, right in inside))
    return gaps / len(scored) if scored else 0.0


def mean(values: Sequence[float]) -> float | None:
    """None when there are no values."""
    return sum(values) / len(values) if values else None
