"""What may happen to those who write and seal. Each scenario runs in a process and a database of its own.

Sealing goes over all projects, so beside other tests nobody could say which statement comes next.
"""

import os
import random
import secrets
import signal
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from itertools import count
from pathlib import Path
from typing import Any

import time_machine
from django.db import connection, connections, transaction
from django.db.models import Sum

from analytics.collecting import recording, view_keys, writer
from analytics.collecting.writer import Receipt
from analytics.counting import recount, sealer, sweeper
from analytics.counting.cells import SPANS, Bucket
from analytics.identity.visitor_hash import keyed_hash
from analytics.models import AgentViews, Cells, Page, PageView, Seal, Trail, ViewKeys
from docsite.core.tenants.management.commands.createproject import create_project
from docsite.core.tenants.models import Organization, Project
from tests.analytics.counting.history import (
    Seen,
    history,
    view,
    windows,
)
from tests.analytics.counting.test_counting import arrive, check
from tests.conftest import PATIENCE, set_analytics, visitor_secret, wait_for


def new_project(secret: str = "") -> Project:
    """A project; two with the same secret know their visitors by the same hashes."""
    domain = f"crash-{secrets.token_hex(6)}"
    project, *_ = create_project(domain, domain, "https://docs.example", [])
    if secret:
        set_analytics(project, visitor_secret=secret)
    return project


def twin(project: Project) -> Project:
    """A project that stores the same views as the same bytes."""
    other = new_project(visitor_secret(project))
    for page in Page.objects.filter(project=project).order_by("number"):
        Page.objects.create(project=other, number=page.number, path=page.path)
    return other


def record(project: Project, views: list[Seen]) -> None:
    """Have views stored."""
    recording.record(project, [seen.observation for seen in views])


def stored(project: Project) -> tuple[list[Any], list[Any]]:
    """The cells and visit histories of a project, byte for byte."""
    cells = Cells.objects.filter(project=project).order_by("span", "start")
    histories = Trail.objects.filter(project=project).order_by("visitor")
    return (
        [(*row[:-1], bytes(row[-1])) for row in cells.values_list("span", "start", "blob")],
        [(*row[:-1], bytes(row[-1])) for row in histories.values_list("visitor", "trimmed", "sightings")],
    )


class Crash(BaseException):
    """The process ends here. No `Exception`, so that nothing tidies up after it."""


@contextmanager
def crash_after(number: int) -> Iterator[list[str]]:
    """A process that ends when it has made so many statements. Yields them."""
    made: list[str] = []

    def execute(proceed: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        result = proceed(sql, params, many, context)
        made.append(sql)
        if len(made) == number:
            raise Crash
        return result

    try:
        with connection.execute_wrapper(execute):
            yield made
    except Crash:
        connection.close()  # as the database sees it: what was not committed is gone
        Seal.objects.update(leased_until=0)  # and its lease has run out


def crashes_in_steps() -> None:
    """Crash after the first statement of a sealing, seal, crash after the second of the next, and so on."""
    dice, project, now = random.Random(1), new_project(), datetime.now(UTC)
    sealer.step_size = sealer.StepSize(4)  # several steps for each sealing
    views: list[Seen] = []
    for number in count(1):
        new = history(dice, 6, 2, now)
        views += new
        record(project, new)
        with crash_after(number) as made:
            sealer.seal(PATIENCE)
        assert sealer.seal(PATIENCE)
        done = len(made) < number
        if number % 10 == 0 or done:
            check(project, views, windows(dice, now, 5, 3))
        if done:
            break
    assert number > 25, "several steps, each with cells, trails and longer buckets"
    assert {seal.sealed_to for seal in Seal.objects.filter(project=project)} == {PageView.objects.latest("pk").pk}
    spared = twin(project)
    record(spared, views)
    assert sealer.seal(PATIENCE)
    assert stored(project) == stored(spared)


def crashes_in_sweeps() -> None:
    """The same while visit histories are trimmed and old views removed."""
    Organization.objects.all().delete()  # a sweep goes over all that is there, once for each statement
    dice, project, now = random.Random(2), new_project(), datetime.now(UTC)
    views = history(dice, 150, 70, now)
    record(project, views)
    ranges = [*windows(dice, now, 70, 6), (now - timedelta(days=80), now)]
    sealer.seal(PATIENCE)
    PageView.objects.update(received=0)  # long ago
    sweeper.TRIM_VISITORS = sweeper.REMOVE_VIEWS = 5
    for number in count(1):
        with crash_after(number):
            sweeper.sweep(force=True)
            break
        check(project, views, ranges[number % 7 :][:1])
    assert number > 12, "several pages of trails, several lots of views"
    long_ago = (now - timedelta(days=32)).timestamp() * 1e6
    assert not PageView.objects.filter(project=project, at__lt=long_ago).exists()
    assert Trail.objects.filter(project=project, trimmed__gt=0).exists()
    sweeper.TRIM_VISITORS = sweeper.REMOVE_VIEWS = 20_000
    late = history(dice, 30, 25, now)  # finds its place in what is left of the visit histories
    record(project, late)
    check(project, views + late, ranges)


def steps_that_outlast_their_lease() -> None:
    """One who takes the lease whenever it runs out must not keep a slow sealer from ever ending a step."""
    dice, project, now = random.Random(5), new_project(), datetime.now(UTC)
    views = history(dice, 400, 3, now)
    record(project, views)
    change, stop = sealer._compute_change, threading.Event()

    def slow_change(project_id: int, seen: Any) -> Any:
        time.sleep(len(seen) * 0.002)
        return change(project_id, seen)

    def covet() -> None:
        while not stop.wait(0.02):
            sealer.acquire_lease(project.pk)
        connections.close_all()

    sealer.LEASE_SECONDS = 0.3
    sealer.step_size, sealer._compute_change = sealer.StepSize(400), slow_change
    other = threading.Thread(target=covet)
    other.start()
    try:
        assert sealer.seal(PATIENCE)
    finally:
        stop.set()
        other.join()
    check(project, views, windows(dice, now, 3, 6))


def old_logs_into_a_new_service() -> None:
    """Months of logs, the newest first, while the sealer's thread looks whether it is time to sweep."""
    dice, project, now = random.Random(6), new_project(), datetime.now(UTC)
    views = history(dice, 300, 380, now)
    for first in range(0, len(views), 30):
        record(project, views[::-1][first : first + 30])
        sealer.seal(PATIENCE)
        assert not sweeper.sweep()
    check(project, views, windows(dice, now, 380, 10))


def time_passes() -> None:
    """Views come in over three months, many late, while hours are merged: the cells are as if all had come at once."""
    dice, project = random.Random(8), new_project("08" * 32)
    now = datetime.now(UTC) - timedelta(days=400)
    views: list[Seen] = []
    for _ in range(10):
        now += timedelta(hours=dice.choice([1, 20, 30, 200, 700]))
        with time_machine.travel(now, tick=True):
            for days in (0.2, 20):
                new = history(dice, 25, days, now)
                dice.shuffle(new)
                record(project, new)
                views += new
                sealer.seal(PATIENCE)
            check(project, views, windows(dice, now, 60, 3))
    with time_machine.travel(now + timedelta(days=70), tick=True):
        spared = twin(project)
        record(spared, views)
        sealer.seal(PATIENCE)
        sweeper._merge_ended_hours(project.pk)
        cells, at_once = (
            {row[:2]: row[2] for row in stored(one)[0] if Bucket.decode(row[1], row[2])} for one in (project, spared)
        )
        assert cells == at_once
        assert {span for span, _ in cells} == {*SPANS}
        assert stored(project)[1] == stored(spared)[1]


def crashes_in_recounts() -> None:
    """Crash after any statement of taking sample views away: what is left is counted, and the rest goes later."""
    dice, project, now = random.Random(11), new_project(), datetime.now(UTC)
    real, sample = history(dice, 60, 20, now), {}
    for seen in history(dice, 60, 20, now):
        address = type(seen.observation.address)(int(seen.observation.address) + 100)
        observation = seen.observation._replace(address=address, sample=True)
        key = keyed_hash(visitor_secret(project), observation.view_id, b"view")
        sample[key] = Seen(observation, seen.kind, (str(address), seen.who[1]))
    record(project, [*real, *sample.values()])
    step_size = sealer.StepSize
    sealer.StepSize = lambda: step_size(1)  # several steps
    for number in count(1):
        with crash_after(number):
            recount.remove_sample(project)
            break
        left = PageView.objects.filter(project=project, sample=True).values_list("key", flat=True)
        check(project, [*real, *(sample[key] for key in left)], windows(dice, now, 20, 2))
    assert number > 15, "several steps"
    check(project, real, windows(dice, now, 20, 12))
    found = AgentViews.objects.filter(project=project, span=24).aggregate(views=Sum("views"))["views"]
    assert found == sum(seen.kind != "human" for seen in real)


def kills(many: str, crowd: str) -> None:
    """Kill processes with -9 while they write and seal, and start others in their place. Then look what is there."""
    project, now, dice = new_project(), datetime.now(UTC), random.Random(5)
    sealer.step_size = sealer.StepSize(40)  # so that a kill often hits between two
    sealer.LEASE_SECONDS = 0.01  # and that one overtakes another
    connections.close_all()  # each child opens its own
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "acknowledged"
        born = count()
        alive = [_fork(project, now, next(born), log) for _ in range(int(crowd))]
        for _ in range(int(many)):
            before = _size(log)
            wait_for(lambda before=before: _size(log) > before, "views to be acknowledged")
            time.sleep(dice.uniform(0.02, 0.2))
            place = dice.randrange(len(alive))
            _kill(alive[place])
            alive[place] = _fork(project, now, next(born), log)
        for pid in alive:
            _kill(pid)
        lines = log.read_text().splitlines()
    strange = [line for line in lines if not line.replace(" ", "").isdigit()]
    assert not strange, strange[:3]
    acknowledged = [(int(child), int(place)) for child, place in map(str.split, lines)]
    assert len(acknowledged) == len(set(acknowledged))
    last = dict.fromkeys(range(next(born)), -1)
    for child, place in acknowledged:
        last[child] = max(last[child], place)
    keys = set(PageView.objects.filter(project=project).values_list("key", flat=True))
    candidates = {
        (child, place): _made_view(now, child, place)
        for child, until in last.items()
        for place in range(until + 1 + _BATCH)
    }
    committed = {
        name: seen for name, seen in candidates.items() if recording.build_view(project, seen.observation).key in keys
    }
    assert set(acknowledged) <= committed.keys(), "an acknowledged view is lost"
    assert len(keys) == len(committed) == PageView.objects.filter(project=project).count()
    assert len(acknowledged) > int(many), "they were busy"
    assert Seal.objects.filter(project=project).count() == 1
    assert sealer.seal(PATIENCE)
    check(project, list(committed.values()), [(now - timedelta(days=4), now), *windows(dice, now, 3, 4)])
    sys.stdout.write(f"{len(acknowledged)} acknowledged, {len(committed)} committed\n")


_BATCH = 5


def _size(file: Path) -> int:
    return file.stat().st_size if file.exists() else 0


def _made_view(now: datetime, child: int, number: int) -> Seen:
    """A view that follows from who made it, so that it need not be told to anybody."""
    dice = random.Random(child << 32 | number)
    kind = dice.choices(["human", "markdown", "reader", "crawler"], [5, 2, 2, 1])[0]
    at = now - timedelta(hours=dice.choice([0.1, 1, 2, 30, 31, 60]), seconds=dice.randrange(1800))
    return view(at, f"/page-{dice.randrange(5)}", dice.randrange(1, 15), kind, f"{child}.{number}")


def _fork(project: Project, now: datetime, child: int, log: Path) -> int:
    pid = os.fork()
    if pid:
        return pid
    file = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
    try:
        if child % 3:  # two of three write, two of three seal
            threading.Thread(target=_write, args=(project, now, child, file), daemon=True).start()
        while child % 3 == 1:
            time.sleep(1)
        while True:
            sealer.seal(PATIENCE)
    except BaseException as failure:
        os.write(file, f"{child} {failure!r}\n".encode())
    finally:
        os._exit(1)


def _write(project: Project, now: datetime, child: int, file: int) -> None:
    """Record views, and only then tell which."""
    done = 0
    while True:
        size = 1 + done % _BATCH
        record(project, [_made_view(now, child, number) for number in range(done, done + size)])
        os.write(file, "".join(f"{child} {number}\n" for number in range(done, done + size)).encode())
        done += size


def _kill(pid: int) -> None:
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def sends_what_another_has_not_committed_yet() -> None:
    """A process sends a view that another one has stored, but not committed; a third one seals (PostgreSQL)."""
    project, now = new_project(), datetime.now(UTC) - timedelta(hours=1)
    first, slow, quick = (view(now, "/page", who, "human") for who in (1, 2, 3))
    record(project, [first])
    sealer.seal(PATIENCE)
    held, go_on = threading.Event(), threading.Event()

    def store(*views: Seen) -> list[Receipt]:
        return writer._store(
            [writer._Batch(project.pk, [recording.build_view(project, one.observation) for one in views])]
        )

    def store_slowly() -> None:
        with transaction.atomic():
            store(slow)
            held.set()
            go_on.wait(PATIENCE)

    receipts: list[Receipt] = []
    slowly, again, sealing = (
        threading.Thread(target=work)
        for work in (store_slowly, lambda: receipts.extend(store(slow, quick)), sealer.seal)
    )
    slowly.start()
    assert held.wait(PATIENCE)
    view_keys._keys_by_project.clear()  # another process does not know what this one knows
    for other in (again, sealing):
        other.start()
        other.join(0.5)  # one who does not wait is through by then
    go_on.set()
    for each in (slowly, again, sealing):
        each.join(PATIENCE)
    assert receipts == [Receipt(1, 1, 0)]
    check(project, [first, slow, quick], [(now - timedelta(hours=2), now + timedelta(hours=2))])


def several_send_the_same() -> None:
    """Processes send the same views in orders of their own: each view is accepted once, by one of them."""
    project, now = new_project(), datetime.now(UTC)
    views = history(random.Random(22), 300, 2, now)
    view_keys.MERGE_RUNS = 3
    connections.close_all()  # each child opens its own
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / str(child) for child in range(4)]
        children = [_fork_sender(project, views, file) for file in files]
        assert [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children] == [0] * len(files)
        accepted = [int(file.read_text()) for file in files]
    counted = sum(seen.kind != "nobody" for seen in views)
    assert sum(accepted) == counted, accepted
    assert sum(number > 0 for number in accepted) > 1, "they were busy at the same time"
    assert PageView.objects.filter(project=project).count() == len(views)
    runs = ViewKeys.objects.filter(project=project)
    assert sum(len(run.keys) // 8 for run in runs) == len(views)
    assert len(runs) < 15, "runs are merged"
    check(project, views, windows(random.Random(22), now, 3, 2))


def _fork_sender(project: Project, views: list[Seen], file: Path) -> int:
    pid = os.fork()
    if pid:
        return pid
    accepted = 0
    try:
        order = random.sample(views, len(views))
        for first in range(0, len(order), 7):
            accepted += recording.record(project, [seen.observation for seen in order[first : first + 7]]).accepted
        file.write_text(str(accepted))
        os._exit(0)
    finally:
        os._exit(1)


def histories(now: str) -> None:
    """Random histories, as `test_counting` has them, with days that pass between; prints what they are stored as."""
    moment = datetime.fromisoformat(now)
    for seed in (0, 1, 2, 5):  # 380 days, 3 days, some hours and 29 days
        dice, project = random.Random(seed), new_project(f"{seed:064x}")
        days = dice.choice([0.2, 3, 29, 380])
        views = history(dice, dice.choice([60, 400]), days, moment)
        arriving = dice.sample(views, len(views)) if seed % 2 else views
        half = len(views) // 2
        with time_machine.travel(moment, tick=True):
            arrive(dice, project, arriving[:half])
        with time_machine.travel(moment + timedelta(days=9), tick=True):
            arrive(dice, project, arriving[half:])
            check(project, views, windows(dice, moment, min(days, 20), 4))
        sys.stdout.write(f"{seed} {stored(project)!r}\n")
