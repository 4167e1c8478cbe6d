"""Deletes the views and visit histories of visitors. Counts hold no hashes, so they stay when a visitor is erased."""

import contextlib
import time
from collections.abc import Callable, Collection
from functools import partial

from django.db import transaction

from analytics.counting import unsealed
from analytics.counting.sealer import LeaseLost, acquire_lease, add_seal, release_lease
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
from docsite.core import sql
from docsite.core.tenants.models import Project

KINDS = {"page views": PageView, "visit histories": Trail}


def erase_visitors(project: Project, visitors: Collection[int]) -> dict[str, int]:
    """Delete the single views and the visit histories with these hashes. Returns the number of each."""
    if not visitors:  # PostgreSQL knows no empty list
        return dict.fromkeys(KINDS, 0)
    marks = ", ".join(["%s"] * len(visitors))
    return _erase_under_lease(project, lambda: _delete(project, f"visitor IN ({marks})", *visitors))


def erase_project(project: Project) -> dict[str, int]:
    """Delete all single views, visit histories, counts, exports in progress and positions of imports of a project.

    Returns their numbers. Pages stay, since processes hold their numbers in memory.
    """
    _forget_keys(project)
    erased = _erase_under_lease(project, partial(_delete_counts, project))
    AgentViews.objects.filter(project=project).delete()
    return {
        **erased,
        "exports in progress": Snapshot.objects.filter(project=project).delete()[0],
        "positions of imports": LogImport.objects.filter(project=project).delete()[0],
    }


def _forget_keys(project: Project) -> None:
    """Delete the keys of views. An empty run tells other processes to forget those that they hold."""
    with unsealed.hold_inserts(project.pk), transaction.atomic():
        ViewKeys.objects.filter(project=project).delete()
        ViewKeys.objects.create(project=project, day=int(time.time()) // 86_400, keys=b"")


def _delete_counts(project: Project) -> dict[str, int]:
    for cells in (Cells, AudienceCells):
        cells.objects.filter(project=project).delete()
    return _delete(project, "true")


def _delete(project: Project, condition: str, *values: int) -> dict[str, int]:
    """Delete the single views and visit histories of a project for which the SQL condition with these values holds."""
    delete = f"DELETE FROM {{}} WHERE project_id = %s AND {condition}"
    return {
        kind: sql.execute(delete.format(model._meta.db_table), [project.pk, *values]) for kind, model in KINDS.items()
    }


def _erase_under_lease(project: Project, erase: Callable[[], dict[str, int]]) -> dict[str, int]:
    """Erase in one transaction while nobody else writes the counts: a sealer would store a deleted history again."""
    while True:
        add_seal(project.pk)
        if lease := acquire_lease(project.pk):
            with contextlib.suppress(LeaseLost), transaction.atomic():
                release_lease(lease)  # first: nobody can take it before the end of the transaction
                return erase()
        time.sleep(0.05)
