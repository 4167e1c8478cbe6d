"""The time zone of a project: its days in every report, file and e-mail, equal to brute force over the rows."""

import random
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from analytics.collecting import recording
from analytics.counting import sweeper
from analytics.models import Annotation, Feedback
from analytics.reports import filtered_counts, visitor_counts
from assistant.improving.question_groups import grouping
from docsite.core.http import dates
from docsite.core.tenants.models import Project
from docsite.core.workspace import navigation
from docsite.core.workspace.reports.report_state import DAY
from docsite.core.workspace.reports.time_steps import split
from search.models import SearchQuery
from tests.analytics.counting.history import brute, history
from tests.analytics.counting.history import view as seen_view
from tests.analytics.reports.test_report_page import rows_of
from tests.assistant.improving.gaps.conftest import skip_earlier, store_answer
from tests.conftest import logged_in
from tests.search.test_searches_report import read as read_file
from tests.variants import first_of

MIDNIGHT, MINUTE = datetime(2026, 3, 10, 4, tzinfo=UTC), timedelta(minutes=1)  # of Tuesday in New York
CHANGES = {  # noon of a day on which clocks change
    "Europe/Berlin": ("2026-03-29", "2025-10-26"),
    "America/New_York": ("2026-03-08", "2025-11-02"),
    "Australia/Lord_Howe": ("2026-04-05", "2025-10-05"),
    "Asia/Kolkata": ("2026-03-29",),
    "Pacific/Apia": ("2011-12-30",),
}


@pytest.mark.parametrize(("zone", "day"), first_of([(zone, day) for zone, days in CHANGES.items() for day in days], 1))
def test_days_are_counted_as_a_clock_of_the_zone_has_them(make_project, monkeypatch, zone, day):
    monkeypatch.setattr(sweeper, "first_kept_hour", lambda _: 0)  # of these years, single views are still stored
    project, dice = make_project().project, random.Random(f"{zone} {day}")
    noon = datetime.fromisoformat(f"{day}T12:00").replace(tzinfo=UTC)
    seen = history(dice, 150, 6, noon + 3 * DAY)
    recording.record(project, [view.observation for view in seen])
    assert visitor_counts.refresh(project)
    of_day = Counter(view.at.astimezone(ZoneInfo(zone)).date() for view in seen if view.kind != "nobody")
    with timezone.override(zone):
        days = list(split(dates.begin_day(noon - 3 * DAY), dates.begin_day(noon + 4 * DAY), DAY))
        for (start, end), step in zip(days, visitor_counts.count_steps(project, days), strict=True):
            assert step.visitors == brute(seen, start, end)[0]
            assert step.views == brute(seen, start, end, distinct=False)[0]
            assert step.views["total"] == of_day[dates.find_day(start)]
        filtered = filtered_counts.FilteredCounts.load(project, {}, days[0][0], days[-1][1])
        assert [one.views["total"] for one in filtered.steps(days)] == [of_day[dates.find_day(at)] for at, _ in days]
        first, last = sorted(dice.sample(range(len(days)), 2))
        counts = visitor_counts.count_visitors(project, days[first][0], days[last][1], fresh=False)
        assert (counts.totals, counts.rows()) == brute(seen, days[first][0], days[last][1])


@pytest.fixture
def site(make_project):
    """A project in New York, with one of everything in the last minute of Monday 9 March and the first of Tuesday."""
    skip_earlier()
    tenant = make_project()
    Project.objects.filter(pk=tenant.project.pk).update(time_zone="America/New_York")
    project = tenant.project = Project.objects.get(pk=tenant.project.pk)
    for number, at in enumerate((MIDNIGHT - MINUTE, MIDNIGHT)):
        seen = [seen_view(at, f"/page-{number}", number + 1, kind) for kind in ("human", "reader")]
        recording.record(project, [one.observation for one in seen])
        store_answer(project, f"question {number} about clocks", at=at)
        word = f"word {number}"
        SearchQuery.objects.create(project=project, text=word, folded=word, at=at, result_count=0)
        Feedback.objects.create(
            project=project, path="/", helpful=True, comment=word, source="contextual", created_at=at
        )
    assert grouping.catch_up()
    tenant.client = logged_in(f"zone-{project.pk}", project.organization)
    return tenant


PAGES = {  # address, and what it shows of Monday, as a pattern; `one` of Monday is never beside `two`, of Tuesday
    "/admin/project/{}": r"Visitors\s+2 .* Questions\s+1 .* Searches without result\s+1 ",
    "/admin/analytics/pageview/visitors/{}": r"/page-0 ",
    "/admin/project/{}/agents": r"ChatGPT-User .* 1 ",
    "/admin/project/{}/questions": r"question 0 about clocks",
    "/admin/project/{}/conversations": r"question 0 about clocks",
    "/admin/project/{}/gaps": r"question 0 about clocks",
    "/admin/project/{}/searches": r"word 0",
    "/admin/project/{}/feedback": r"word 0",
}


@pytest.mark.parametrize("address", first_of(PAGES, 3))
def test_a_page_of_monday_shows_monday(site, address):
    def read(dates_):
        page = site.client.get(f"{address.format(site.domain)}?{dates_}").content.decode()
        return " ".join(re.sub(r"<[^>]*>", " ", page.partition("<main")[2]).split())

    monday = read("from=2026-03-09&to=2026-03-10")
    assert re.search(PAGES[address], monday)
    assert not re.search(r"question 1|word 1|/page-1", monday)
    if "conversations" not in address:
        assert "2026-03-09 00:00 to 2026-03-10 00:00 America/New_York" in monday
    assert "UTC" not in monday
    assert re.search(PAGES[address].replace("0", "1"), read("from=2026-03-10T00:00&to=2026-03-11"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("address", "column"),
    first_of(
        [
            ("/admin/analytics/pageview/visitors/{}", -1),
            ("/admin/project/{}/agents/agent", -1),
            ("/admin/project/{}/questions", -1),
            ("/admin/project/{}/searches", 1),
        ],
        1,
    ),
)
def test_bars_are_days_of_the_zone(site, address, column):
    query = "from=2026-03-08&to=2026-03-12&class=ai_user&agent=ChatGPT-User&sort="
    page = site.client.get(f"{address.format(site.domain)}?{query}").content.decode()
    shown = {row[0]: row[column] for row in rows_of(page, "series")}
    assert list(shown) == ["Sun 8 Mar 2026", "Mon 9 Mar 2026", "Tue 10 Mar 2026", "Wed 11 Mar 2026"]
    numbers = [int(number) for number in shown.values()]
    assert numbers in ([0, 1, 1, 0], [0, 2, 2, 0])
    hours = site.client.get(f"{address.format(site.domain)}?{query.replace('12', '10')}").content.decode()
    counted = {row[0]: int(row[column]) for row in rows_of(hours, "series")}
    assert (len(counted), counted["Mon 9 Mar 2026, 23:00 to 24:00"]) == (47, numbers[1])  # 23 hours on Sunday


def test_a_file_of_days_and_a_note_have_the_time_of_the_zone(site):
    file = site.client.get(f"/admin/project/{site.domain}/questions/days.csv?from=2026-03-01&to=2026-04-01")
    lines = read_file(file).splitlines()
    assert [line.split(",")[:2] for line in lines[1:]] == [["2026-03-09", "1"], ["2026-03-10", "1"]]
    site.client.post(
        f"/admin/analytics/pageview/visitors/{site.domain}/annotations", {"at": "2026-03-09T23:59", "text": "x"}
    )
    (note,) = Annotation.objects.filter(project=site.project)
    assert note.at == MIDNIGHT - MINUTE


@pytest.mark.slow
def test_the_zone_of_a_page_ends_with_the_page(site, make_project):
    other = make_project()
    client = logged_in(f"both-{site.project.pk}", site.project.organization, other.project.organization)
    for tenant, zone in ((site, "America/New_York"), (other, "UTC"), (site, "America/New_York")):
        page = client.get(f"/admin/project/{tenant.domain}?from=2026-03-09&to=2026-03-10").content.decode()
        assert f"</strong> {zone} (the end" in page
        assert timezone.get_current_timezone_name() == "UTC"


@pytest.mark.matrix
def test_no_page_of_a_project_names_another_zone(site):
    """Except what is charged or counted by day or hour of UTC, whatever the zone."""
    shown = {}
    for page in navigation.all_pages():
        html = site.client.get(page.url(site.project), follow=True).content.decode()
        shown[page.key] = set(re.findall(r"\bUTC\b|America/New_York", html.partition("<main")[2]))
    utc = {key for key, zones in shown.items() if "UTC" in zones}
    assert utc == {"costs", "limits", "settings"}, "where it is a value that can be chosen"
    local = {key for key, zones in shown.items() if "America/New_York" in zones}
    assert {"overview", "visitors", "agents", "questions", "searches", "feedback", "audit"} <= local


@pytest.mark.matrix
def test_a_period_before_of_half_hours_says_that_it_is_rounded(site):
    """Single views of the last 30 days are kept, so the ends of the range itself are exact."""
    addresses = {
        f"/admin/project/{site.domain}?range=30d": True,
        f"/admin/project/{site.domain}?range=7d": False,
        f"/admin/analytics/pageview/visitors/{site.domain}?range=30d&compare=1": True,
        f"/admin/analytics/pageview/visitors/{site.domain}?range=7d&compare=1": False,
    }
    for zone, is_within in (("Asia/Kolkata", True), ("UTC", False)):
        Project.objects.filter(pk=site.project.pk).update(time_zone=zone)
        for address, is_old in addresses.items():
            page = site.client.get(address).content.decode()
            assert ("an end within an hour is rounded down" in page) == (is_within and is_old), (zone, address)


@pytest.mark.matrix
def test_a_range_of_half_hours_says_that_old_ones_are_rounded(site):
    pages = {
        f"/admin/analytics/pageview/visitors/{site.domain}": "an end within an hour is rounded down",
        f"/admin/project/{site.domain}": "an end within an hour is rounded down",
        f"/admin/project/{site.domain}/agents": "both ends are rounded outwards",
    }

    def read(address):
        return site.client.get(f"{address}?from=2026-03-09&to=2026-03-10").content.decode()

    assert not any(says in read(address) for address, says in pages.items())
    Project.objects.filter(pk=site.project.pk).update(time_zone="Asia/Kolkata")
    for address, says in pages.items():
        page = read(address)
        assert says in page
        assert "2026-03-09 00:00</strong> to <strong>2026-03-10 00:00</strong> Asia/Kolkata" in page
