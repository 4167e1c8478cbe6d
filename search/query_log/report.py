"""Totals of what readers searched for: one row for each query, whatever its upper and lower case."""

from collections import Counter, defaultdict
from dataclasses import dataclass
from datetime import datetime
from heapq import nsmallest
from typing import NamedTuple

from django.db.models import Count, Max

from docsite.core.tenants.models import Project
from search.models import SearchQuery
from search.query_log import recording
from search.query_log.folding import fold


class Cursor(NamedTuple):
    """The last row of a page, and the id of the newest search that the first page counted."""

    hits: int
    folded: str
    newest: int


@dataclass(frozen=True)
class QueryTotals:
    """The searches and clicks of a query, over all its spellings."""

    text: str  # in its most frequent spelling
    hits: int
    clicks: int
    top_page: str | None
    last_at: datetime


@dataclass(frozen=True)
class Page:
    """Rows of one page. `total` counts the searches of all pages; `next` is the cursor of the next page, if any."""

    rows: list[QueryTotals]
    total: int
    next: Cursor | None


class _Spelling(NamedTuple):
    """How often one text was searched for with the same page opened, or none."""

    text: str
    opened: str
    hits: int
    last_at: datetime
    newest: int


def fetch_page(project: Project, start: datetime, end: datetime, limit: int, after: Cursor | None = None) -> Page:
    """Queries of the half-open range, the most frequent first, then by their folded text.

    Later pages do not count searches that are newer than the first page, so that no
    query appears twice and none is missed.
    """
    recording.flush()
    found = SearchQuery.objects.filter(project=project, at__gte=start, at__lt=end)
    if after:
        found = found.filter(pk__lte=after.newest)
    rows = found.order_by().values_list("text", "clicked_path").annotate(Count("pk"), Max("at"), Max("pk"))
    spellings: dict[str, list[_Spelling]] = defaultdict(list)
    total = newest = 0
    for row in map(_Spelling._make, rows.iterator()):
        spellings[fold(row.text)].append(row)
        total, newest = total + row.hits, max(newest, row.newest)
    order = ((-sum(row.hits for row in same), folded) for folded, same in spellings.items())
    if after:
        order = (key for key in order if key > (-after.hits, after.folded))
    first = nsmallest(limit + 1, order)
    more = len(first) > limit
    return Page(
        rows=[_sum_spellings(spellings[folded]) for _, folded in first[:limit]],
        total=total,
        next=Cursor(-first[limit - 1][0], first[limit - 1][1], newest) if more else None,
    )


def _sum_spellings(same: list[_Spelling]) -> QueryTotals:
    texts, pages = Counter[str](), Counter[str]()
    for row in sorted(same, key=lambda row: (row.last_at, row.newest), reverse=True):  # of equal counts the latest wins
        texts[row.text] += row.hits
        if row.opened:
            pages[row.opened] += row.hits
    return QueryTotals(
        text=texts.most_common(1)[0][0],
        hits=texts.total(),
        clicks=pages.total(),
        top_page=pages.most_common(1)[0][0] if pages else None,
        last_at=max(row.last_at for row in same),
    )
