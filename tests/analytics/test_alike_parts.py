"""Every report compares a range that runs with the same part of the period before, and says with what."""

import ipaddress
import re
import uuid
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone

from analytics.collecting import recording
from analytics.collecting.recording import Observation
from analytics.feedback import triage
from analytics.models import Feedback
from analytics.reports import visitor_counts
from analytics.reports.audience_report import AudienceReport
from docsite.core.workspace.reports.report_state import previous_period
from search.models import SearchQuery
from search.query_log import totals
from tests.analytics.conftest import CHROME
from tests.assistant.improving.gaps.conftest import store_answer
from tests.conftest import People, Tenant

DAY = timedelta(days=1)


def see(tenant: Tenant, at: datetime, number: int) -> None:
    """Record a view of a visitor."""
    reader = ipaddress.ip_address("198.51.100.0") + number
    recording.record(tenant.project, [Observation(uuid.uuid4().hex, "/", at, reader, CHROME)])


@pytest.mark.matrix
def test_all_pages_compare_with_the_same_time(people: People, project: Tenant) -> None:
    see(project, timezone.now() - 25 * DAY, 1)
    see(project, timezone.now() - timedelta(minutes=1), 2)
    store_answer(project.project, "Where is the ferret?", "refused")
    home = f"/admin/project/{project.domain}"
    pages = [
        *(home, f"{home}/questions", f"{home}/gaps", f"{home}/searches", f"{home}/feedback", f"{home}/agents"),
        f"/admin/analytics/pageview/visitors/{project.domain}",
    ]
    text = {
        page: re.findall(
            r"Compared with ([\d-]+ [\d:]+ to [\d-]+ [\d:]+)\.",
            people.owner.get(f"{page}?range=7d&compare=1" if page != home else f"{home}?range=7d").content.decode(),
        )
        for page in pages
    }
    assert len(set(map(tuple, text.values()))) == 1, text
    assert len(text[home]) == 1


@pytest.fixture
def today(project: Tenant, monkeypatch: Any) -> tuple[datetime, datetime]:
    """A day at 10:30, with one row of each kind this morning, and yesterday one in the morning and two later."""
    now = timezone.now().replace(hour=10, minute=30, second=0, microsecond=0) - DAY
    monkeypatch.setattr(timezone, "now", lambda: now)
    start = datetime(now.year, now.month, now.day, tzinfo=UTC)
    for number, at in enumerate((9, 9 - 24, 12 - 24, 20 - 24)):
        when = start + timedelta(hours=at)
        see(project, when, number)
        SearchQuery.objects.create(project=project.project, at=when, text="ferret", folded="ferret", result_count=1)
        Feedback.objects.create(project=project.project, source="contextual", path="/", helpful=False, created_at=when)
    see(project, start - 3 * DAY, 9)
    visitor_counts.refresh(project.project)
    return start, start + DAY


@pytest.mark.matrix
def test_the_rows_of_a_report_compare_alike_parts(project: Tenant, today: tuple[datetime, datetime]) -> None:
    earlier = previous_period(*today)
    assert earlier
    assert earlier[1] == today[0] - DAY + timedelta(hours=11)
    query = totals.group_queries(project.project, *today, earlier=earlier).get()
    assert (query["searches"], query["before"]) == (1, 1)
    page = triage.count_pages(project.project, *today, triage.Selection(), earlier).get()
    assert (page["down"], page["before"]) == (1, 1)
    for filters in ({}, {"channel": "direct"}):
        (row,) = AudienceReport.load(project.project, *today, "views", filters).rows("channel")
        assert (row.total, row.previous) == (1, 1), filters
