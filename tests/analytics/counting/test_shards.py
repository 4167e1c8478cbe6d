"""The number of shards changes while views come in; `manage.py seal`."""

import io
import random
import signal
import sqlite3
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import TextIO

import pytest
from django.core.management import CommandError, call_command

from analytics.counting import sealer, shards
from analytics.models import Seal, Sharding
from tests import scenarios
from tests.analytics.counting import crashes, leases
from tests.analytics.counting.crashes import record
from tests.analytics.counting.history import history, windows
from tests.analytics.counting.test_counting import check
from tests.conftest import PATIENCE, wait_for
from tests.processes import Process


@pytest.fixture
def one_again():
    """Leaves one shard to the others."""
    yield
    Seal.objects.update(leased_until=0)
    shards.set_count(1)


def seal(*arguments: str) -> str:
    out = io.StringIO()
    call_command("seal", *arguments, stdout=out)
    return out.getvalue()


def test_counts_are_exact_and_cells_the_same_however_often_the_number_of_shards_changes(own_database):
    scenarios.run(crashes.shards_change, own_database)


@pytest.mark.matrix
def test_a_crash_after_any_statement_of_a_change_loses_and_doubles_nothing(own_database):
    scenarios.run(crashes.crashes_in_changes, own_database)


def test_who_held_a_lease_before_the_change_writes_nothing(own_database):
    scenarios.run(leases.held_before_a_change, own_database)


def test_a_lease_knows_the_number_of_shards_although_it_changes_while_it_is_taken(own_database):
    scenarios.run(leases.changed_while_taken, own_database)


def test_a_sweep_trims_only_the_visitors_of_the_lease_it_has(own_database):
    scenarios.run(leases.changed_while_swept, own_database)


def test_a_sweep_does_not_wait_for_a_shard_that_is_gone(own_database):
    scenarios.run(leases.swept_although_gone, own_database)


def test_seal_tells_how_many_views_it_sealed_and_what_comes_next(own_database):
    scenarios.run(leases.sealed_by_command, own_database)


def test_seal_changes_the_number_of_shards(make_project, one_again):
    project, now = make_project().project, datetime.now(UTC)
    views = history(random.Random(14), 40, 3, now)
    record(project, views)
    told = seal("--shards", "4")
    assert "Visitors are in 4 shards now. There were 1 before." in told
    assert "Seal in up to 4 processes at once, each: manage.py seal --watch" in told
    assert "in 4 shards already" in seal("--shards", "4")
    assert Seal.objects.filter(project=project).count() == 4
    assert "Visitors are in one shard now. There were 4 before." in seal("--shards", "1")
    check(project, views, windows(random.Random(14), now, 3, 2))


@pytest.mark.parametrize("number", ["0", "3", "32", "-1", "two"])
def test_seal_takes_only_powers_of_two_up_to_16(number):
    with pytest.raises(CommandError, match="--shards"):
        seal(f"--shards={number}")


@pytest.fixture
def start_seal(own_database):
    """Start `manage.py seal`; whoever still runs ends with the test."""
    with ExitStack() as stack:
        started: list[Process] = []

        def start(*arguments: str) -> tuple[Process, TextIO]:
            process, printed = stack.enter_context(scenarios.running("seal", *arguments, **own_database))
            started.append(process)
            return process, printed

        yield start
        for process in started:
            process.kill()


def test_those_that_watch_seal_what_comes_in_whatever_the_shards_until_they_are_told_to_stop(own_database, start_seal):
    def is_sealed() -> bool:
        with sqlite3.connect(Path(own_database["DATA_DIR"]) / "db.sqlite3") as database:
            (newest,) = database.execute("SELECT MAX(id) FROM analytics_pageview").fetchone()
            (least,) = database.execute(
                "SELECT MAX(least) FROM (SELECT MIN(sealed_to) AS least FROM analytics_projectseal GROUP BY project_id)"
            ).fetchone()
        return newest == least > 0

    watching = [start_seal("--watch"), start_seal("--watch")]
    for _, printed in watching:
        assert printed.readline().startswith("Sealed ")
        assert "until Ctrl-C or SIGTERM" in printed.readline()
    for process, printed in [start_seal("--shards", "4"), start_seal("--shards", "2")]:
        assert process.wait(PATIENCE) == 0, printed.read()
    scenarios.run(crashes.views_come_in, own_database)
    wait_for(is_sealed, "the views to be sealed")
    for (process, printed), number in zip(watching, (signal.SIGTERM, signal.SIGINT), strict=True):
        process.send_signal(number)
        assert process.wait(PATIENCE) == 0
        assert printed.read().startswith("Stopped. ")


def test_a_project_gets_its_shards_once_from_two_processes_at_the_same_time(make_project, monkeypatch):
    project_id = make_project().project.pk
    lock = Sharding.objects.select_for_update

    def wait_for_the_other():
        monkeypatch.undo()
        assert sealer.list_shards(project_id)
        return lock()

    monkeypatch.setattr(Sharding.objects, "select_for_update", wait_for_the_other)
    assert sealer.list_shards(project_id) == list(range(shards.get_count()))
