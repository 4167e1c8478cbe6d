"""The numbers of searches: by query (for the admin and the API), by hour, and of one query. The database counts them.

All ranges are half-open. A query is all searches with the same folded text.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import add
from typing import Any, NamedTuple

from django.db import connection
from django.db.models import Avg, Count, F, FloatField, Max, Q, QuerySet, Sum
from django.db.models.functions import Cast, Coalesce, Collate

from docsite.core.db import snapshot
from docsite.core.tenants.models import Project
from docsite.core.workspace.reports.time_steps import Step, StepText
from search.models import SearchQuery
from search.query_log import recording
from search.query_log.folding import fold_for_storage
from search.text import analysis

MIN_SHOWN = 3  # searches with results, from which few clicks mean something
FEW_CLICKS = 5  # few: fewer than one of so many searches with results
MAX_DETAILS = 20  # rows of each list about one query
MAX_SIMILAR = 2000  # queries that are compared with one query

_FOUND, _EMPTY = Q(result_count__gt=0), Q(result_count=0)
_CLICKED, _IGNORED = Q(position__isnull=False), Q(result_count__gt=0, position=None)


@dataclass(frozen=True)
class Counts:
    """Searches, those with a click, without result, and with results but without click.

    `positions`: the sum of the positions of the clicked results.
    """

    searches: int = 0
    clicks: int = 0
    without_result: int = 0
    without_click: int = 0
    positions: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*map(add, vars(self).values(), vars(other).values()))

    @property
    def mean_position(self) -> float | None:
        """The mean position of the clicked results; None without clicks."""
        return self.positions / self.clicks if self.clicks else None


def select_searches(
    project: Project, start: datetime, end: datetime, query: str | None = None, path: str = ""
) -> QuerySet[Any]:
    """The searches of a range; with `query`, those for that query; with `path`, those that led to that page."""
    found = SearchQuery.objects.filter(project=project, at__gte=start, at__lt=end).order_by()
    found = found.filter(clicked_path=path) if path else found
    return found if query is None else found.filter(folded=fold_for_storage(query))


def count_steps(project: Project, steps: Sequence[Step], query: str | None = None, path: str = "") -> list[Counts]:
    """The searches of some steps of time that follow each other, one at least. See `select_searches`."""
    step_text = StepText("at", steps)
    rows = (
        select_searches(project, steps[0][0], steps[-1][1], query, path)
        .annotate(step=step_text)
        .values_list("step")
        .annotate(
            searches=Count("pk"),
            clicks=Count("position"),
            without_result=Count("pk", filter=_EMPTY),
            without_click=Count("pk", filter=_IGNORED),
            positions=Coalesce(Sum("position"), 0),
        )
    )
    counted = [Counts() for _ in steps]
    for text, *numbers in rows:
        counted[step_text.find(text)] += Counts(*numbers)
    return counted


def count_searches(project: Project, start: datetime, end: datetime) -> Counts:
    """The searches of a range: the numbers of the report, of the overview and of what to do next."""
    return count_steps(project, [(start, end)])[0]


def group_queries(
    project: Project,
    start: datetime,
    end: datetime,
    *,
    earlier: tuple[datetime, datetime] | None = None,
    kind: str = "top",
    containing: str = "",
    path: str = "",
) -> QuerySet[Any]:
    """One row for each query of the range, as a dictionary with these numbers.

    `searches`, `clicks`, `without_result`, `without_click` (with results), `results` (mean number), `mean_position`
    (of the clicked result), `ctr` (clicks by searches) and `latest`. With `earlier`, the period to compare with,
    also `before` and `change`. `kind` is `top` (all), `empty` (some without result) or `few_clicks` (clicks after
    fewer than one in `FEW_CLICKS` searches with results).
    """
    now = Q(at__gte=start)
    rows = select_searches(project, earlier[0] if earlier else start, end, path=path)
    if containing:
        rows = rows.filter(folded__contains=fold_for_storage(containing))
    grouped: QuerySet[Any, Any] = rows.values("folded").annotate(
        searches=Count("pk", filter=now),
        clicks=Count("position", filter=now),
        without_result=Count("pk", filter=now & _EMPTY),
        without_click=Count("pk", filter=now & _IGNORED),
        found=Count("pk", filter=now & _FOUND),
        results=Avg("result_count", filter=now),
        mean_position=Avg("position", filter=now),
        latest=Max("at", filter=now),
    )
    grouped = grouped.filter(searches__gt=0).annotate(ctr=Cast("clicks", FloatField()) / F("searches"))
    if earlier:
        grouped = grouped.annotate(before=Count("pk", filter=Q(at__lt=earlier[1])))
        grouped = grouped.annotate(change=F("searches") - F("before"))
    if kind == "empty":
        return grouped.filter(without_result__gt=0)
    if kind == "few_clicks":
        return grouped.filter(found__gte=MIN_SHOWN, clicks__lt=Cast(F("found"), FloatField()) / FEW_CLICKS)
    return grouped


def find_spellings(project: Project, start: datetime, end: datetime, folded: Sequence[str]) -> dict[str, str]:
    """The most frequent spelling of each of these queries; of equal ones the latest."""
    return _find_commonest(select_searches(project, start, end), "text", folded)


def _find_commonest(searches: QuerySet[Any], column: str, folded: Sequence[str]) -> dict[str, str]:
    """The most frequent value of a column for each of these queries; of equal ones the latest."""
    rows = searches.filter(folded__in=folded).values_list("folded", column)
    counted = rows.annotate(searches=Count("pk"), latest=Max("at"), newest=Max("pk"))
    return {key: value for key, value, *_ in counted.order_by("searches", "latest", "newest")}


class Cursor(NamedTuple):
    """The last row of a page, and the id of the newest search that the first page counted."""

    hits: int
    folded: str
    newest: int


@dataclass(frozen=True)
class Page:
    """Rows with `text` (the most frequent spelling), `hits`, `clicks`, `opened` (the page, or None) and `latest`.

    `total` counts the searches of all pages; `next` is the cursor of the next page, if any.
    """

    rows: list[dict[str, Any]]
    total: int
    next: Cursor | None


def fetch_page(
    project: Project, start: datetime, end: datetime, limit: int, after: Cursor | None = None, path: str = ""
) -> Page:
    """Queries of a range, the most frequent first, then by their folded text. `path` is as in `select_searches`.

    Later pages do not count searches that are newer than the first page, so that no query appears twice and none is
    missed.
    """
    recording.flush()
    found = select_searches(project, start, end, path=path)
    if after:
        found = found.filter(pk__lte=after.newest)
    name = Collate("folded", "C" if connection.vendor == "postgresql" else "BINARY")  # by code points everywhere
    grouped: QuerySet[Any, Any] = found.values("folded").annotate(
        name=name, hits=Count("pk"), clicks=Count("pk", filter=~Q(clicked_path="")), latest=Max("at")
    )
    if after:
        grouped = grouped.filter(Q(hits__lt=after.hits) | Q(hits=after.hits, name__gt=after.folded))
    with snapshot():
        whole = found.aggregate(total=Count("pk"), newest=Max("pk"))
        rows = list(grouped.order_by("-hits", "name")[: limit + 1])
        has_more = len(rows) > limit
        rows = rows[:limit]
        names = [row["folded"] for row in rows]
        texts = _find_commonest(found, "text", names)
        opened = _find_commonest(found.exclude(clicked_path=""), "clicked_path", names)
    for row in rows:
        row |= {"text": texts[row["folded"]], "opened": opened.get(row["folded"])}
    following = Cursor(rows[-1]["hits"], names[-1], whole["newest"]) if has_more else None
    return Page(rows, whole["total"], following)


def list_spellings(project: Project, start: datetime, end: datetime, query: str) -> list[tuple[str, int]]:
    """The spellings of one query, the most frequent first, with their numbers of searches."""
    rows = select_searches(project, start, end, query).values_list("text").annotate(searches=Count("pk"))
    return list(rows.order_by("-searches", "text")[:MAX_DETAILS])


def list_caller_kinds(project: Project, start: datetime, end: datetime, query: str) -> list[tuple[str, int]]:
    """Where the searches for one query came from, as `SearchQuery.CallerKind`; empty where that is not known."""
    rows = select_searches(project, start, end, query).values_list("caller_kind").annotate(searches=Count("pk"))
    return [(kind or "", searches) for kind, searches in rows.order_by("-searches", "caller_kind")]


def list_clicks(project: Project, start: datetime, end: datetime, query: str) -> list[tuple[str, int, float]]:
    """The results that readers of one query opened: path, clicks and mean position, the most opened first."""
    rows = select_searches(project, start, end, query).filter(_CLICKED).values_list("clicked_path")
    return list(rows.annotate(clicks=Count("pk"), place=Avg("position")).order_by("-clicks", "place")[:MAX_DETAILS])


def list_similar(project: Project, start: datetime, end: datetime, query: str) -> list[tuple[str, int]]:
    """Other queries with the same words in other forms or another order, with their numbers of searches."""
    words = analysis.content_stems(query)
    if not words:
        return []
    rows = select_searches(project, start, end).exclude(folded=fold_for_storage(query))
    for word in words:
        rows = rows.filter(folded__contains=word[: max(3, len(word) - 1)])  # a stem may end in another letter
    counted = rows.values_list("folded").annotate(searches=Count("pk")).order_by("-searches", "folded")[:MAX_SIMILAR]
    return [(folded, searches) for folded, searches in counted if analysis.content_stems(folded) == words][:MAX_DETAILS]
