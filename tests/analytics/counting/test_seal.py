"""The seal of a project, the size of its steps, and `manage.py seal`."""

import signal
import sqlite3
from contextlib import ExitStack
from pathlib import Path
from typing import TextIO

import pytest
from django.db.models import QuerySet

from analytics.counting import erasure, sealer
from analytics.counting.sealer import StepSize
from analytics.models import Seal
from tests import scenarios
from tests.analytics.counting import crashes, leases
from tests.conftest import PATIENCE, wait_for
from tests.processes import Process


def test_cells_are_the_same_whenever_views_come_in_and_hours_are_merged(own_database):
    scenarios.run(crashes.time_passes, own_database)


def test_a_sweep_does_not_wait_for_a_project_that_is_gone(own_database):
    scenarios.run(leases.swept_although_gone, own_database)


def test_seal_tells_how_many_views_it_sealed_and_what_comes_next(own_database):
    scenarios.run(leases.sealed_by_command, own_database)


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


def test_those_that_watch_seal_what_comes_in_until_they_are_told_to_stop(own_database, start_seal):
    def is_sealed() -> bool:
        with sqlite3.connect(Path(own_database["DATA_DIR"]) / "db.sqlite3") as database:
            (newest,) = database.execute("SELECT MAX(id) FROM analytics_pageview").fetchone()
            (sealed_to,) = database.execute("SELECT MAX(sealed_to) FROM analytics_projectseal").fetchone()
        return newest == sealed_to > 0

    watching = [start_seal("--watch"), start_seal("--watch")]
    for _, printed in watching:
        assert printed.readline().startswith("Sealed ")
        assert "until Ctrl-C or SIGTERM" in printed.readline()
    scenarios.run(crashes.views_come_in, own_database)
    wait_for(is_sealed, "the views to be sealed")
    for (process, printed), number in zip(watching, (signal.SIGTERM, signal.SIGINT), strict=True):
        process.send_signal(number)
        assert process.wait(PATIENCE) == 0
        assert printed.read().startswith("Stopped. ")


def test_a_project_gets_its_seal_once_from_two_processes_at_the_same_time(make_project, monkeypatch):
    project_id = make_project().project.pk
    exists = QuerySet.exists

    def overtaken(rows):
        monkeypatch.undo()
        sealer.add_seal(project_id)
        assert exists(rows)
        return False

    monkeypatch.setattr(QuerySet, "exists", overtaken)
    sealer.add_seal(project_id)
    assert Seal.objects.filter(project=project_id).count() == 1


def test_a_step_that_lost_its_lease_is_followed_by_shorter_ones_that_grow_again():
    size = StepSize(1000)
    sizes = [size.size]
    for change in (size.grow, size.shrink, size.shrink, *[size.grow] * 20):
        change()
        sizes.append(size.size)
    assert sizes[:4] == [1000, 1000, 500, 250]
    assert sizes[3:] == sorted(sizes[3:])
    assert sizes[-1] == 1000
    for _ in range(20):
        size.shrink()
    assert size.size == 1


def test_nobody_is_erased_by_no_statement(make_project, django_assert_num_queries):
    project = make_project().project
    with django_assert_num_queries(0):
        assert erasure.erase_visitors(project, set()) == {"page views": 0, "visit histories": 0}
