"""Tiles: a number with its change and its course, perhaps as a link to the page that says more."""

from collections.abc import Sequence
from dataclasses import dataclass

from docsite.core.workspace.reports.tables import Change

_WIDTH, _HEIGHT, _MARGIN = 100, 24, 2  # of a sparkline, in its own units


@dataclass(frozen=True)
class Tile:
    """A number of a page. `value` is its text, empty where nothing is known.

    `change` compares it with the period before. `more_is`: whether more is `good`, `bad`, or neither (empty).
    """

    label: str
    value: str
    url: str = ""
    note: str = ""
    change: Change | None = None
    more_is: str = ""
    course: Sequence[float | None] = ()  # one value for each step

    @property
    def judgement(self) -> str:
        """Whether the change is `good` or `bad`; empty if it is neither."""
        if not self.change or not self.more_is or self.change.direction not in ("up", "down"):
            return ""
        return "good" if (self.change.direction == "up") == (self.more_is == "good") else "bad"

    @property
    def sparkline(self) -> list[str]:
        """The points of each unbroken line of the course, as `<polyline>` takes them. Empty if all are zero."""
        values = [value for value in self.course if value is not None]
        if len(values) < 2 or not any(values):
            return []
        top = max(values)
        lines: list[list[str]] = [[]]
        for number, value in enumerate(self.course):
            if value is None:
                lines.append([])
                continue
            x = number * _WIDTH / (len(self.course) - 1)
            y = _HEIGHT - _MARGIN - (_HEIGHT - 2 * _MARGIN) * value / top
            lines[-1].append(f"{x:.1f},{y:.1f}")
        return [" ".join(line) for line in lines if len(line) > 1]


def format_milliseconds(milliseconds: int | None) -> str:
    """A duration: 840 ms, 1.4 s; empty if unknown."""
    if milliseconds is None:
        return ""
    return f"{milliseconds} ms" if milliseconds < 1000 else f"{milliseconds / 1000:.1f} s"
