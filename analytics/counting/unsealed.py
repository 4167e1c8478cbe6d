"""Know which projects have views that are not sealed yet.

A transaction that inserts views marks their projects. A sealer looks at marked projects only, so the others cost
nothing, and removes a mark when it finds nothing left. Reports do not rely on marks: they ask for the views.
"""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from itertools import chain

from django.conf import settings
from django.db import connection, transaction

from docsite.core import sql
from docsite.core.postgresql import primary
from docsite.core.tenants.models import Project

MAX_COUNTED = 10_000  # of waiting views, for reports
_LOCK = 0x5EA1  # of PostgreSQL's advisory locks
_GROUPS = 64  # of projects, each with a lock of its own: a transaction of many projects must not need more
_MAX_IDLE = 3  # times DATABASE_SECONDS, of a transaction that keeps others from inserting
_MAX_IDS = 500  # of one query
_MAX_RANGES = 200  # of one query

_SEALED_TO = "COALESCE((SELECT sealed_to FROM analytics_projectseal AS seal WHERE seal.project_id = {}), 0)"

# The highest id, not any higher one: for that PostgreSQL may read all views of a large project in vain.
_HAS_UNSEALED = "COALESCE((SELECT MAX(id) FROM analytics_pageview WHERE project_id = %s), 0) > " + _SEALED_TO.format(
    "%s"
)


def announce_insert(project_ids: Collection[int], server: str = "") -> None:
    """Announce that this transaction will insert views of projects, and mark these. Call it before the insert.

    Only one transaction at a time inserts views of a project. The next one waits, and then sees the views of the first.
    So no id below one that a sealer has seen can be committed later. SQLite always has one writer. Raises AnotherServer
    if the database server is not this one.
    """
    if connection.vendor == "postgresql":
        groups = sorted({project_id % _GROUPS for project_id in project_ids})
        _, _, answering = sql.fetch_one(
            # If this host dies or freezes, PostgreSQL ends the transaction, so that others do not wait for hours.
            "SELECT set_config('idle_in_transaction_session_timeout', %s, true), "
            f"pg_advisory_xact_lock(%s, number), {primary.server_column()} FROM unnest(%s::int[]) AS number",
            [f"{_MAX_IDLE * settings.ENV.database_seconds}s", _LOCK, groups],
        )
        primary.check_answer(answering, server)
    found = sorted(set(project_ids))
    for first in range(0, len(found), _MAX_IDS):
        some = found[first : first + _MAX_IDS]
        # Without a unique index: two transactions may mark one project, and neither waits for the other.
        sql.execute(
            "INSERT INTO analytics_unsealedproject (project_id) "
            f"SELECT id FROM {Project._meta.db_table} AS project "
            f"WHERE id IN ({', '.join(['%s'] * len(some))}) AND NOT EXISTS "
            "(SELECT 1 FROM analytics_unsealedproject AS mark WHERE mark.project_id = project.id)",
            some,
        )


def newest_view_id(project_id: int) -> int:
    """The highest id of a project's views. From now on no lower id of the project can be committed."""
    newest = f"SELECT COALESCE(MAX(id), 0), {primary.server_column()} FROM analytics_pageview WHERE project_id = %s"
    with connection.cursor() as cursor:
        cursor.execute(f"{_wait_for_inserts(project_id)}{newest}", [project_id])
        if connection.vendor == "postgresql":
            cursor.nextset()
        highest, answering = cursor.fetchone()
    primary.check_answer(answering)
    return int(highest)


def remove_mark(project_id: int) -> None:
    """Remove the mark of a project, unless it has views that are not sealed."""
    delete = f"DELETE FROM analytics_unsealedproject WHERE project_id = %s AND NOT {_HAS_UNSEALED}"
    sql.execute(f"{_wait_for_inserts(project_id)}{delete}", [project_id] * 3)


def _wait_for_inserts(project_id: int) -> str:
    """SQL to put before a statement that must see the views of running transactions: it waits until they have ended.

    PostgreSQL gets both in one message and runs them in one transaction. The second one has a snapshot of its own.
    """
    lock = f"SELECT pg_advisory_xact_lock({_LOCK}, {project_id % _GROUPS}); "
    return lock if connection.vendor == "postgresql" else ""


@contextmanager
def hold_inserts(project_id: int) -> Iterator[None]:
    """Wait for transactions that insert views of the project, and hold up new ones until the block ends.

    On SQLite there is nothing to wait for, since one transaction writes at once.
    """
    if connection.vendor == "sqlite":
        yield
        return
    with transaction.atomic():
        sql.execute("SELECT pg_advisory_xact_lock(%s, %s)", [_LOCK, project_id % _GROUPS])
        yield


def list_marked() -> list[int]:
    """The ids of the marked projects, the oldest mark first. They may have views to seal."""
    query = "SELECT project_id FROM analytics_unsealedproject GROUP BY project_id ORDER BY MIN(id)"
    return [project_id for (project_id,) in sql.fetch_all(query)]


def has_unsealed_views(project_id: int) -> bool:
    """Whether the cells of a project lack some of its views, which a sealer has still to count."""
    return bool(sql.fetch_value(f"SELECT {_HAS_UNSEALED}", [project_id, project_id]))


def count_unsealed_views(project_id: int) -> int:
    """How many views of a project are not sealed yet, up to `MAX_COUNTED`."""
    waiting = f"SELECT 1 FROM analytics_pageview WHERE project_id = %s AND id > {_SEALED_TO.format('%s')}"
    query = f"SELECT COUNT(*) FROM ({waiting} ORDER BY id LIMIT %s) AS waiting"
    return int(sql.fetch_value(query, [project_id, project_id, MAX_COUNTED]))


def count_waiting_views() -> int:
    """How many stored views of marked projects are not yet counted."""
    marked = sql.fetch_all(
        "SELECT DISTINCT mark.project_id, COALESCE(sealed_to, 0) FROM analytics_unsealedproject AS mark "
        "LEFT JOIN analytics_projectseal AS seal ON seal.project_id = mark.project_id"
    )
    waiting = 0
    for first in range(0, len(marked), _MAX_RANGES):
        some = marked[first : first + _MAX_RANGES]
        ranges = " OR ".join(["(project_id = %s AND id > %s)"] * len(some))
        query = f"SELECT COUNT(*) FROM analytics_pageview WHERE {ranges}"
        waiting += int(sql.fetch_value(query, [*chain.from_iterable(some)]))
    return waiting
