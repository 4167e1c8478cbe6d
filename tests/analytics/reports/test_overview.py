"""The home of a project in the admin."""

import re
from datetime import timedelta
from html import unescape

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from analytics.dashboard import next_steps
from analytics.models import Feedback
from assistant.models import GoldenQuestion, Message, Thread
from docsite.core.tenants.models import ApiKey
from docsite.core.workspace.reports.tiles import Tile, format_milliseconds
from search.models import SearchQuery, Source
from tests.analytics.conftest import view
from tests.variants import first_of


@pytest.fixture
def busy(project):
    """Four questions of this week and one of the week before, searches, thumbs, and visitors."""
    tenant = project.project
    thread = Thread.objects.create(project=tenant, fp="x", title="How?")
    outcomes = [("answered", 300), ("answered", 500), ("refused", 900), ("greeting", 10)]
    for number, (outcome, first) in enumerate(outcomes):
        _answer(thread, timezone.now() - timedelta(hours=number + 1), outcome, first)
    _answer(thread, timezone.now() - timedelta(days=10), "answered", 1400)
    for found in (3, 0, 0):
        SearchQuery.objects.create(project=tenant, at=timezone.now(), text="word", result_count=found)
    for helpful in (True, True, False):
        Feedback.objects.create(
            project=tenant, source="contextual", path="/", helpful=helpful, created_at=timezone.now()
        )
    return project


def _answer(thread, at, outcome, first_token):
    answer = Message.objects.create(
        thread=thread, project=thread.project, role="assistant", outcome=outcome, first_token_ms=first_token,
        total_ms=2 * first_token, prompt_tokens=100, completion_tokens=20, cost=30_000,
    )  # fmt: skip
    Message.objects.filter(pk=answer.pk).update(created_at=at)


def tiles(html: str) -> dict[str, str]:
    """The texts of the tiles by their labels."""
    found = {}
    for tile in re.findall(r"<li><a href=[^>]*><span class=.*?</a>", html, re.DOTALL):
        words = " ".join(unescape(re.sub(r"<[^>]+>", " ", tile)).split())
        label = unescape(re.search(r'class="label">([^<]+)', tile)[1])
        found[label] = words.removeprefix(label).strip()
    return found


def test_the_tiles_show_the_numbers_of_the_range_and_the_change(people, busy):
    shown = tiles(people.owner.get(f"/admin/project/{busy.domain}?range=7d").content.decode())
    assert shown["Questions"] == "4 ▲ up 3 from 1"
    assert shown["Answered"] == "67% 1 without an answer, 1 only small talk; 100% before"
    assert shown["Found helpful"] == "67% 2 thumbs up, 1 down"
    assert shown["Searches without result"] == "2 67% of 3 searches"
    assert shown["Tokens of answers"].startswith("480 ▲ up 360")
    assert "cost 0.12" in shown["Tokens of answers"]
    assert shown["First words after"].startswith("300 ms ▼ down 1,100")
    assert "95 % within 900 ms" in shown["First words after"]


def test_visitors_are_those_of_the_report(people, project, http, service):
    now = timezone.now()
    views = [view("/install", now), view("/", now, "198.51.100.2"), view("/", now)]
    url = f"{service.url}/v1/collect/{project.project_id}/views"
    assert http.post(url, json={"views": views}, headers=project.admin).status_code == 200
    shown = tiles(people.teammate.get(f"/admin/project/{project.domain}").content.decode())
    assert shown["Visitors"].startswith("2 ")
    assert shown["AI share"].startswith("0% ")


def test_a_project_without_readers_says_what_to_do(people, project):
    html = people.owner.get(f"/admin/project/{project.domain}").content.decode()
    steps = html.split('id="next-steps"')[1].split("</ol>")[0]
    assert steps.index("Nobody has asked a question yet.") < steps.index("No page views are counted yet.")
    assert f"/admin/project/{project.domain}/install" in steps
    assert tiles(html)["Answered"] == "– no questions in this range"


def test_the_most_urgent_steps_come_first(busy, people):
    tenant, request = busy.project, people.owner.get("/admin/").wsgi_request
    Source.objects.create(project=tenant, name="docs", location="https://docs.acme.example", state="failed")
    ApiKey.issue(ApiKey.Kind.ADMIN, tenant.organization, name="Nightly", expires_at=timezone.now() + timedelta(days=3))
    now = timezone.now()
    steps = next_steps.find_next_steps(request, tenant, now - timedelta(days=7), now, now, "?range=7d")
    assert [step.reason.partition(" ")[0] for step in steps] == ["The", "No", "The"]
    assert "could not be read" in steps[0].reason
    assert "Nightly" in steps[2].reason
    Source.objects.filter(project=tenant).delete()
    ApiKey.objects.filter(name="Nightly").delete()
    GoldenQuestion.objects.create(project=tenant, text="How?")
    week = now - timedelta(days=7), now + timedelta(hours=1)
    steps = next_steps.find_next_steps(request, tenant, *week, now, "?range=7d")
    assert steps[1].url == f"/admin/project/{busy.domain}/gaps?range=7d&problem=without_answer&state=all"
    assert steps[2].url == f"/admin/project/{busy.domain}/feedback?range=7d&status=pending"
    reasons = [step.reason for step in steps]
    assert reasons == [
        "No page views are counted yet.",
        "1 question has no answer.",
        "3 pieces of feedback wait for you.",
    ]


def test_a_course_ends_today(people, busy):
    now = timezone.now()
    start, tomorrow, later = (f"{now + timedelta(days):%Y-%m-%d}" for days in (-7, 1, 300))

    def read_courses(end):
        shown = people.owner.get(f"/admin/project/{busy.domain}?from={start}&to={end}").context
        return [tile.course for tile in shown["tiles"]]

    courses = read_courses(tomorrow)
    assert len(courses[0]) == 8
    assert read_courses(later) == courses


def test_a_wrong_range_is_named_and_shows_no_numbers(people, project):
    answer = people.owner.get(f"/admin/project/{project.domain}?from=yesterday")
    assert answer.status_code == 400
    html = answer.content.decode()
    assert "From: this is not a date" in html
    assert tiles(html) == {}


@pytest.mark.parametrize("page", first_of(["", "/questions", "/gaps", "/searches", "/feedback"], 2))
def test_a_range_of_ten_thousand_years_is_refused(people, project, page):
    answer = people.owner.get(f"/admin/project/{project.domain}{page}?from=0001-01-01&to=9999-12-31")
    assert answer.status_code == 400
    assert "From: this report covers at most 3,660 days." in answer.content.decode()


@pytest.mark.matrix
def test_the_page_asks_the_database_as_often_for_many_rows_as_for_few(people, busy):
    url = f"/admin/project/{busy.domain}?range=90d"
    people.owner.get(url)
    with CaptureQueriesContext(connection) as few:
        people.owner.get(url)
    thread = Thread.objects.create(project=busy.project, fp="y")
    for number in range(200):
        _answer(thread, timezone.now() - timedelta(hours=number), "answered", 100 + number)
    with CaptureQueriesContext(connection) as many:
        people.owner.get(url)
    assert len(many) <= len(few)
    assert len(few) < 160  # one for each step of the visitors' course, and a few for the rest


def test_a_sparkline_breaks_where_a_value_is_missing():
    assert Tile("", "", "", course=[0, 5, None, 10, 0]).sparkline == ["0.0,22.0 25.0,12.0", "75.0,2.0 100.0,22.0"]
    assert Tile("", "", "", course=[0, 0, 0]).sparkline == []


def test_durations_have_a_unit():
    assert [format_milliseconds(value) for value in (None, 840, 1400)] == ["", "840 ms", "1.4 s"]
