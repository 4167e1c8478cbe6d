"""The number of shards changes while views come in; `manage.py seal`."""

import io
import random
import signal
import sqlite3
import subprocess
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from analytics.counting import sealer, shards, sweeper
from analytics.models import Seal, Trail
from tests.analytics import crashes
from tests.analytics.crashes import new_project, record
from tests.analytics.history import history, windows
from tests.analytics.test_counting import check
from tests.conftest import ROOT, wait_for


@pytest.fixture
def one_again():
    """Leaves one shard to the others."""
    yield
    Seal.objects.update(leased_until=0)
    shards.change(1)


def seal(*arguments: str) -> str:
    out = io.StringIO()
    call_command("seal", *arguments, stdout=out)
    return out.getvalue()


def test_counts_are_exact_and_cells_the_same_however_often_the_number_of_shards_changes(own_database):
    crashes.run(crashes.shards_change, own_database)


def test_a_crash_after_any_statement_of_a_change_loses_and_doubles_nothing(own_database):
    crashes.run(crashes.crashes_in_changes, own_database)


@pytest.mark.parametrize("shard", [0, 1])
def test_who_held_a_lease_before_the_change_writes_nothing(make_project, one_again, monkeypatch, shard):
    project, now = make_project().project, datetime.now(UTC)
    monkeypatch.setattr(sealer, "LEASE_SECONDS", 0.1)
    shards.change(2)
    Seal.objects.update(token=0)
    views = history(random.Random(11), 40, 3, now)
    record(project, views)
    slow = sealer.take(shard)
    shards.change(1)
    shards.change(2)
    assert sealer.take(shard)
    with pytest.raises(sealer.Lost):
        sealer.seal_views(slow, slow.sealed_to)
    Seal.objects.update(leased_until=0)
    check(project, views, windows(random.Random(11), now, 3, 2))


def four_just_before_the_lease(proceed, sql, params, many, context):
    """What another process may do at the worst moment."""
    if "leased_until = %s" in sql and Seal.objects.count() == 1:
        shards.change(4)
    return proceed(sql, params, many, context)


def test_a_lease_knows_the_number_of_shards_although_it_changes_while_it_is_taken(one_again):
    sealer.seal()
    with connection.execute_wrapper(four_just_before_the_lease):
        lease = sealer.take(0)
    assert (lease.shard, lease.shards) == (0, 4)


def test_a_sweep_trims_only_the_visitors_of_the_lease_it_has(one_again):
    project, now = new_project("17" * 32), datetime.now(UTC)
    views = history(random.Random(17), 200, 90, now)
    record(project, views)
    sealer.seal()
    with connection.execute_wrapper(four_just_before_the_lease):
        sweeper._trim_shard(0)
    trimmed = Trail.objects.filter(project=project, trimmed__gt=0).values_list("visitor", flat=True)
    assert {visitor & 3 for visitor in trimmed} == {0}
    sweeper.sweep(force=True)
    assert {visitor & 3 for visitor in trimmed.all()} == {0, 1, 2, 3}
    check(project, views, [(now - timedelta(days=95), now)])


def test_a_sweep_does_not_wait_for_a_shard_that_is_gone(make_project):
    record(make_project().project, history(random.Random(12), 10, 3, datetime.now(UTC)))
    sealer.seal()
    sweep = threading.Thread(target=sweeper._trim_shard, args=(7,), daemon=True)
    sweep.start()
    sweep.join(10)
    assert not sweep.is_alive()


def test_seal_tells_how_many_views_it_sealed_and_what_comes_next(make_project):
    sealer.seal()
    project, now = make_project().project, datetime.now(UTC)
    views = history(random.Random(13), 40, 3, now)
    record(project, views)
    told = seal().splitlines()
    assert told[0].startswith("Sealed 40 views in ")
    assert told[-1] == "Keep it so: manage.py seal --watch"
    assert seal().startswith("Sealed 0 views in ")
    check(project, views, windows(random.Random(13), now, 3, 2))


def test_seal_changes_the_number_of_shards(make_project, one_again):
    project, now = make_project().project, datetime.now(UTC)
    views = history(random.Random(14), 40, 3, now)
    record(project, views)
    told = seal("--shards", "4")
    assert "Visitors are in 4 shards now, before in 1." in told
    assert "Seal in up to 4 processes at once, each: manage.py seal --watch" in told
    assert "in 4 shards already" in seal("--shards", "4")
    assert Seal.objects.count() == 4
    assert "Visitors are in one shard now, before in 4." in seal("--shards", "1")
    check(project, views, windows(random.Random(14), now, 3, 2))


@pytest.mark.parametrize("number", ["0", "3", "32", "-1", "two"])
def test_seal_takes_only_powers_of_two_up_to_16(number):
    with pytest.raises(CommandError, match="--shards"):
        seal(f"--shards={number}")


@pytest.fixture
def start_seal(own_database):
    """Start `manage.py seal`; whoever still runs ends with the test."""
    started: list[subprocess.Popen[str]] = []

    def start(*arguments: str) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, "manage.py", "seal", *arguments],
            cwd=ROOT, env=crashes.environment(own_database), stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        started.append(process)
        return process

    yield start
    for process in started:
        process.kill()
        process.wait(10)


def test_those_that_watch_seal_what_comes_in_whatever_the_shards_until_they_are_told_to_stop(own_database, start_seal):
    def is_sealed() -> bool:
        with sqlite3.connect(Path(own_database["DATA_DIR"]) / "db.sqlite3") as database:
            (newest,) = database.execute("SELECT MAX(id) FROM analytics_pageview").fetchone()
            (least,) = database.execute("SELECT MIN(sealed_to) FROM analytics_seal").fetchone()
        return newest == least > 0

    watching = [start_seal("--watch"), start_seal("--watch")]
    for process in watching:
        assert process.stdout.readline().startswith("Sealed ")
        assert "until Ctrl-C or SIGTERM" in process.stdout.readline()
    for process in [start_seal("--shards", "4"), start_seal("--shards", "2")]:
        told, _ = process.communicate(timeout=30)
        assert process.returncode == 0, told
    crashes.run(crashes.views_come_in, own_database)
    wait_for(is_sealed, "the views to be sealed")
    for process, number in zip(watching, (signal.SIGTERM, signal.SIGINT), strict=True):
        process.send_signal(number)
        told, _ = process.communicate(timeout=20)
        assert process.returncode == 0
        assert told.startswith("Stopped. ")
