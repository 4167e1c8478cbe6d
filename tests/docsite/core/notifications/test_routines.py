"""Work of one process of all: who claims it, how long, and who goes on when that process is killed."""

import uuid
from datetime import timedelta
from pathlib import Path

import pytest
import time_machine
from django.utils import timezone

from docsite.core.notifications import routines
from docsite.core.notifications.models import Routine
from tests import processes, scenarios
from tests.conftest import PATIENCE
from tests.docsite.core.notifications import sweep_processes

HOUR = timedelta(hours=1)


def claim(name, after=timedelta(0)):
    with time_machine.travel(timezone.now() + after, tick=False):
        return routines.claim(name, HOUR)


def test_one_of_two_claims_a_round_until_it_is_over():
    name = uuid.uuid4().hex
    claimed = claim(name)
    assert claimed
    assert claim(name) is None
    routines.finish(claimed, HOUR)
    assert claim(name, routines.LEASE) is None
    assert claim(name, HOUR)


def test_a_round_that_is_not_extended_is_taken_over():
    name = uuid.uuid4().hex
    slow = claim(name)
    with time_machine.travel(timezone.now() + routines.LEASE / 2):
        assert routines.extend(slow)
    assert claim(name, routines.LEASE) is None
    quick = claim(name, routines.LEASE * 2)
    assert quick
    assert not routines.extend(slow)
    routines.finish(slow, HOUR)
    assert Routine.objects.get(name=name).holder == quick.holder


def test_a_clock_that_is_a_little_behind_repeats_no_round():
    name = uuid.uuid4().hex
    with time_machine.travel(timezone.now() + timedelta(seconds=5)):
        routines.finish(routines.claim(name, HOUR), HOUR)
    assert claim(name) is None


def test_a_wrong_clock_does_not_stop_a_routine():
    name = uuid.uuid4().hex
    assert claim(name, timedelta(days=400))
    assert claim(name)


@pytest.mark.matrix
def test_several_processes_sweep_once_and_another_follows_a_killed_one(copy_database, tmp_path: Path) -> None:
    data, swept = tmp_path / "data", tmp_path / "swept"
    data.mkdir()
    database = copy_database(data)

    def start(name: str, *arguments: object) -> processes.Process:
        words = (sweep_processes.__name__, name, str(swept), *map(str, arguments))
        environment = scenarios.environment(database)
        return processes.Process(processes.call, words, environment, tmp_path / "out", tmp_path / "err")

    beside = [start("sweep") for _ in range(3)]
    assert [process.wait(PATIENCE) for process in beside] == [0, 0, 0], (tmp_path / "err").read_text()
    assert swept.read_text() == "swept\n"
    assert start("sweep_and_die", 61).wait(PATIENCE) == -9, (tmp_path / "err").read_text()
    for minutes in (62, 75):  # with the claim of the killed process, and after it
        assert start("sweep", minutes).wait(PATIENCE) == 0, (tmp_path / "err").read_text()
        assert swept.read_text().splitlines() == ["swept", "killed", *(["swept"] if minutes == 75 else [])]
