"""The visitors of the last five minutes, on two pages and as JSON."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analytics.collecting import recording
from tests.analytics.conftest import CHATGPT, GOOGLEBOT
from tests.analytics.reports.test_report_page import seen
from tests.variants import first_of


@pytest.fixture
def busy(project):
    """Two people and an assistant read now, one of them two pages; others left or are not counted."""
    now = timezone.now()
    views = [seen("/a", at=now, ip=1), seen("/a", at=now, ip=2), seen("/b", at=now, ip=2), seen("/b", CHATGPT, at=now)]
    views += [seen("/a", at=now - timedelta(minutes=6), ip=3), seen("/c", GOOGLEBOT, at=now)]
    recording.record(project.project, views)
    return project


def test_who_reads_now_is_counted_once(people, busy):
    address = f"/admin/project/{busy.domain}/live"
    with CaptureQueriesContext(connection) as queries:
        answer = people.teammate.get(address)
    assert answer.json() == {
        "visitors": 3,
        "pages": [{"path": "/a", "visitors": 2}, {"path": "/b", "visitors": 2}],
    }
    assert "no-store" in answer["Cache-Control"]
    assert len(queries) < 9
    assert people.stranger.get(address).status_code == 404


@pytest.mark.parametrize("page", first_of(["/admin/project/{}", "/admin/analytics/pageview/visitors/{}"], 1))
def test_pages_show_it_without_a_script(people, busy, page):
    shown = people.owner.get(page.format(busy.domain)).content.decode()
    assert "<strong data-visitors>3</strong> <span data-word>visitors</span> in the last five minutes" in shown
    assert f'data-live="/admin/project/{busy.domain}/live"' in shown
    assert '<li><span class="path">/a</span> <span class="quiet">2</span></li>' in shown
