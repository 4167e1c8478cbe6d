"""Count the visitors and views of each value of a dimension in a half-open range, by the same cells as pages."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Literal, NamedTuple

import numpy as np

from analytics.audience import DIMENSIONS, ENTRY
from analytics.counting import audiences, cells, pages, sealer, visit_history
from analytics.counting.audiences import Audiences
from analytics.counting.cells import FIRST_KEY, Ints
from analytics.models import AudienceCells, Cells
from analytics.reports import visitor_counts
from analytics.reports.visitor_counts import NAMES, StepCounts
from analytics.reports.window import Window
from docsite.core.db import snapshot
from docsite.core.tenants.models import Project

Metric = Literal["visitors", "views"]
PAGE = "page"  # filters take it beside the dimensions


class ValueCount(NamedTuple):
    """The visitors or views of one value of a dimension."""

    value: str
    human: int
    ai: int
    total: int


NO_COUNT = ValueCount("", 0, 0, 0)


@dataclass(frozen=True)
class AudienceCounts:
    """Visitors or views by key. `table` has the columns human, ai and total."""

    project_id: int
    table: Ints

    def rows(self, dimension: str) -> list[ValueCount]:
        """The values of a dimension that were seen, the most frequent first, then by value."""
        table = self.table[1::2] if dimension == ENTRY else self.table[0::2]  # keys of pages are odd
        numbers = np.flatnonzero(table[:, 2]).tolist()
        if dimension == ENTRY:
            named = [(ENTRY, path) for path in pages.paths_of(self.project_id, numbers)]
        else:
            values = audiences.for_project(self.project_id).values
            named = [values[number] for number in numbers]
        counts = zip(named, table[numbers].tolist(), strict=True)
        found = [ValueCount(value, *row) for (name, value), row in counts if name == dimension]
        return sorted(found, key=lambda row: (-row.total, row.value))

    def of(self, dimension: str, value: str) -> ValueCount:
        """The count of one value; zeros if it was not seen."""
        key = find_key(self.project_id, dimension, value)
        if key is None or key >= len(self.table):
            return NO_COUNT._replace(value=value)
        return ValueCount(value, *self.table[key].tolist())


def count(project: Project, start: datetime, end: datetime, metric: Metric) -> AudienceCounts:
    """The visitors or views of each value of each dimension."""
    window = Window.from_range(project, start, end)
    with snapshot():
        buckets = visitor_counts.load_buckets(project.pk, window, AudienceCells)
        edge = visitor_counts.load_edges(project.pk, window.edges)
        known = audiences.for_project(project.pk)
        size = count_keys(project.pk, known)
        by_key = (
            cells.count_visitors(buckets, window.hours[0], size)
            if metric == "visitors"
            else cells.count_views(buckets, size)
        )
        if len(edge):
            by_key += _count_edge(project.pk, window, known, edge, metric, size)
    return AudienceCounts(project.pk, cells.sum_layers(by_key, crawlers=visitor_counts.counts_crawlers(project)))


def count_keys(project_id: int, known: Audiences) -> int:
    """The number of keys of a project, after its audiences and pages are loaded."""
    known.load()
    paths = pages.for_project(project_id)
    paths.load()
    return 2 * max(len(known.values), len(paths.paths))


def _count_edge(project_id: int, window: Window, known: Audiences, edge: Ints, metric: Metric, size: int) -> Ints:
    """What the raw views at the edges of a window add to its whole hours."""
    added = np.zeros((size, cells.LAYERS), np.int64)
    if metric == "views":
        _, page, _, kind, audience = edge.T
        view, key = known.keys_of(audience, page)
        np.add.at(added, (key - FIRST_KEY, kind[view]), 1)
        return added
    first, end = window.hours
    for some in visit_history.split(edge[:, 2]):
        hour, page, visitor, kind, audience = edge[some].T
        visitors, who = np.unique(visitor, return_inverse=True)
        _, blobs = sealer.load_histories(project_id, visitors.tolist())
        history = visit_history.decode(blobs).of_audiences()
        history = history[(history.hour >= first) & (history.hour < end)]
        new = visit_history.from_views(who, page, kind, hour, known.keys_of(audience, page)).of_audiences()
        added += visit_history.count_new_visitors(history, new, size)
    return added


def count_steps(
    project: Project, steps: Sequence[tuple[datetime, datetime]], dimension: str, value: str
) -> list[StepCounts]:
    """The counts of one value, or of a page, in each of some half-open steps of time, which follow each other."""
    key, table = find_key(project.pk, dimension, value), Cells if dimension == PAGE else AudienceCells
    if key is None:
        nothing = dict.fromkeys(NAMES, 0)
        return [StepCounts(start, end, nothing, nothing) for start, end in steps]

    if dimension == PAGE:
        edges = partial(visitor_counts.count_edges, project.pk, key)
    else:
        edges = partial(_count_edges, project.pk, key)
    return visitor_counts.count_each_step(project, steps, partial(cells.count_page, page=key), edges, table)


def _count_edges(project_id: int, key: int, window: Window) -> Ints:
    """What the edges of a window add to its whole hours: visitors and views of a key, by layer."""
    edge = visitor_counts.load_edges(project_id, window.edges)
    known = audiences.for_project(project_id)
    size = count_keys(project_id, known)
    metrics: tuple[Metric, Metric] = ("visitors", "views")
    return np.stack([_count_edge(project_id, window, known, edge, metric, size)[key] for metric in metrics])


def find_key(project_id: int, dimension: str, value: str) -> int | None:
    """The key of a value, counted from 0, or the number of a page; None if no view ever had it."""
    if dimension in (ENTRY, PAGE):
        known = pages.for_project(project_id)
        known.load()
        number = known.numbers.get(value)
        return number if dimension == PAGE or number is None else number << 1 | 1
    assert dimension in DIMENSIONS
    found = audiences.for_project(project_id)
    found.load()
    number = found.find_value(dimension, value)
    return None if number is None else number << 1
