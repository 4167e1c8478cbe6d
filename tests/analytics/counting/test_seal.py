"""The seal of a project, the size of its steps, and `manage.py seal`."""

import pytest
from django.db.models import QuerySet

from analytics.collecting.recording import record
from analytics.counting import background, erasure, sealer, unsealed
from analytics.counting.sealer import StepSize
from analytics.models import Seal
from tests import scenarios
from tests.analytics.collecting.test_collecting import observations
from tests.analytics.counting import crashes, leases


@pytest.mark.matrix
def test_cells_are_the_same_whenever_views_come_in_and_hours_are_merged(own_database):
    scenarios.run(crashes.time_passes, own_database)


def test_a_sweep_does_not_wait_for_a_project_that_is_gone(own_database):
    scenarios.run(leases.swept_although_gone, own_database)


def test_seal_tells_how_many_views_it_sealed(own_database):
    scenarios.run(leases.sealed_by_command, own_database)


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


def test_between_two_rounds_only_projects_with_many_views_are_sealed(make_project):
    busy, quiet = (make_project().project for _ in range(2))
    thread = background._Sealer()

    def list_sealed() -> list[int]:
        for project in (busy, quiet):
            record(project, observations(3))
        thread.report_views({busy.pk: background.SEAL_AFTER_VIEWS, quiet.pk: 3})
        thread.work()
        return [one.pk for one in (busy, quiet) if not unsealed.has_unsealed_views(one.pk)]

    assert list_sealed() == [busy.pk, quiet.pk]
    thread._next_round = float("inf")
    assert list_sealed() == [busy.pk]
    thread._next_round = 0.0
    assert list_sealed() == [busy.pk, quiet.pk]


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
