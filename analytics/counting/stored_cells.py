"""Store the buckets of cells, load them, and merge hours into longer buckets.

There are two tables: the cells of pages, and those of audiences. Reports of pages read only the first.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from analytics.counting.cells import SPANS, Bucket, merge
from analytics.models import AudienceCells, Cells
from docsite.core import sql
from docsite.core.db import insert

Table = type[Cells] | type[AudienceCells]


class HourlyChanges(NamedTuple):
    """Buckets of one hour each, to be added to the stored ones."""

    pages: list[Bucket]
    audiences: list[Bucket]


class UpdatedBuckets(NamedTuple):
    """The new (span, bucket) pairs of each table."""

    pages: list[tuple[int, Bucket]]
    audiences: list[tuple[int, Bucket]]


def update(project_id: int, closed: int, added: HourlyChanges) -> UpdatedBuckets:
    """Add to hours, and to the longer buckets that were made of them, up to hour `closed`.

    Merging is addition: a longer bucket takes the same additions as its hours, so these need not be read again.
    """
    return UpdatedBuckets(
        _update(Cells, project_id, closed, added.pages),
        _update(AudienceCells, project_id, closed, added.audiences),
    )


def _update(table: Table, project_id: int, closed: int, added: list[Bucket]) -> list[tuple[int, Bucket]]:
    updated = []
    for span in SPANS:
        parts = defaultdict(list)
        for delta in added:
            start = delta.start // span * span
            if span == 1 or start + span <= closed:
                parts[start].append(delta)
        for known in _load_starts(table, project_id, span, list(parts)):
            parts[known.start].append(known)
        for start, buckets in parts.items():
            is_whole = len(buckets) == 1 and buckets[0].start == start  # a new hour, so there is nothing to merge
            updated.append((span, buckets[0] if is_whole else merge(start, buckets)))
    return updated


def _load_starts(table: Table, project_id: int, span: int, starts: list[int]) -> Iterator[Bucket]:
    for first in range(0, len(starts), 5000):
        some = starts[first : first + 5000]
        marks = ", ".join(["%s"] * len(some))
        condition = f"project_id = %s AND span = %s AND start IN ({marks})"
        yield from (bucket for _, bucket in _select(table, condition, [project_id, span, *some]))


def store(project_id: int, updated: UpdatedBuckets) -> None:
    """Store buckets. Call it in the transaction that releases the lease."""
    _store(Cells, project_id, updated.pages)
    _store(AudienceCells, project_id, updated.audiences)


def _store(table: Table, project_id: int, buckets: Sequence[tuple[int, Bucket]]) -> None:
    if buckets:
        insert(
            table._meta.db_table,
            ("project_id", "span", "start", "blob"),
            [(project_id, span, bucket.start, bucket.encode()) for span, bucket in buckets],
            "(project_id, span, start) DO UPDATE SET blob = excluded.blob",
        )


def load(project_id: int, ranges: Sequence[tuple[int, int, int]], table: Table = Cells) -> list[Bucket]:
    """The buckets of ranges (span, first start, end)."""
    return load_projects({project_id: ranges}, table)[project_id]


def load_projects(
    ranges: Mapping[int, Sequence[tuple[int, int, int]]], table: Table = Cells
) -> dict[int, list[Bucket]]:
    """The buckets of several projects, each with its ranges, by the number of the project. One query for all."""
    found: dict[int, list[Bucket]] = {project_id: [] for project_id in ranges}
    limits = [(project_id, *limit) for project_id, some in ranges.items() for limit in some]
    if limits:
        parts = " OR ".join(["(project_id = %s AND span = %s AND start >= %s AND start < %s)"] * len(limits))
        for project_id, bucket in _select(table, parts, [value for limit in limits for value in limit]):
            found[project_id].append(bucket)
    return found


def _select(table: Table, condition: str, values: Sequence[int]) -> Iterator[tuple[int, Bucket]]:
    query = f"SELECT project_id, start, blob FROM {table._meta.db_table} WHERE {condition}"
    for project_id, start, blob in sql.fetch_all(query, values):
        yield project_id, Bucket.decode(start, bytes(blob))


def merge_ended_hours(project_id: int, before: int, closed: int) -> None:
    """Merge hours of a project into the longer buckets that ended between the hours `before` and `closed`."""
    for table in (Cells, AudienceCells):
        for span, shorter in zip(SPANS[-2::-1], SPANS[:0:-1], strict=True):
            first, end = before // span * span, closed // span * span
            if first < end:
                _merge(table, project_id, (span, shorter), (first, end))


def _merge(table: Table, project_id: int, spans: tuple[int, int], hours: tuple[int, int]) -> None:
    span, shorter = spans
    parts = table.objects.filter(project=project_id, span=shorter, start__gte=hours[0], start__lt=hours[1])
    for start in sorted({start // span * span for start in parts.values_list("start", flat=True)}):
        bucket = merge(start, load(project_id, [(shorter, start, start + span)], table))
        _store(table, project_id, [(span, bucket)])
