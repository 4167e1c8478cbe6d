"""The report of where readers come from: the values of each dimension, filtered and compared with the past."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.db.models import Min

from analytics.audience import DIMENSIONS
from analytics.models import EPOCH, AudienceCells
from analytics.reports import audience_counts, visitor_counts
from analytics.reports.audience_counts import NO_COUNT, PAGE, AudienceCounts, Metric
from analytics.reports.filtered_counts import FilteredCounts, kept_from
from docsite.core.tenants.models import Project
from docsite.core.workspace.reports import downloads
from docsite.core.workspace.reports.report_state import previous_period

FILTERS = (*DIMENSIONS, PAGE)


class AudienceRow(NamedTuple):
    """One value, and its total in the period before; None if not all of that period was recorded."""

    value: str
    human: int
    ai: int
    total: int
    previous: int | None


@dataclass(frozen=True)
class AudienceReport:
    """The counts of a range, and of the period before.

    `counted_from`: the start of the range, or the first instant with raw views if filters need those.
    """

    filters: Mapping[str, str]
    counted_from: datetime
    totals: dict[str, int]
    counts: AudienceCounts
    earlier: AudienceCounts | None
    whole: AudienceCounts | None = None  # of the dimension of a single filter, over the whole range

    @classmethod
    def load(
        cls,
        project: Project,
        start: datetime,
        end: datetime,
        metric: Metric,
        filters: Mapping[str, str],
        *,
        fresh: bool = True,
        filtered: FilteredCounts | None = None,
    ) -> "AudienceReport":
        """Count. A single filter's own value is counted over any range, all else that is filtered from raw views.

        `filtered`: the matching views, if they are loaded already.
        """
        if fresh:
            visitor_counts.refresh(project)
        period = previous_period(start, end)
        if not filters:
            began = recorded_from(project)
            if began is None or (period and began > period[0]):
                period = None
            count = visitor_counts.count_visitors if metric == "visitors" else visitor_counts.count_views
            return cls(
                filters,
                start,
                count(project, start, end, fresh=False).totals,
                audience_counts.count(project, start, end, metric),
                audience_counts.count(project, *period, metric) if period else None,
            )
        kept = kept_from(project)
        counted_from = min(end, max(start, kept))
        filtered = filtered or FilteredCounts.load(project, filters, counted_from, end)
        earlier = None
        if period and period[0] >= kept:
            earlier = FilteredCounts.load(project, filters, *period).audience(metric)
        totals, whole = filtered.totals(metric), None
        if len(filters) == 1 and counted_from != start:
            ((dimension, value),) = filters.items()
            (step,) = audience_counts.count_steps(project, [(start, end)], dimension, value)
            totals = step.visitors if metric == "visitors" else step.views
            if dimension != PAGE:
                whole = audience_counts.count(project, start, end, metric)
        return cls(filters, counted_from, totals, filtered.audience(metric), earlier, whole)

    def rows(self, dimension: str) -> list[AudienceRow]:
        """The values of a dimension, the most frequent first."""
        if self.whole and dimension in self.filters:
            counts = [self.whole.of(dimension, self.filters[dimension])]
            return [AudienceRow(*row, None) for row in counts if row != NO_COUNT._replace(value=row.value)]
        earlier = {row.value: row.total for row in self.earlier.rows(dimension)} if self.earlier else {}
        return [
            AudienceRow(*row, earlier.get(row.value, 0) if self.earlier else None)
            for row in self.counts.rows(dimension)
        ]


def recorded_from(project: Project) -> datetime | None:
    """The first hour of which audiences are recorded."""
    first = AudienceCells.objects.filter(project=project, span=1).aggregate(first=Min("start"))["first"]
    return None if first is None else EPOCH + timedelta(hours=first)


def build_row(row: AudienceRow) -> dict[str, Any]:
    """A row as the API and files have it."""
    return {"value": row.value, "human": row.human, "ai": row.ai, "total": row.total, "previousTotal": row.previous}


def format_rows(rows: list[AudienceRow], form: downloads.Format) -> Iterator[str]:
    """All values of a dimension as a file."""
    return downloads.format_table(("value", "human", "ai", "total", "previousTotal"), rows, form)
