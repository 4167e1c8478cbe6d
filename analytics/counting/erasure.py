"""Deletes the views and visit histories of visitors. Counts hold no hashes, so they stay when a visitor is erased."""

import contextlib
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import NamedTuple

from django.db import connection, transaction

from analytics.counting import unsealed
from analytics.counting.sealer import Lease, LeaseLost, acquire_lease, list_shards, release_lease
from analytics.models import (
    AgentViews,
    AudienceCells,
    Cells,
    LogImport,
    PageView,
    Snapshot,
    Trail,
    ViewKeys,
)
from docsite.core.tenants.models import Project


class Erased(NamedTuple):
    """How many page views and how many visit histories were deleted."""

    views: int
    histories: int


def erase_visitors(project: Project, visitors: Iterable[int]) -> Erased:
    """Delete the single views and the visit histories with these hashes. Returns the number of each."""
    return _sum(
        _erase_under_lease(project, partial(_shard_of, visitor), partial(_delete_visitor, project, visitor))
        for visitor in visitors
    )


def erase_project(project: Project) -> dict[str, int]:
    """Delete all single views, visit histories, counts, exports in progress and positions of imports of a project.

    Returns their numbers. Pages stay, since processes hold their numbers in memory.
    """
    _forget_keys(project)
    erased = _sum(
        _erase_under_lease(project, partial(_clamp_shard, shard), partial(_delete_shard, project))
        for shard in list_shards(project.pk)
    )
    AgentViews.objects.filter(project=project).delete()
    return {
        "page views": erased.views,
        "visit histories": erased.histories,
        "exports in progress": Snapshot.objects.filter(project=project).delete()[0],
        "positions of imports": LogImport.objects.filter(project=project).delete()[0],
    }


def _forget_keys(project: Project) -> None:
    """Delete the keys of views. An empty run tells other processes to forget those that they hold."""
    with unsealed.hold_inserts(project.pk), transaction.atomic():
        ViewKeys.objects.filter(project=project).delete()
        ViewKeys.objects.create(project=project, day=int(time.time()) // 86_400, keys=b"")


def _sum(parts: Iterable[Erased]) -> Erased:
    parts = list(parts)
    return Erased(sum(part.views for part in parts), sum(part.histories for part in parts))


def _shard_of(visitor: int, shards: int) -> int:
    return visitor & (shards - 1)


def _clamp_shard(shard: int, shards: int) -> int:
    return min(shard, shards - 1)  # there may be fewer meanwhile


def _delete_visitor(project: Project, visitor: int, lease: Lease) -> Erased:
    return _delete(project, "visitor = %s", visitor)


def _delete_shard(project: Project, lease: Lease) -> Erased:
    for cells in (Cells, AudienceCells):
        cells.objects.filter(project=project, shard=lease.shard).delete()
    return _delete(project, "(visitor & %s) = %s", lease.shards - 1, lease.shard)


def _delete(project: Project, condition: str, *values: int) -> Erased:
    """Delete the single views and visit histories of a project for which the SQL condition with these values holds."""
    numbers = []
    with connection.cursor() as cursor:
        for model in (PageView, Trail):
            cursor.execute(
                f"DELETE FROM {model._meta.db_table} WHERE project_id = %s AND {condition}", [project.pk, *values]
            )
            numbers.append(cursor.rowcount)
    return Erased(*numbers)


def _erase_under_lease(
    project: Project, choose_shard: Callable[[int], int], erase: Callable[[Lease], Erased]
) -> Erased:
    """Erase in one transaction while nobody else writes the shard: a sealer would store a deleted history again."""
    while True:
        shard = choose_shard(len(list_shards(project.pk)))
        if lease := acquire_lease(project.pk, shard):
            with contextlib.suppress(LeaseLost), transaction.atomic():
                release_lease(lease)  # first: nobody can take it before the end of the transaction
                if choose_shard(lease.shards) == shard:
                    return erase(lease)
        time.sleep(0.05)
