"""The figures of an evaluation, and its comparison with an earlier one."""

import math
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from assistant.improving.golden_questions.scoring import Row

ZEROS = frozenset({"0", "0 of 0"})  # figures that say nothing


@dataclass(frozen=True)
class Share:
    """How many of some questions."""

    part: int
    whole: int

    def __str__(self) -> str:
        percent = f" ({self.part / self.whole:.0%})" if self.whole else ""
        return f"{self.part} of {self.whole}{percent}"


@dataclass(frozen=True)
class Comparison:
    """The questions whose result differs. Questions that only one of the runs has do not count."""

    newly_right: Sequence[str]
    newly_wrong: Sequence[str]


def count(scores: Iterable[bool | None]) -> Share:
    """The share of true scores among those that are known."""
    known = [score for score in scores if score is not None]
    return Share(sum(known), len(known))


def summarize(rows: Sequence[Row]) -> dict[str, str]:
    """The figures of some rows, by their names."""
    answerable, others = [row for row in rows if row.answerable], [row for row in rows if not row.answerable]
    words = [row.words for row in rows if not row.refused and not row.failed]
    seconds = [row.seconds for row in rows]
    return {
        "right": str(count(row.right for row in rows)),
        "fact told": str(count(row.fact for row in rows)),
        "right page": str(count(row.page for row in rows)),
        "wrongly refused": str(count(row.refused for row in answerable)),
        "rightly refused": str(count(row.refused for row in others)),
        "judged right": str(count(row.verdict == "right" for row in rows if row.verdict)),
        "judged partly right": str(count(row.verdict == "partly" for row in rows if row.verdict)),
        "not judged": str(sum(bool(row.judgement) and not row.verdict for row in rows)),
        "closest passages": str(sum(row.rung == "closest_passages" for row in rows)),
        "by a model": str(sum(row.is_by_model for row in rows)),
        "failed": str(sum(row.failed for row in rows)),
        "words, median": f"{statistics.median(words):.0f}" if words else "–",
        "tokens": f"{sum(row.tokens for row in rows):,}",
        "tokens of the judge": f"{sum(row.judge_tokens for row in rows):,}",
        "seconds, p50": f"{_percentile(seconds, 0.5):.2f}",
        "seconds, p95": f"{_percentile(seconds, 0.95):.2f}",
    }


def compare(rows: Iterable[Row], earlier: Iterable[Row]) -> Comparison:
    """Compare the results of two runs, question by question."""
    now, before = {row.question: row for row in rows}, {row.question: row for row in earlier}
    both = [name for name in now if name in before]
    return Comparison(
        newly_right=[name for name in both if now[name].right and not before[name].right],
        newly_wrong=[name for name in both if not now[name].right and before[name].right],
    )


def _percentile(values: Sequence[float], share: float) -> float:
    """The smallest value that is not below this share of the values; 0 without values."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)] if values else 0.0
