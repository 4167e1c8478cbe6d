"""Who holds a lease, and what those who do not may do. Each scenario runs in a process and a database of its own,
as those of `tests.analytics.counting.crashes` do: a service of other tests seals whenever it likes.
"""

import io
import random
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

from django.core.management import call_command
from django.db import connection

from analytics.counting import sealer, shards, sweeper
from analytics.models import PageView, Seal, Trail
from tests.analytics.counting.crashes import new_project, record, stored
from tests.analytics.counting.history import history, windows
from tests.analytics.counting.test_counting import check
from tests.conftest import PATIENCE


def begin() -> None:
    """One shard, free to be taken, and nothing to seal, whatever other scenarios left."""
    Seal.objects.update(leased_until=0)
    shards.set_count(1)
    assert sealer.seal(PATIENCE)


def lease() -> sealer.Lease:
    """The lease of the only shard, as if the time of any other were over."""
    Seal.objects.update(leased_until=0)
    taken = sealer.acquire_lease(0)
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
    up_to = sealer.newest_view_id()
    slow = lease()
    assert sealer.acquire_lease(0) is None, "it is held"
    quick = lease()
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
    earlier = sealer.newest_view_id()
    record(project, views[20:])
    assert sealer.seal(PATIENCE)
    sealer.seal_views(lease(), earlier)  # by one who looked before the second half came
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


def held_before_a_change() -> None:
    """Who held a lease before the number of shards changed writes nothing."""
    for shard in (0, 1):
        begin()
        project, now = new_project(), datetime.now(UTC)
        shards.set_count(2)
        Seal.objects.update(token=0)
        views = history(random.Random(11), 40, 3, now)
        record(project, views)
        slow = sealer.acquire_lease(shard)
        assert slow
        Seal.objects.update(leased_until=0)  # its time is over
        shards.set_count(1)
        shards.set_count(2)
        assert sealer.acquire_lease(shard)
        assert is_refused(slow, slow.sealed_to)
        Seal.objects.update(leased_until=0)
        check(project, views, windows(random.Random(11), now, 3, 2))


def four_just_before_the_lease(proceed: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
    """What another process may do at the worst moment."""
    if "leased_until = %s" in sql and Seal.objects.count() == 1:
        shards.set_count(4)
    return proceed(sql, params, many, context)


def changed_while_taken() -> None:
    """A lease knows the number of shards although it changes while it is taken."""
    begin()
    with connection.execute_wrapper(four_just_before_the_lease):
        taken = sealer.acquire_lease(0)
    assert taken
    assert (taken.shard, taken.shards) == (0, 4)


def changed_while_swept() -> None:
    """A sweep trims only the visitors of the lease it has."""
    begin()
    project, now = new_project("17" * 32), datetime.now(UTC)
    views = history(random.Random(17), 200, 90, now)
    record(project, views)
    assert sealer.seal(PATIENCE)
    with connection.execute_wrapper(four_just_before_the_lease):
        sweeper._trim_shard(0)
    trimmed = Trail.objects.filter(project=project, trimmed__gt=0).values_list("visitor", flat=True)
    assert {visitor & 3 for visitor in trimmed} == {0}
    sweeper.sweep(force=True)
    assert {visitor & 3 for visitor in trimmed.all()} == {0, 1, 2, 3}
    check(project, views, [(now - timedelta(days=95), now)])


def swept_although_gone() -> None:
    """A sweep does not wait for a shard that is gone."""
    begin()
    record(new_project(), history(random.Random(12), 10, 3, datetime.now(UTC)))
    assert sealer.seal(PATIENCE)
    sweep = threading.Thread(target=sweeper._trim_shard, args=(7,), daemon=True)
    sweep.start()
    sweep.join(PATIENCE)
    assert not sweep.is_alive()


def sealed_by_command() -> None:
    """`seal` tells how many views it sealed, and what comes next."""
    begin()
    project, now = new_project(), datetime.now(UTC)
    views = history(random.Random(13), 40, 3, now)
    record(project, views)
    first, again = io.StringIO(), io.StringIO()
    call_command("seal", stdout=first)
    call_command("seal", stdout=again)
    told = first.getvalue().splitlines()
    assert told[0].startswith("Sealed 40 views in ")
    assert told[-1] == "To seal continuously: manage.py seal --watch"
    assert again.getvalue().startswith("Sealed 0 views in ")
    check(project, views, windows(random.Random(13), now, 3, 2))
