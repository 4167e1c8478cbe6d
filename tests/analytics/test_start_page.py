"""The start page of the admin: each project with its numbers and what waits, as few queries for many as for few."""

import ipaddress
import re
import uuid
from datetime import datetime, timedelta
from html import unescape
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analytics.admin import start
from analytics.collecting import recording
from analytics.collecting.recording import Observation
from analytics.models import Feedback
from analytics.reports import visitor_counts
from docsite.core.notifications.models import Alert
from docsite.core.tenants.models import Organization, Project
from tests.analytics.conftest import CHROME
from tests.assistant.improving.gaps.conftest import store_answer
from tests.conftest import People, Tenant, logged_in


def cards(client: Client, query: str = "") -> dict[str, str]:
    """The words of each project of the page, by its name, with the addresses of its links."""
    html = client.get(f"/admin/{query}").content.decode()
    listed = html.partition('<ul class="projects-list">')[2].partition('<div class="pager">')[0]
    shown = {}
    for card in listed.split("<h2>")[1:]:
        linked = re.sub(r'<a [^>]*href="([^"]+)"[^>]*>', r" [\1] ", card.replace('<span class="visually-hidden">', " "))
        words = " ".join(unescape(re.sub(r"<[^>]+>", " ", linked)).split())
        name = unescape(re.search(r"<a [^>]+>([^<]+)</a>", card)[1])  # type: ignore[index]
        shown[name] = words
    return shown


def see(project: Project, at: datetime, number: int) -> None:
    """Record a view of a visitor."""
    reader = ipaddress.ip_address("198.51.100.0") + number
    recording.record(project, [Observation(uuid.uuid4().hex, "/", at, reader, CHROME)])


@pytest.fixture
def busy(project: Tenant) -> Tenant:
    """Visitors and questions of this month and of the month before, and something that waits of each kind."""
    tenant, now = project.project, timezone.now()
    for days, addresses in ((1, 5), (40, 3)):
        for number in range(addresses):
            see(tenant, now - timedelta(days=days), number)
    visitor_counts.refresh(tenant)
    for outcome in ("answered", "answered", "answered", "refused", "greeting", "running"):
        store_answer(tenant, f"Where is the {outcome} ferret?", outcome)
    store_answer(tenant, "Where was it?", "answered", at=now - timedelta(days=35))
    Feedback.objects.create(project=tenant, source="contextual", path="/", helpful=False, created_at=now)
    for state in ("open", "closed"):
        tenant.support_requests.create(form_id=state, subject="Help", message="?", state=state)
    return project


@pytest.mark.slow
def test_a_project_shows_the_numbers_of_its_reports_and_what_waits(busy: Tenant, people: People) -> None:
    shown = cards(people.owner)[busy.project.name]
    for words in (
        "Visitors 5 ▲ up 2 from 3",
        "Questions 5 ▲ up 4 from 1",
        "Answered 75% 100% before",
        "1 support request is open.",
        "1 question has no answer.",
        "1 piece of feedback waits for you.",
    ):
        assert words in shown
    for link in re.findall(r"\[([^\]]+)\]", shown):
        assert people.owner.get(unescape(link)).status_code == 200, link
    assert busy.project.name not in cards(people.stranger)


def test_a_viewer_is_not_sent_to_what_writers_and_owners_read(busy: Tenant, people: People) -> None:
    Alert.objects.create(
        project=busy.project, topic="key", cause=f"key {busy.domain}", title="A key expires", path="/x"
    )
    assert "A key expires" in cards(people.owner)[busy.project.name]
    busy.project.organization.memberships.update(role="viewer")
    shown = cards(people.owner)[busy.project.name]
    assert "support" not in shown
    assert "A key expires" not in shown
    assert "1 question has no answer." in shown
    home = people.owner.get(f"/admin/project/{busy.domain}").content.decode()
    assert "support request" not in home
    assert "1 question has no answer." in home


@pytest.fixture
def many(make_project: Any) -> tuple[Client, Organization]:
    """The owner of an organization with thirty projects, of which the last has an open alert."""
    organization = make_project().project.organization
    names = [f"{organization.pk}-{number:02}" for number in range(29)]
    Project.objects.bulk_create(
        Project(organization=organization, domain=f"zoo-{name}", name=f"Zoo {name}", docs_url=f"https://{name}.example")
        for name in names
    )
    last = Project.objects.get(domain=f"zoo-{names[-1]}")
    Alert.objects.create(project=last, topic="source", cause=last.domain, title="A source failed", path="/x")
    return logged_in(f"owner of {names[0]}", organization), organization


def test_many_projects_are_paged_and_found_and_those_with_an_alert_come_first(many: tuple[Client, Any]) -> None:
    client, organization = many
    first, second = cards(client), cards(client, "?page=2")
    assert (len(first), len(second), len(first.keys() | second.keys())) == (start.PAGE_SIZE, 6, 30)
    assert next(iter(first)) == f"Zoo {organization.pk}-28"
    assert "A source failed" in first[f"Zoo {organization.pk}-28"]
    assert list(cards(client, f"?q=zoo+{organization.pk}-07.example")) == [f"Zoo {organization.pk}-07"]
    assert cards(client, "?q=penguin%00") == {}
    assert "No project has these words." in client.get("/admin/?q=penguin").content.decode()


@pytest.mark.matrix
def test_it_takes_as_many_queries_for_every_number_of_projects(many: tuple[Client, Any]) -> None:
    client, organization = many
    counts = []
    for number in (30, 2):
        Project.objects.filter(pk__in=organization.projects.values("pk")[number:]).delete()
        cards(client)
        with CaptureQueriesContext(connection) as queries:
            assert len(cards(client)) == min(number, start.PAGE_SIZE)
        counts.append(len(queries))
    assert counts[0] == counts[1] < 25, counts


@pytest.mark.matrix
def test_the_numbers_are_of_the_days_of_the_projects_time_zone(project: Tenant, people: People) -> None:
    tenant, zone = project.project, ZoneInfo("Asia/Kathmandu")  # 5:45 ahead of UTC
    tenant.time_zone = zone.key
    tenant.save()
    first_day = datetime.now(zone).replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(days=29)
    see(tenant, first_day - timedelta(days=1, minutes=-1), 1)  # at any hour in the part that is compared
    for number in (2, 3):
        see(tenant, first_day + timedelta(minutes=1), number)
    visitor_counts.refresh(tenant)
    shown = cards(people.owner)[tenant.name]
    assert "Visitors 2 ▲ up 1 from 1" in shown
    report = people.owner.get(f"/admin/analytics/pageview/visitors/{project.domain}?range=30d").content.decode()
    assert re.search(r"<dt>Unique across both</dt>\s*<dd>2</dd>", report)


@pytest.mark.matrix
def test_visitors_of_many_sites_are_those_of_each(project: Tenant, make_project: Any) -> None:
    """One query counts what a report of each site counts, also where the sites are sealed up to different hours."""
    sites = [project.project, make_project().project, make_project().project]
    now = timezone.now().replace(minute=0, second=0, microsecond=0)
    for number, days in ((0, range(0, 60, 3)), (1, range(30, 60, 7))):
        for day in days:
            see(sites[number], now - timedelta(days=day, hours=day % 5), day % 4)
        visitor_counts.refresh(sites[number])
    ranges: list[tuple[datetime, datetime]] = [
        (now - timedelta(days=60), now - timedelta(days=30)),
        (now - timedelta(days=30), now + timedelta(hours=1)),
    ]
    expected = [[visitor_counts.count_visitors(site, *span).totals["total"] for span in ranges] for site in sites]
    assert visitor_counts.count_sites(sites, ranges) == expected
    assert sum(map(sum, expected)) > 8


def test_the_start_page_leads_to_all_records_for_superusers_only(admin_client: Client, people: People) -> None:
    assert "All records" not in people.owner.get("/admin/").content.decode()
    assert 'href="/admin/records"' in admin_client.get("/admin/").content.decode()
    records = admin_client.get("/admin/records").content.decode()
    assert "/admin/auth/user/" in records
    assert "None available" not in records
