"""Count the visitors and views of a project in a half-open range of time."""

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any

import numpy as np
from django.db import DatabaseError
from django.db.models import Min

from analytics.collecting import view_log
from analytics.counting import cells, pages, sealer, stored_cells, visit_history
from analytics.counting.cells import Ints
from analytics.models import EPOCH, AnalyticsSettings, Cells, PageView, Seal
from analytics.reports.window import Window
from docsite.core.db import snapshot
from docsite.core.tenants.models import Project

logger = logging.getLogger(__name__)

NAMES = ("human", "ai", "total")
HOUR = timedelta(hours=1)
PAGE_SECONDS = 0.3  # that a page waits for views to be counted
MIN_SEAL_SECONDS = 0.1  # after views in the log were waited for in vain


@dataclass(frozen=True)
class Counts:
    """Visitors or views of the whole site and of each page, sorted by total (descending), then path.

    `table` has a row for the site, which comes first, then one for each page:
    number, human, ai, total.
    """

    project_id: int
    table: Ints

    @property
    def totals(self) -> dict[str, int]:
        """Of the whole site."""
        return dict(zip(NAMES, self.table[0, 1:].tolist(), strict=True))

    @property
    def overlap(self) -> int:
        """Visitors seen both as people and as AI."""
        totals = self.totals
        return totals["human"] + totals["ai"] - totals["total"]

    def __len__(self) -> int:
        return len(self.table) - 1

    def rows(self, start: int = 0, end: int | None = None) -> list[dict[str, Any]]:
        """The rows of pages from `start` up to `end`."""
        some = self.table[1:][start:end].tolist()
        paths = pages.paths_of(self.project_id, [row[0] for row in some])
        return [{"path": path, **dict(zip(NAMES, row[1:], strict=True))} for path, row in zip(paths, some, strict=True)]

    def of(self, path: str) -> dict[str, int]:
        """The counts of one page; zeros if it was not seen."""
        number = pages.for_project(self.project_id).numbers.get(path)
        row = self.table[1:][self.table[1:, 0] == number, 1:].sum(axis=0)
        return dict(zip(NAMES, row.tolist(), strict=True))

    def pack(self) -> bytes:
        """The table as little-endian 64-bit numbers."""
        return self.table.astype("<i8").tobytes()

    @classmethod
    def unpack(cls, project_id: int, packed: bytes) -> "Counts":
        """The counts of packed bytes."""
        return cls(project_id, np.frombuffer(packed, "<i8").reshape(-1, 4))


def refresh(project: Project, timeout: float = sealer.REPORT_TIMEOUT_SECONDS) -> bool:
    """Seal new views of a project. First wait until the database has those in the view log, if there is one.

    Takes about `timeout` seconds at most. Returns whether all views are sealed now.
    """
    until = time.monotonic() + timeout
    is_stored = view_log.wait_until_stored(timeout)
    try:
        if sealer.seal_project(project.pk, max(until - time.monotonic(), MIN_SEAL_SECONDS)) and is_stored:
            return True
        logger.warning("A report lacks views that are not counted yet, or that wait in a view log.")
    except DatabaseError:  # for example a full disk; sealed views can still be read
        logger.exception("A report was computed without the latest views.")
    return False


def count_visitors(project: Project, start: datetime, end: datetime, *, fresh: bool = True) -> Counts:
    """Unique visitors with `start <= view < end`; `total` counts one seen as both human and AI once.

    `fresh`: seal new views first. For several counts, call `refresh` once instead.
    """
    return _count(project, Window.from_range(project, start, end), _count_visitors_by_page, fresh=fresh)


def count_views(project: Project, start: datetime, end: datetime, *, fresh: bool = True) -> Counts:
    """Views with `start <= view < end`; `total` is human and AI. `fresh` as in `count_visitors`."""
    return _count(project, Window.from_range(project, start, end), _count_views_by_page, fresh=fresh)


@dataclass(frozen=True)
class StepCounts:
    """One step of a report's range, half-open: unique visitors and views of the whole site within it."""

    start: datetime
    end: datetime
    visitors: dict[str, int]
    views: dict[str, int]


def count_steps(project: Project, steps: Sequence[tuple[datetime, datetime]]) -> list[StepCounts]:
    """The counts of each of some half-open steps of time, which follow each other.

    Visitors of the steps do not add up to those of the range: a visitor of two steps counts in both.
    """
    return count_each_step(project, steps, cells.count_page, partial(count_edges, project.pk, cells.SITE))


def count_edges(project_id: int, page: int, window: Window) -> Ints:
    """What the edges of a window add to its whole hours: visitors and views of a page, or of the site, by layer."""
    edge = load_edges(project_id, window.edges)
    known = pages.for_project(project_id)
    known.load()
    counts = (_count_visitors_by_page, _count_views_by_page)
    return np.stack([count(project_id, window, [], edge, len(known.paths))[page] for count in counts])


def count_each_step(
    project: Project,
    steps: Sequence[tuple[datetime, datetime]],
    count: Callable[[Iterable[cells.Bucket], int], tuple[Ints, Ints]],
    count_edges: Callable[[Window], Ints],
    table: stored_cells.Table = Cells,
) -> list[StepCounts]:
    """Count the cells of steps that follow each other, which are loaded at once.

    `count` returns visitors and views of a step's buckets by layer. `count_edges` returns what single views add where
    the ends of a step are not whole hours.
    """
    windows = [Window.from_range(project, start, end) for start, end in steps]
    whole = [window.hours for window in windows if window.hours[0] < window.hours[1]]
    crawlers = counts_crawlers(project)
    found = []
    with snapshot():
        loaded = stored_cells.load(project.pk, cells.cover_steps(whole, merged_until(project.pk)), table=table)
        parts = dict(zip(whole, cells.split(loaded, whole), strict=True))
        for (start, end), window in zip(steps, windows, strict=True):
            sums = np.stack(count(parts.get(window.hours, []), window.hours[0]))
            if window.edges:
                sums += count_edges(window)
            rows = cells.sum_layers(sums, crawlers=crawlers).tolist()
            found.append(StepCounts(start, end, *(dict(zip(NAMES, row, strict=True)) for row in rows)))
    return found


def count_sites(projects: Sequence[Project], ranges: Sequence[tuple[datetime, datetime]]) -> list[list[int]]:
    """The unique visitors of whole sites in ranges that follow each other, for each project.

    Two queries for all projects, unless an end is within an hour. Views that are not sealed yet do not count.
    """
    if any((instant - EPOCH) % HOUR for range_ in ranges for instant in range_):
        return [[count_visitors(one, *range_, fresh=False).totals["total"] for range_ in ranges] for one in projects]
    hours = [((start - EPOCH) // HOUR, (end - EPOCH) // HOUR) for start, end in ranges]
    seals = Seal.objects.filter(project__in=projects).values_list("project").order_by()
    closed = dict(seals.annotate(least=Min("closed")))
    loaded = stored_cells.load_projects({pk: cells.cover_steps(hours, closed[pk] or 0) for pk in closed})
    found = []
    for project in projects:
        parts = zip(cells.split(loaded.get(project.pk, []), hours), hours, strict=True)
        layers = np.stack([cells.count_page(part, first)[0] for part, (first, _) in parts])
        found.append(cells.sum_layers(layers, crawlers=counts_crawlers(project))[:, 2].tolist())
    return found


def _count(project: Project, window: Window, count: Callable[..., Ints], *, fresh: bool) -> Counts:
    if fresh:
        refresh(project)
    with snapshot():
        buckets = load_buckets(project.pk, window)
        edge = load_edges(project.pk, window.edges)
        known = pages.for_project(project.pk)
        known.load()
        by_layer = count(project.pk, window, buckets, edge, len(known.paths))
    counts = cells.sum_layers(by_layer, crawlers=counts_crawlers(project))
    seen = np.flatnonzero(counts[1:, 2]) + 1
    order = np.lexsort((known.rank()[seen], -counts[seen, 2]))
    numbers = np.concatenate([[0], seen[order]])
    return Counts(project.pk, np.column_stack([numbers, counts[numbers]]))


def counts_crawlers(project: Project) -> bool:
    """Whether AI search and training crawlers count as AI in a project."""
    return AnalyticsSettings.for_project(project).ai_scope == AnalyticsSettings.AiScope.ALL


def merged_until(project_id: int) -> int:
    """The hour by which buckets of a project that have ended are merged into longer ones."""
    return Seal.objects.filter(project=project_id).aggregate(least=Min("closed"))["least"] or 0


def load_buckets(project_id: int, window: Window, table: stored_cells.Table = Cells) -> list[cells.Bucket]:
    """The buckets of the whole hours of a window."""
    return list(stored_cells.load(project_id, cells.cover(*window.hours, merged_until(project_id)), table=table))


def load_edges(project_id: int, edges: Sequence[tuple[int, int]]) -> Ints:
    """The raw views at the edges of a window: hour, page, visitor, kind and audience, one row each."""
    found: list[tuple[int, int, int, int, int]] = []
    for lo, hi in edges:
        rows = PageView.objects.filter(project=project_id, at__gte=lo, at__lt=hi)
        for at, page, visitor, client_class, surface, audience in rows.values_list(
            "at", "page", "visitor", "client_class", "surface", "audience"
        ):
            kind = sealer.kind_of(client_class, surface)
            if kind is not None:
                found.append((at // sealer.HOUR, page, visitor, kind, audience))
    return np.array(found, np.int64).reshape(-1, 5)


def _count_views_by_page(project_id: int, window: Window, buckets: list[cells.Bucket], edge: Ints, count: int) -> Ints:
    by_page = cells.count_views(buckets, count)
    np.add.at(by_page, (edge[:, 1], edge[:, 3]), 1)
    by_page[cells.SITE] = by_page.sum(axis=0)
    return by_page


def _count_visitors_by_page(
    project_id: int, window: Window, buckets: list[cells.Bucket], edge: Ints, count: int
) -> Ints:
    """Visitors of the whole hours by the formula of `counting.cells`, plus new ones at the edges."""
    first, end = window.hours
    by_page = cells.count_visitors(buckets, first, count)
    for some in visit_history.split(edge[:, 2]):
        hour, page, visitor, kind, _ = edge[some].T
        visitors, who = np.unique(visitor, return_inverse=True)
        _, blobs = sealer.load_histories(project_id, visitors.tolist())
        known = visit_history.decode(blobs)
        known = known[(known.hour >= first) & (known.hour < end)]
        by_page += visit_history.count_new_visitors(known, visit_history.from_views(who, page, kind, hour), count)
    return by_page


def ai_classes(project: Project) -> list[str]:
    """The classes that count as AI in a project."""
    readers = ["ai_user", "ai_agent"]
    return [*readers, "ai_search", "ai_training"] if counts_crawlers(project) else readers
