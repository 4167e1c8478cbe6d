"""Deletes the views and visit histories of visitors. Counts hold no hashes, so they stay when a visitor is erased."""

import contextlib
import time
from collections.abc import Callable, Iterable
from functools import partial

from django.db import connection, transaction

from analytics.counting.sealer import Lease, LeaseLost, acquire_lease, release_lease
from analytics.models import AgentViews, Cells, LogImport, PageView, Seal, Snapshot, Trail
from docsite.core.tenants.models import Project

Erased = tuple[int, int]  # single views, visit histories


def erase_visitors(project: Project, visitors: Iterable[int]) -> Erased:
    """Delete the single views and the visit histories with these hashes. Returns the number of each."""
    by_visitor = [
        _with_lease(partial(_shard_of, visitor), _rows_of(project, "visitor = %s", visitor)) for visitor in visitors
    ]
    return sum(views for views, _ in by_visitor), sum(histories for _, histories in by_visitor)


def erase_project(project: Project) -> dict[str, int]:
    """Delete all single views, visit histories, counts, exports in progress and positions of imports of a project.

    Returns their numbers. Pages stay, since processes hold their numbers in memory.
    """
    views = histories = 0
    for shard in Seal.objects.values_list("shard", flat=True):
        erase_rows = _rows_of(project, "(visitor & %s) = %s")

        def erase(lease: Lease, erase_rows: Callable[[Lease], Erased] = erase_rows) -> Erased:
            Cells.objects.filter(project=project, shard=lease.shard).delete()
            return erase_rows(lease)

        more_views, more_histories = _with_lease(partial(_same_shard, shard), erase)
        views, histories = views + more_views, histories + more_histories
    AgentViews.objects.filter(project=project).delete()
    return {
        "page views": views,
        "visit histories": histories,
        "exports in progress": Snapshot.objects.filter(project=project).delete()[0],
        "positions of imports": LogImport.objects.filter(project=project).delete()[0],
    }


def _shard_of(visitor: int, shards: int) -> int:
    return visitor & (shards - 1)


def _same_shard(shard: int, shards: int) -> int:
    return min(shard, shards - 1)  # there may be fewer meanwhile


def _rows_of(project: Project, condition: str, *values: int) -> Callable[[Lease], Erased]:
    """A function that deletes the rows with that SQL condition. Without values, it gets those of the lease."""

    def erase(lease: Lease) -> Erased:
        with connection.cursor() as cursor:
            numbers = []
            for model in (PageView, Trail):
                cursor.execute(
                    f"DELETE FROM {model._meta.db_table} WHERE project_id = %s AND {condition}",
                    [project.pk, *(values or (lease.shards - 1, lease.shard))],
                )
                numbers.append(cursor.rowcount)
        return numbers[0], numbers[1]

    return erase


def _with_lease(choose_shard: Callable[[int], int], erase: Callable[[Lease], Erased]) -> Erased:
    """Erase in one transaction while nobody else writes the shard: a sealer would store a deleted history again."""
    while True:
        shard = choose_shard(Seal.objects.count())
        if lease := acquire_lease(shard):
            with contextlib.suppress(LeaseLost), transaction.atomic():
                release_lease(lease)  # first: nobody can take it before the end of the transaction
                if choose_shard(lease.shards) == shard:
                    return erase(lease)
        time.sleep(0.05)
