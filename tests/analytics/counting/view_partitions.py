"""Partitions of the views on PostgreSQL. Each scenario runs in a process and a database of its own."""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.db.models import QuerySet
from django.utils import timezone

from analytics.counting import partitions, sealer, sweeper
from analytics.counting.partitions import list_partitions
from analytics.models import PageView, Seal
from docsite.core.tenants.models import Project
from tests.analytics.counting.crashes import new_project, record
from tests.analytics.counting.history import Seen, history, windows
from tests.analytics.counting.leases import begin
from tests.analytics.counting.test_counting import check
from tests.conftest import PATIENCE

IDS = 200


def begin_small() -> None:
    """Partitions of 200 ids, of which the first begins after all views that are there."""
    begin()
    partitions.MIN_IDS, partitions.MAX_PARTITIONS = IDS, 1 << 40
    with connection.cursor() as cursor:
        cursor.execute("SELECT setval(pg_get_serial_sequence('analytics_pageview', 'id'), %s)", [next_start() - 1])
    assert partitions.extend() >= 1


def next_start() -> int:
    """The end of the last partition."""
    return list_partitions()[-1].end


def fill(project: Project, days_ago: int, seed: int) -> list[Seen]:
    """Store the views of 1,000 ids, as many at once as the room is for."""
    views = history(random.Random(seed), 1000, 3, datetime.now(UTC) - timedelta(days=days_ago))
    for at in range(0, len(views), IDS // 2):
        record(project, views[at : at + IDS // 2])
        partitions.extend()
    return views


def rows_of(name: str) -> int:
    """How many rows a table has."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {name}")
        return int(cursor.fetchone()[0])


def views_in(partition: partitions.Partition) -> "QuerySet[PageView]":
    """The views with its ids."""
    return PageView.objects.filter(pk__gte=partition.start, pk__lt=partition.end)


@contextmanager
def in_use() -> Iterator[None]:
    """While somebody else reads the views in a long transaction."""
    reader = connection.copy()
    reader.set_autocommit(False)
    with reader.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM analytics_pageview")
        yield
    reader.close()


def sweep_twice() -> int:
    """Sweep everything, as if no view had arrived lately. The first time some views may not be counted yet."""
    PageView.objects.update(received=0)
    assert sealer.seal(PATIENCE)
    return sweeper.sweep(force=True)


def drop_old(removable: list[partitions.Removable]) -> int:
    """Drop what may be dropped. Returns the number of views that are gone."""
    return sum(partitions.drop(partition, removable) for partition in partitions.list_old())


def dropped_when_old() -> None:
    """A sweep drops partitions that hold old views only. Recent views stay, and reports count the same as before."""
    begin_small()
    first = next_start()
    project, now = new_project(), datetime.now(UTC)
    views = fill(project, 60, 1) + fill(project, 0, 2)
    asked = [(now - timedelta(days=80), now), *windows(random.Random(3), now, 3, 3)]
    assert rows_of(partitions.DEFAULT) == 0, "there was always room"
    before = [partition for partition in list_partitions() if partition.start >= first]
    check(project, views, asked)
    assert sweep_twice() >= 1000
    left = [partition for partition in list_partitions() if partition.start >= first]
    assert 3 <= len(before) - len(left) <= 5
    assert PageView.objects.filter(project=project).count() == 1000
    assert min(rows_of(partition.name) for partition in left[1:4]) > 0
    check(project, views, asked)
    views += fill(project, 0, 4)
    check(project, views, asked)


def kept_for_others() -> None:
    """A partition stays while it holds a view that is not counted, a sample, or one of a project that is not swept."""
    begin_small()
    project, other = new_project(), new_project()
    fill(project, 60, 5)
    fill(project, 60, 6)
    assert sealer.seal(PATIENCE)
    PageView.objects.update(received=0)
    mine = PageView.objects.filter(project=project)
    ranges = [views_in(partition).filter(project=project).order_by("pk") for partition in list_partitions()]
    by_partition = [some for some in ranges if some.count() == IDS][:4]
    of_other, sample, counted, uncounted = (some.first() for some in by_partition)
    mine.filter(pk=of_other.pk).update(project=other)
    mine.filter(pk=sample.pk).update(sample=True)
    limit = partitions.Removable(project.pk, sweeper._first_hour(30), uncounted.pk - 1)
    kept = {row.pk for some in by_partition for row in some} - {row.pk for row in by_partition[2]}
    assert drop_old([limit]) == IDS
    assert not PageView.objects.filter(pk=counted.pk).exists()
    assert set(PageView.objects.filter(pk__in=[*kept, of_other.pk]).values_list("pk", flat=True)) == kept | {
        of_other.pk
    }
    assert drop_old([]) == 0, "nothing is named"


def dropped_with_others() -> None:
    """Projects are not swept at the same time. What one that is not due could have removed a day ago may go, too."""
    begin_small()
    project, other = new_project(), new_project()
    fill(project, 60, 15)
    assert sealer.seal(PATIENCE)
    PageView.objects.update(received=0)
    shared = next(
        partition for partition in list_partitions() if views_in(partition).filter(project=project).count() == IDS
    )
    some = views_in(shared)
    some.filter(pk__lt=shared.start + 50).update(project=other)
    sealer.add_seal(other.pk)
    Seal.objects.filter(project=other).update(sealed_to=shared.end)
    Seal.objects.exclude(project=project).update(swept_at=timezone.now())
    Seal.objects.filter(project=project).update(swept_at=timezone.now() - 2 * sweeper.EVERY)
    some.filter(project=other).update(received=sweeper._first_hour(30) - 40)
    sweeper.sweep()
    assert some.count() == 50, "it arrived after the last sweep of its project"
    some.update(received=sweeper._first_hour(30) - 60)
    Seal.objects.filter(project=project).update(swept_at=timezone.now() - 2 * sweeper.EVERY)
    sweeper.sweep()
    assert shared not in list_partitions()


def one_failure() -> None:
    """A project that cannot be swept does not keep the others from it."""
    begin_small()
    projects = [new_project() for _ in range(3)]
    for project in projects:
        record(project, history(random.Random(16), 20, 3, datetime.now(UTC) - timedelta(days=60)))
    assert sealer.seal(PATIENCE)
    PageView.objects.update(received=0)
    trim = sweeper._trim_histories

    def fail(project_id: int, days: int) -> None:
        if project_id == projects[1].pk:
            raise ValueError("a damaged row")
        trim(project_id, days)

    sweeper._trim_histories = fail
    with pytest.raises(ValueError, match="a damaged row"):
        sweeper.sweep(force=True)
    sweeper._trim_histories = trim
    assert [PageView.objects.filter(project=project).count() for project in projects] == [0, 20, 0]


def nobody_waits() -> None:
    """While others use the table, no partition is made or dropped, and the next call does it."""
    begin_small()
    project = new_project()
    fill(project, 60, 6)
    assert sealer.seal(PATIENCE)
    PageView.objects.update(received=0)
    count = len(list_partitions())
    limit = partitions.Removable(project.pk, sweeper._first_hour(30), 1 << 60)
    partitions.MIN_IDS = 2 * IDS
    with in_use():
        assert (partitions.extend(), drop_old([limit])) == (0, 0)
        assert len(list_partitions()) == count
    assert partitions.extend() == 1
    assert drop_old([limit]) > 0


def several_at_once() -> None:
    """Several processes that extend at the same time make each partition once."""
    begin_small()
    count = len(list_partitions())
    partitions.MIN_IDS = 5 * IDS

    def extend() -> None:
        try:
            while partitions._lacks_room(connection, list_partitions()):
                partitions.extend()
        finally:
            connection.close()

    threads = [threading.Thread(target=extend) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    ranges = list_partitions()
    assert len(ranges) == count + 1
    assert ranges[-1].start == ranges[-2].end


def without_room() -> None:
    """Views for whose ids no partition was made in time are stored and counted, and later ones get partitions again."""
    begin_small()
    end = next_start()
    project, now = new_project(), datetime.now(UTC)
    record(project, views := history(random.Random(7), 1000, 3, now))
    assert rows_of(partitions.DEFAULT) >= 1000 - 2 * IDS
    assert partitions.extend() >= 1
    made = next(partition for partition in list_partitions() if partition.start >= end)
    record(project, late := history(random.Random(9), 2 * IDS, 3, now))
    assert rows_of(made.name) == IDS
    check(project, views + late, windows(random.Random(8), now, 3, 3))
