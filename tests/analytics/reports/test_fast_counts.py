"""Steps of time are loaded at once, and filtered views are read once, without other numbers than before."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from analytics.collecting import recording
from analytics.reports import audience_counts, filtered_counts, visitor_counts
from tests.analytics.reports.test_report_page import CHATGPT, NOON, seen
from tests.variants import first_of


@pytest.fixture
def project(make_project):
    """Views of some visitors over two weeks, by person and by agent."""
    project = make_project().project
    views = [
        seen(f"/{n % 3}", at=NOON + timedelta(hours=7 * n, minutes=n), ip=n % 5 + 20 * (n % 4 == 0))
        for n in range(-30, 20)
    ]
    recording.record(project, [*views, seen("/0", CHATGPT, at=NOON), seen("/0", CHATGPT, at=NOON + timedelta(days=2))])
    visitor_counts.refresh(project)
    return project


@pytest.mark.parametrize(
    "size", first_of([timedelta(hours=1), timedelta(days=1), timedelta(days=7), timedelta(minutes=90)], 1)
)
def test_each_step_has_the_counts_of_its_own_range(project, size):
    first = NOON.replace(hour=0) - timedelta(days=9)
    steps = [(first + n * size, first + (n + 1) * size) for n in range(timedelta(days=14) // size)]
    found = visitor_counts.count_steps(project, steps)
    of_page = audience_counts.count_steps(project, steps, "page", "/0")
    assert [(step.start, step.end) for step in found] == steps
    for (start, end), step, page in list(zip(steps, found, of_page, strict=True))[:: max(1, len(steps) // 30)]:
        counts = visitor_counts.count_visitors(project, start, end, fresh=False)
        assert step.visitors == counts.totals
        assert page.visitors == counts.of("/0")
        assert step.views == visitor_counts.count_views(project, start, end, fresh=False).totals
    assert sum(step.views["total"] for step in found) > 40


def test_a_chart_takes_as_many_queries_whatever_its_steps(project):
    def count_queries(days):
        first = NOON.replace(hour=0) - timedelta(days=days)
        steps = [(first + timedelta(days=n), first + timedelta(days=n + 1)) for n in range(days)]
        with CaptureQueriesContext(
            connection,
        ) as queries:
            visitor_counts.count_steps(project, steps)
        return len(queries)

    assert count_queries(3) == count_queries(90) <= 4  # with the begin and the end of a snapshot


def test_filtered_views_are_read_once_until_others_are_counted(project):
    start, end = NOON - timedelta(days=20), NOON + timedelta(days=20)

    def load(**filters):
        with CaptureQueriesContext(connection) as queries:
            found = filtered_counts.FilteredCounts.load(project, filters, start, end)
        read = [query for query in queries if "FROM analytics_pageview" in query["sql"]]
        return found.totals("views")["human"], len(read)

    before, read = load(device="desktop")
    assert (before, read) == (50, 1)
    assert load(device="desktop") == (50, 0)
    assert load(device="phone") == (0, 1)
    recording.record(project, [seen("/0", at=NOON)])
    visitor_counts.refresh(project)
    assert load(device="desktop") == (51, 1)
