"""For how long a visitor is the same one, and what becomes of the past when secrets go."""

import uuid
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
import time_machine

from analytics.collecting.recording import Observation, record, try_send
from analytics.counting import sweeper
from analytics.identity import key_rotation
from analytics.models import PageView, VisitorSecret
from analytics.reports import visitor_counts
from docsite.core.access.authentication import ttl_cache
from docsite.core.http.client_address import parse_address
from docsite.core.tenants.models import Project
from tests.analytics.conftest import CHROME
from tests.conftest import set_analytics, visitor_secret
from tests.docsite.core.test_commands import run

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
DAY = timedelta(days=1)


def read(project, at, ip="198.51.100.1", **more):
    """One view by a person."""
    seen = Observation(uuid.uuid4().hex, "/a", at, parse_address(ip), CHROME, **more)
    record(project, [seen])
    return seen


def humans(project, start, end):
    return visitor_counts.count_visitors(project, start, end).totals["human"]


@contextmanager
def clock_at(noon):
    """The clock stands."""
    with time_machine.travel(noon, tick=False):
        ttl_cache.clear()
        yield noon
    ttl_cache.clear()


@pytest.fixture
def now():
    """A noon of long ago."""
    with clock_at(NOON) as noon:
        yield noon


@pytest.fixture
def today():
    """Today's noon: services of other tests go by the real clock, and forget what is long over."""
    with clock_at(datetime.now(UTC).replace(hour=12, minute=0, second=0, microsecond=0)) as noon:
        yield noon


@pytest.mark.parametrize(
    ("rotation", "same", "new"),
    [
        ("never", 300 * DAY, None),
        ("90d", timedelta(hours=11), 90 * DAY),
        ("month", 9 * DAY, 10 * DAY),  # before the 10th of March
        ("day", timedelta(hours=12), timedelta(hours=13)),
    ],
)
def test_a_visitor_is_the_same_one_for_as_long_as_the_owner_chose(make_project, now, rotation, same, new):
    project = make_project().project
    set_analytics(project, secret_rotation=rotation)
    read(project, now)
    read(project, now - same)
    assert humans(project, now - 399 * DAY, now + DAY) == 1
    if new:
        read(project, now - new)
        assert humans(project, now - 399 * DAY, now + DAY) == 2


def test_who_asked_not_to_be_tracked_is_counted_and_not_followed(make_project, now):
    project = make_project().project
    for hours in (0, 1, 24, 25):
        read(project, now - timedelta(hours=hours), private=True)
    assert humans(project, now - 9 * DAY, now + DAY) == 2
    assert humans(project, now - timedelta(hours=13), now + DAY) == 1


def test_secrets_of_periods_are_random_and_go_when_the_period_is_over(make_project, today):
    project, other = make_project().project, make_project().project
    made = {
        key_rotation.secret_of(which, today - day * DAY, private=True) for which in (project, other) for day in range(3)
    }
    assert len(made) == 6
    assert visitor_secret(project) not in made
    assert VisitorSecret.objects.filter(project=project).count() == 3
    with time_machine.travel(today + timedelta(days=2, hours=11), tick=False):
        sweeper.sweep(force=True)
        assert VisitorSecret.objects.filter(project=project).count() == 1, "that of the latest day is still needed"
    with time_machine.travel(today + timedelta(days=2, hours=12), tick=False):
        sweeper.sweep(force=True)
        assert not VisitorSecret.objects.filter(project=project).exists()
        ttl_cache.clear()
        assert key_rotation.secret_of(project, today, private=True) not in made, (
            "what comes later still has one made anew"
        )


def test_a_secret_that_is_over_is_not_used_though_it_is_still_there(make_project, today):
    project = make_project().project
    before = key_rotation.secret_of(project, today, private=True)
    ttl_cache.clear()
    assert key_rotation.secret_of(project, today, private=True) == before, "every process finds the same one"
    VisitorSecret.objects.filter(project=project).update(expires_at=today)
    ttl_cache.clear()
    assert key_rotation.secret_of(project, today, private=True) != before


@pytest.mark.stores
def test_forgetting_visitors_unlinks_the_past_and_leaves_the_counts(make_project, now):
    project = make_project().project
    seen = read(project, now)
    read(project, now, private=True, ip="198.51.100.2")
    before = set(PageView.objects.filter(project=project).values_list("visitor", flat=True))
    assert run("forgetvisitors", project.domain, "--yes").startswith(f"{project.domain}: the keys were deleted.")
    project = Project.objects.get(pk=project.pk)
    assert humans(project, now - DAY, now + DAY) == 2
    ttl_cache.clear()
    read(project, now)
    read(project, now, private=True, ip="198.51.100.2")
    after = set(PageView.objects.filter(project=project).values_list("visitor", flat=True))
    assert len(before) == 2
    assert len(after) == 4
    assert humans(project, now - DAY, now + DAY) == 4
    assert record(project, [seen]).accepted == 1, "its id cannot be told any more, either"


def test_ids_are_forgotten_with_visitors(make_project, now):
    project = make_project().project
    set_analytics(project, secret_rotation="day")
    seen = read(project, now)
    assert record(project, [seen]).duplicates == 1
    VisitorSecret.objects.filter(project=project).delete()
    ttl_cache.clear()
    assert record(project, [seen]).accepted == 1, "who has the database and the id can no longer tell"


def test_a_view_waits_for_the_database_only_where_it_must(make_project, now):
    project = make_project().project
    open_, private = (
        Observation("x", "/", now, parse_address("198.51.100.1"), CHROME, private=private) for private in (False, True)
    )
    record(project, [open_])
    assert try_send(project, open_)
    assert not try_send(project, private)
    record(project, [private])
    assert try_send(project, private)


@pytest.mark.stores
def test_forgetting_visitors_unlinks_their_searches_and_keeps_them(make_project):
    from search.models import SearchQuery

    project, other = make_project().project, make_project().project
    for which in (project, other):
        SearchQuery.objects.create(project=which, at=datetime.now(UTC), text="install", result_count=1, caller=7)
    run("forgetvisitors", project.domain, "--yes")
    assert [(row.text, row.caller) for row in project.searches.all()] == [("install", None)]
    assert other.searches.get().caller == 7
