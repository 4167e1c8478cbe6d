"""Where code spans end."""

import re
from bisect import bisect_left
from collections import defaultdict

_TICKS = re.compile("`+")


class CodeSpans:
    """The runs of backticks in a part of a text, by their lengths: one of the same length ends a span."""

    def __init__(self, source: str, start: int = 0, end: int | None = None) -> None:
        self._source = source
        self._runs: defaultdict[int, list[int]] = defaultdict(list)
        for run in _TICKS.finditer(source, start, len(source) if end is None else end):
            self._runs[len(run[0])].append(run.start())

    def end(self, at: int, limit: int | None = None) -> int:
        """Where the span ends that begins with the backticks at `at`; just behind these when nothing ends it before
        `limit`.
        """
        opening = _TICKS.match(self._source, at)
        if not opening:
            return at
        alike = self._runs[len(opening[0])]
        closing = bisect_left(alike, opening.end())
        if closing < len(alike) and (limit is None or alike[closing] < limit):
            return alike[closing] + len(opening[0])
        return opening.end()
