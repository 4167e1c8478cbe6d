"""Count the views that match several filters at once, such as a source, a page and a device.

Cells know each value alone, so these counts come from raw views: they are exact to the instant, but they begin
where raw views do.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from itertools import chain, product
from typing import NamedTuple

import numpy as np
from django.db.models import Sum

from analytics.audience import ENTRY, INTERNAL
from analytics.counting import audiences, pages, sealer, sweeper
from analytics.counting.cells import CRAWLER, FIRST_KEY, HUMAN, Ints
from analytics.models import EPOCH, Audience, PageView, Seal
from analytics.reports import visitor_counts
from analytics.reports.audience_counts import PAGE, AudienceCounts, Metric, count_keys
from analytics.reports.visitor_counts import NAMES, Counts, StepCounts
from docsite.core import sql
from docsite.core.tenants.models import Project

_HUMAN, _AI = 1, 2  # flags
_MICROSECOND = timedelta(microseconds=1)
_MEMORY_SECONDS = 60
_MAX_VIEWS_IN_MEMORY = 2_000_000  # of 40 bytes each


def kept_from(project: Project) -> datetime:
    """The first instant from which raw views are kept."""
    return EPOCH + timedelta(hours=sweeper.first_kept_hour(project))


def is_rounded(project: Project, *ends: datetime) -> bool:
    """Whether an end of a range lies within an hour of which raw views are not kept any more."""
    return any(end < kept_from(project) and (end - EPOCH) % timedelta(hours=1) for end in ends)


class _Views(NamedTuple):
    """Views as parallel arrays. `who` is the index of a visitor, `flag` says human or AI."""

    at: Ints
    page: Ints
    audience: Ints
    who: Ints
    flag: Ints


@dataclass(frozen=True)
class FilteredCounts:
    """The views of a project that match filters."""

    project: Project
    views: _Views

    @classmethod
    def load(cls, project: Project, filters: Mapping[str, str], start: datetime, end: datetime) -> "FilteredCounts":
        """The views of a range with all of these values, by dimension; `page` is one, too."""
        return cls(project, _load_views(project, filters, start, end))

    def totals(self, metric: Metric) -> dict[str, int]:
        """Of all matching views."""
        return dict(zip(NAMES, self._count(np.zeros_like(self.views.page), 1, metric)[0].tolist(), strict=True))

    def pages(self, metric: Metric) -> Counts:
        """By page, in the order of reports."""
        known = pages.for_project(self.project.pk)
        known.load()
        by_page = self._count(self.views.page, len(known.paths), metric)
        by_page[0] = list(self.totals(metric).values())
        seen = np.flatnonzero(by_page[1:, 2]) + 1
        numbers = np.concatenate([[0], seen[np.lexsort((known.rank()[seen], -by_page[seen, 2]))]])
        return Counts(self.project.pk, np.column_stack([numbers, by_page[numbers]]))

    def audience(self, metric: Metric) -> AudienceCounts:
        """By the values of each dimension."""
        view, key = self._keys
        size = count_keys(self.project.pk, audiences.for_project(self.project.pk))
        return AudienceCounts(self.project.pk, self._count(key - FIRST_KEY, size, metric, view))

    def steps(self, steps: Sequence[tuple[datetime, datetime]]) -> list[StepCounts]:
        """In each of some half-open steps of time, which follow each other."""
        starts = np.array([(start - EPOCH) // _MICROSECOND for start, _ in steps], np.int64)
        place = np.searchsorted(starts, self.views.at, "right") - 1
        within = (place >= 0) & (self.views.at < (steps[-1][1] - EPOCH) // _MICROSECOND)
        visitors, views = (
            self._count(place[within], len(steps), metric, np.flatnonzero(within)).tolist()
            for metric in ("visitors", "views")
        )
        return [
            StepCounts(start, end, *(dict(zip(NAMES, row, strict=True)) for row in rows))
            for (start, end), *rows in zip(steps, visitors, views, strict=True)
        ]

    @cached_property
    def _keys(self) -> tuple[Ints, Ints]:
        return audiences.for_project(self.project.pk).keys_of(self.views.audience, self.views.page)

    def _count(self, group: Ints, size: int, metric: Metric, view: Ints | None = None) -> Ints:
        """Human, AI and total by group, shape (`size`, 3). `view`: the index of each group's view, if not all."""
        who, flag = self.views.who, self.views.flag
        if view is not None:
            who, flag = who[view], flag[view]
        if metric == "visitors":
            group, flag = _merge_visitors(group, who, flag)
        human, ai = (np.bincount(group[flag & mark > 0], minlength=size) for mark in (_HUMAN, _AI))
        return np.stack([human, ai, np.bincount(group, minlength=size)], axis=1)


def _merge_visitors(group: Ints, who: Ints, flag: Ints) -> tuple[Ints, Ints]:
    """One row for each visitor of a group, with all flags of its views."""
    if not len(group):
        return group, flag
    width = int(who.max()) + 1
    packed = np.sort((group * width + who) << 2 | flag)  # ten times as fast as an order of indexes
    pair = packed >> 2
    starts = np.flatnonzero(np.concatenate([[True], pair[1:] != pair[:-1]]))
    return pair[starts] // width, np.bitwise_or.reduceat(packed & 3, starts)


def _load_views(project: Project, filters: Mapping[str, str], start: datetime, end: datetime) -> _Views:
    """The views from the database, or from the last minute's memory while no other views are sealed."""
    first, last = ((instant - EPOCH) // _MICROSECOND for instant in (start, end))
    flags = kinds_of_views(project)
    sealed = Seal.objects.filter(project=project).aggregate(sum=Sum("sealed_to"))["sum"]
    key = (project.pk, first, last, sealed, tuple(sorted(filters.items())), tuple(flags.items()))
    return _recent_views.load(key, lambda: _select_views(project, filters, first, last, flags))


def _select_views(
    project: Project, filters: Mapping[str, str], first: int, last: int, flags: Mapping[tuple[str, str], int]
) -> _Views:
    conditions, values = _conditions(project, filters)
    kinds = {pair: flag for pair, flag in flags.items() if flag}
    cases = "WHEN client_class = %s AND surface = %s THEN %s " * len(kinds)
    rows = sql.fetch_all(
        f"SELECT at, page, audience, visitor, CASE {cases}ELSE 0 END FROM analytics_pageview "
        f"WHERE project_id = %s AND at >= %s AND at < %s{conditions}",
        [value for pair, flag in kinds.items() for value in (*pair, flag)] + [project.pk, first, last, *values],
    )
    found = np.fromiter(chain.from_iterable(rows), np.int64, 5 * len(rows)).reshape(-1, 5)
    at, page, audience, visitor, flag = found[found[:, 4] > 0].T
    _, who = np.unique(visitor, return_inverse=True)
    return _Views(at, page, audience, who, flag)


class _RecentViews:
    """The views of the latest filters, so that another order, table or metric of a report reads them only once."""

    def __init__(self) -> None:
        self._found: OrderedDict[Hashable, tuple[float, _Views]] = OrderedDict()
        self._lock = threading.Lock()

    def load(self, key: Hashable, select: Callable[[], _Views]) -> _Views:
        now = time.monotonic()
        with self._lock:
            at, views = self._found.get(key, (0.0, None))
        if views is None or now - at > _MEMORY_SECONDS:
            views = select()
            with self._lock:
                self._found[key] = (now, views)
                self._found.move_to_end(key)
                self._forget(now)
        return views

    def _forget(self, now: float) -> None:
        """Forget what is old, and the oldest while there is too much."""
        size = sum(len(views.at) for _, views in self._found.values())
        for key, (at, views) in list(self._found.items()):
            if now - at > _MEMORY_SECONDS or size > _MAX_VIEWS_IN_MEMORY:
                del self._found[key]
                size -= len(views.at)


_recent_views = _RecentViews()


def _conditions(project: Project, filters: Mapping[str, str]) -> tuple[str, list[str | int]]:
    """SQL for filters, and its values."""
    condition = ""
    values: list[str | int] = []
    of_audience = Audience.objects.filter(project=project)
    for dimension, value in filters.items():
        if dimension in (PAGE, ENTRY):
            known = pages.for_project(project.pk)
            known.load()
            condition += " AND page = %s"
            values.append(known.numbers.get(value, -1))
        if dimension == ENTRY:
            of_audience = of_audience.exclude(channel__in=["", INTERNAL])
        elif dimension != PAGE:
            of_audience = of_audience.filter(**{dimension: value})
    if filters.keys() - {PAGE}:
        numbers, more = of_audience.values("number").query.sql_with_params()
        condition += f" AND audience IN ({numbers})"
        values += more
    return condition, values


def kinds_of_views(project: Project) -> dict[tuple[str, str], int]:
    """Whether views count as human or as AI, by class and format; 0 if they do not count."""
    crawlers = visitor_counts.counts_crawlers(project)
    flags = {}
    for client_class, surface in product(PageView.Class.values, PageView.Surface.values):
        kind = sealer.kind_of(client_class, surface)
        is_left_out = kind is None or (kind == CRAWLER and not crawlers)
        flags[client_class, surface] = 0 if is_left_out else _HUMAN if kind == HUMAN else _AI
    return flags
