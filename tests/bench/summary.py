"""The rows of all benchmarks in one form: ours, the best peer of the same run, their ratio, the target.

Each benchmark writes its rows into its JSON file. `python -m tests.bench` puts them into one table.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tests.bench.others import MAX_SHARE


def percentile(values: Sequence[float], share: float) -> float:
    """The value that this share of the samples does not exceed."""
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


@dataclass(frozen=True)
class Row:
    """One figure. `limit` is the target: for the ratio if `limits_ratio`, else for our own figure.

    It is the most that is allowed, or the least if `more_is_better`. `others` is the share of the machine that other
    work took while the figure was measured.
    """

    work: str
    ours: float
    unit: str = ""
    peer: str = ""
    theirs: float | None = None
    limit: float | None = None
    limits_ratio: bool = False
    more_is_better: bool = False
    others: float = 0.0

    @property
    def ratio(self) -> float | None:
        """Ours as a multiple of the peer's."""
        return self.ours / self.theirs if self.theirs else None

    @property
    def verdict(self) -> str:
        """Whether the target is met, or who is better where there is none."""
        if self.others > MAX_SHARE:
            return f"void: other work took {self.others:.0%}"
        if self.limit is not None:
            judged = self.ratio if self.limits_ratio else self.ours
            if judged is None:
                return "no peer in this run"
            return "met" if (judged >= self.limit if self.more_is_better else judged <= self.limit) else "**missed**"
        if self.theirs is None:
            return ""
        return "better" if (self.ours >= self.theirs if self.more_is_better else self.ours <= self.theirs) else "worse"

    @property
    def target(self) -> str:
        """The target in words."""
        if self.limit is None:
            return ""
        sign = "≥" if self.more_is_better else "≤"
        return f"{sign} {_number(self.limit)}" + (" ×" if self.limits_ratio else f" {self.unit}".rstrip())


def to_json(rows: Iterable[Row]) -> list[dict[str, Any]]:
    """The rows, ready for JSON."""
    return [asdict(row) for row in rows]


def from_json(rows: Iterable[Mapping[str, Any]]) -> list[Row]:
    """The rows out of a JSON file."""
    return [Row(**row) for row in rows]


def render(rows: Sequence[Row]) -> str:
    """A Markdown table."""
    lines = ["| what | ours | peer | ratio | target | |", "| --- | --- | --- | --- | --- | --- |"]
    for row in rows:
        theirs = "" if row.theirs is None else f"{_number(row.theirs)} ({row.peer})"
        ratio = "" if row.ratio is None else f"{_number(row.ratio)} ×"
        ours = f"{_number(row.ours)} {row.unit}".rstrip()
        lines.append(f"| {row.work} | {ours} | {theirs} | {ratio} | {row.target} | {row.verdict} |")
    return "\n".join(lines)


def _number(value: float) -> str:
    if value == 0 or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.2g}" if abs(value) < 1 else f"{value:.1f}"
