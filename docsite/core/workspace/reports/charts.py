"""Compute the shapes of a chart from its numbers. A template draws them as SVG.

Positions are in percent of the plot, so a chart is as wide as the page and its texts
keep their size. A bar is as high as the total of a point. The first part begins at
its bottom, the second part ends at its top, and they overlap where something belongs
to both. A tick across the bar shows the total of the period before.
"""

from collections.abc import Sequence
from dataclasses import dataclass

_TICKS = 4  # lines above zero, at most
_LABELS = 8  # texts below the plot, about
_GAP = 0.18  # share of a bar's slot


@dataclass(frozen=True)
class Point:
    """The numbers of one step of time: two parts, their union, and the total of the period before if there is one."""

    name: str  # in full
    short: str  # below the plot
    first: int
    second: int
    total: int
    before: int | None = None
    is_open: bool = False  # not over yet
    notes: tuple[str, ...] = ()  # what happened in it

    @property
    def both(self) -> int:
        """The number that belongs to both parts."""
        return self.first + self.second - self.total


@dataclass(frozen=True)
class Box:
    """A rectangle, in percent from the top left."""

    x: str
    y: str
    width: str
    height: str


@dataclass(frozen=True)
class Bar:
    """A point with its shapes, `before` as a box without height.

    `label` is empty if there is no room. With `is_optional`, a narrow page hides the label, too.
    """

    point: Point
    first: Box
    second: Box
    before: Box | None
    middle: str
    label: str
    is_optional: bool


@dataclass(frozen=True)
class Chart:
    """A chart: its bars, and the lines behind them, each with its height and its label."""

    bars: list[Bar]
    lines: list[tuple[str, str]]


def build_chart(points: Sequence[Point]) -> Chart:
    """The chart of some points, from left to right."""
    highest = max((max(point.total, point.before or 0) for point in points), default=0)
    ticks = _ticks(highest)
    top = ticks[-1]
    slot = 100 / max(1, len(points))
    every = max(1, -(-len(points) // _LABELS))
    bars = []
    for number, point in enumerate(points):
        x, width = _percent(number * slot + slot * _GAP / 2), _percent(slot * (1 - _GAP))
        before = point.before
        bars.append(
            Bar(
                point,
                Box(x, _percent(100 - 100 * point.first / top), width, _percent(100 * point.first / top)),
                Box(x, _percent(100 - 100 * point.total / top), width, _percent(100 * point.second / top)),
                None if before is None else Box(x, _percent(100 - 100 * before / top), width, "0"),
                _percent((number + 0.5) * slot),
                point.short if number % every == 0 else "",
                number // every % 2 == 1,
            )
        )
    return Chart(bars, [(_percent(100 - 100 * tick / top), compact(tick)) for tick in ticks])


def compact(number: int) -> str:
    """A number for an axis: 950, 1.5k, 20k, 3M."""
    for size, unit in ((1_000_000_000, "G"), (1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return f"{number / size:.3g}{unit}"
    return str(number)


def _ticks(highest: int) -> list[int]:
    """Zero and a few round numbers above it, the last not below the highest value."""
    size = 1
    while True:
        for step in (size, 2 * size, 5 * size):
            if step * _TICKS >= highest:
                return [step * number for number in range(max(1, -(-highest // step)) + 1)]
        size *= 10


def _percent(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") + "%"
