"""Which views are stored already: runs of keys, in memory and in the database."""

import time

import numpy as np
import pytest
from django.db import OperationalError, connection, transaction

from analytics.collecting import view_keys
from analytics.collecting.recording import record
from analytics.collecting.writer import Receipt
from analytics.counting import sealer, sweeper
from analytics.counting.erasure import erase_project
from analytics.models import ViewKeys
from docsite.core.tenants.models import Project
from tests.analytics.collecting.test_collecting import observations
from tests.conftest import PATIENCE

HOUR = int(time.time()) // 3600


def keys_of(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int64)


def claim(project_id: int, *numbers: int) -> dict[int, view_keys.Claim]:
    return view_keys.claim({project_id: view_keys.load(project_id)}, {project_id: keys_of(*numbers)})


def send(project_id: int, *numbers: int) -> list[bool]:
    """Which keys were new."""
    with transaction.atomic():
        claims = claim(project_id, *numbers)
        runs = view_keys.store(claims, HOUR)
    view_keys.remember(claims, runs)
    return claims[project_id].is_new.tolist()


@pytest.fixture
def project_id(make_project):
    return make_project().project.pk


def test_the_first_of_equal_keys_is_new_and_only_once(project_id):
    assert send(project_id, 5, -3, 5, 2) == [True, True, False, True]
    assert send(project_id, 2, 7, -3, 9, 7) == [False, True, False, True, False]
    assert send(project_id, 5, 9) == [False, False]


def test_what_is_not_committed_is_not_known(project_id):
    with transaction.atomic():
        view_keys.store(claim(project_id, 1, 2), HOUR)
        transaction.set_rollback(True)
    assert send(project_id, 1, 2) == [True, True]


def test_runs_of_the_same_length_are_merged_and_all_processes_go_on(project_id, monkeypatch):
    monkeypatch.setattr(view_keys, "MERGE_RUNS", 4)
    other = view_keys.ProjectKeys(project_id)
    for number in range(50):
        assert send(project_id, number, 1000 - number) == [True, True]
        if number % 3 == 0:
            view_keys.read_new_runs([other])
    view_keys.read_new_runs([other])
    stored = [np.frombuffer(run.keys, "<i8").tolist() for run in ViewKeys.objects.filter(project=project_id)]
    assert len(stored) < 15
    assert all(run == sorted(run) for run in stored)
    every = sorted([*range(50), *range(951, 1001)])
    assert sorted(key for run in stored for key in run) == every
    assert other.contain(keys_of(*every, 50, 950, -1)).tolist() == [True] * 100 + [False] * 3
    assert sum(map(len, other.runs)) == len(every)
    assert len(other.runs) < 8


def test_loading_goes_on_where_an_error_stopped_it(project_id, monkeypatch):
    monkeypatch.setattr(view_keys, "_RUNS_OF_A_QUERY", 1)
    for number in range(4):
        send(project_id, number)
    view_keys._keys_by_project.clear()
    asked = []  # the ids after which runs were asked for

    def fail_once(execute, sql, params, many, context):
        asked.append(params[1])
        if len(asked) == 3:
            raise OperationalError("too slow")
        return execute(sql, params, many, context)

    with connection.execute_wrapper(fail_once):
        with pytest.raises(OperationalError):
            view_keys.load(project_id)
        known = view_keys.load(project_id)
    assert known.contain(keys_of(0, 1, 2, 3, 4)).tolist() == [True] * 4 + [False]
    assert asked[3] == asked[2] > 0


def test_loaded_keys_stay_until_the_transaction_even_if_those_of_another_project_took_their_place(
    make_project, monkeypatch
):
    first, second = (make_project().project.pk for _ in range(2))
    assert send(first, 1) == send(second, 2) == [True]
    monkeypatch.setattr(view_keys, "MAX_BYTES", 1)
    view_keys._keys_by_project.clear()
    known = {project_id: view_keys.load(project_id) for project_id in (first, second)}
    assert view_keys._keys_by_project.get(first) is None
    monkeypatch.setattr(view_keys, "load", None)
    claims = view_keys.claim(known, {project_id: keys_of(1, 2) for project_id in known})
    assert [claims[project_id].is_new.tolist() for project_id in known] == [[False, True], [True, False]]


def test_keys_expire_with_the_views(make_project):
    project, views = make_project().project, observations(3)
    assert record(project, views) == Receipt(3, 0, 0)
    assert sealer.seal_project(project.pk, PATIENCE)
    runs = ViewKeys.objects.filter(project=project)
    sweeper.sweep(force=True)
    assert runs.count() == 1
    runs.update(day=HOUR // 24 - 33)
    sweeper.sweep(force=True)
    assert not runs.exists()
    view_keys._keys_by_project.clear()  # as it is a day later
    assert record(project, views) == Receipt(3, 0, 0)


def test_erasing_a_project_lets_other_processes_forget_its_keys(project_id):
    other = view_keys.ProjectKeys(project_id)
    assert send(project_id, 1, 2) == [True, True]
    view_keys.read_new_runs([other])
    erase_project(Project.objects.get(pk=project_id))
    assert send(project_id, 1, 3) == [True, True]
    view_keys.read_new_runs([other])
    assert other.contain(keys_of(1, 2, 3)).tolist() == [True, False, True]
