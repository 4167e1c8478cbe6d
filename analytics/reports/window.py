"""A range of time as it is counted, and how exact its ends are: to the microsecond while raw views are kept."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

from analytics.counting import sealer, sweeper
from analytics.models import EPOCH
from docsite.core.tenants.models import Project


@dataclass(frozen=True)
class Window:
    """Whole hours are counted from cells, the parts of hours at both ends from raw views. Microseconds since 1970.

    An end within an hour from which raw views are no longer kept is rounded down.
    """

    lo: int
    hi: int

    @classmethod
    def from_range(cls, project: Project, start: datetime, end: datetime) -> "Window":
        """The window of a report's range."""
        kept_from = sweeper.first_kept_hour(project) * sealer.HOUR
        lo, hi = ((instant - EPOCH) // timedelta(microseconds=1) for instant in (start, end))
        return cls(*(max(0, at if at >= kept_from else at - at % sealer.HOUR) for at in (lo, hi)))

    @cached_property
    def hours(self) -> tuple[int, int]:
        """The whole hours within, half-open; none when the first is not before the second."""
        return -(-self.lo // sealer.HOUR), self.hi // sealer.HOUR

    @cached_property
    def edges(self) -> list[tuple[int, int]]:
        """What `hours` does not cover at the start and at the end of the range: at most two ranges, half-open."""
        first, end = (hour * sealer.HOUR for hour in self.hours)
        if first >= end:
            return [(self.lo, self.hi)] if self.lo < self.hi else []
        return [(lo, hi) for lo, hi in ((self.lo, first), (end, self.hi)) if lo < hi]
