"""Who holds a lease, and what those who do not may do. Each scenario runs in a process and a database of its own,
as those of `tests.analytics.counting.crashes` do: a service of other tests seals whenever it likes.
"""

import io
import random
import re
import threading
from datetime import UTC, datetime, timedelta

from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from analytics.counting import sealer, sweeper, unsealed
from analytics.models import PageView, Seal, UnsealedProject
from docsite.core.tenants.models import Project
from tests.analytics.counting.crashes import new_project, record, stored
from tests.analytics.counting.history import history, windows
from tests.analytics.counting.test_counting import check
from tests.conftest import PATIENCE


def begin() -> None:
    """Leases are free to be taken, and there is nothing to seal, whatever other scenarios left."""
    Seal.objects.update(leased_until=0)
    assert sealer.seal(PATIENCE)


def lease(project: Project) -> sealer.Lease:
    """The lease of a project, as if the time of any other were over."""
    sealer.add_seal(project.pk)
    Seal.objects.update(leased_until=0)
    taken = sealer.acquire_lease(project.pk)
    assert taken
    return taken


def is_refused(lease: sealer.Lease, up_to: int) -> bool:
    """Whether who holds this lease may seal no more."""
    try:
        sealer.seal_views(lease, up_to)
    except sealer.LeaseLost:
        return True
    return False


def overtaken() -> None:
    """Who was overtaken writes nothing."""
    begin()
    project, now = new_project(), datetime.now(UTC)
    views = history(random.Random(3), 40, 3, now)
    record(project, views)
    up_to = unsealed.newest_view_id(project.pk)
    slow = lease(project)
    assert sealer.acquire_lease(project.pk) is None, "it is held"
    quick = lease(project)
    for is_sealed in (False, True):
        before = stored(project), list(Seal.objects.values())
        assert is_refused(slow, up_to)
        assert (stored(project), list(Seal.objects.values())) == before
        if not is_sealed:
            sealer.seal_views(quick, up_to)
    check(project, views, windows(random.Random(3), now, 3, 4))


def looked_too_early() -> None:
    """The watermark never goes back."""
    begin()
    project, now = new_project(), datetime.now(UTC)
    views = history(random.Random(4), 40, 3, now)
    record(project, views[:20])
    earlier = unsealed.newest_view_id(project.pk)
    record(project, views[20:])
    assert sealer.seal(PATIENCE)
    sealer.seal_views(lease(project), earlier)  # by one who looked before the second half came
    check(project, views, windows(random.Random(4), now, 3, 4))


def swept_unsealed() -> None:
    """A sweep removes no view that is not counted yet."""
    begin()
    project, now = new_project(), datetime.now(UTC)
    views = history(random.Random(6), 30, 60, now)
    record(project, views)
    mine = PageView.objects.filter(project=project)
    mine.update(received=0)
    sweeper.sweep(force=True)
    assert mine.count() == len(views)
    check(project, views, [(now - timedelta(days=80), now)])
    sweeper.sweep(force=True)
    assert mine.count() < len(views)
    check(project, views, [(now - timedelta(days=80), now)])


def swept_although_gone() -> None:
    """A sweep does not wait for a project that is gone."""
    begin()
    project = new_project()
    record(project, history(random.Random(12), 10, 3, datetime.now(UTC)))
    assert sealer.seal(PATIENCE)
    Seal.objects.filter(project=project).delete()
    sweep = threading.Thread(target=sweeper._trim_histories, args=(project.pk, 30), daemon=True)
    sweep.start()
    sweep.join(PATIENCE)
    assert not sweep.is_alive()


def sealed_by_command() -> None:
    """`seal` tells how many views it sealed."""
    begin()
    project, now = new_project(), datetime.now(UTC)
    views = history(random.Random(13), 40, 3, now)
    record(project, views)
    first, again = io.StringIO(), io.StringIO()
    call_command("seal", stdout=first)
    call_command("seal", stdout=again)
    assert first.getvalue().startswith("Sealed 40 views in ")
    assert again.getvalue().startswith("Sealed 0 views in ")
    check(project, views, windows(random.Random(13), now, 3, 2))


def in_turns() -> None:
    """A project with few views does not wait for one with many; and a report seals only those of its project."""
    begin()
    dice, now = random.Random(18), datetime.now(UTC)
    large, small = new_project(), new_project()
    views = {project: history(dice, size, 3, now) for project, size in ((large, 200), (small, 12))}
    for project, own in views.items():
        record(project, own)
    sealer.step_size = sealer.StepSize(10)
    order: list[int] = []
    seal_views = sealer.seal_views

    def seal_and_tell(lease: sealer.Lease, up_to: int) -> int:
        order.append(lease.project_id)
        return seal_views(lease, up_to)

    sealer.seal_views = seal_and_tell
    assert sealer.seal(PATIENCE)
    assert order[:4] == [large.pk, small.pk, large.pk, small.pk]
    assert {*order[4:]} == {large.pk}
    order.clear()
    for project in (large, small):
        record(project, new := history(dice, 12, 3, now))
        views[project] += new
    check(small, views[small], windows(dice, now, 3, 2))
    assert {*order} == {small.pk}
    check(large, views[large], windows(dice, now, 3, 2))


def only_marked() -> None:
    """Projects without new views cost nothing: one query finds that there is nothing to do, however many they are."""
    begin()
    projects = [new_project() for _ in range(5)]
    for project in projects:
        record(project, history(random.Random(19), 3, 1, datetime.now(UTC)))
    assert sealer.seal(PATIENCE)
    assert UnsealedProject.objects.count() == 0
    with CaptureQueriesContext(connection) as queries:
        assert sealer.seal(PATIENCE)
    assert len(queries) == 1
    with CaptureQueriesContext(connection) as queries:
        assert sweeper.sweep() == 0
    assert not [query for query in queries if re.search("pageview|trail|cells", query["sql"])]
