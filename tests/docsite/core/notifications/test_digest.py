"""The weekly digest: once a week, to those who chose it, about what readers missed and what got better."""

import re
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.core.cache import caches
from django.db import transaction
from django.utils import timezone

from assistant.models import GroupedQuestion, QuestionGroup
from docsite.core.delivery.models import Delivery
from docsite.core.notifications import digest, topics
from docsite.core.notifications.models import Digest, Subscription
from docsite.core.notifications.subscriptions import Recipient
from docsite.core.tenants.models import Project
from tests.assistant.improving.gaps.conftest import store_answer
from tests.conftest import logged_in
from tests.docsite.core.notifications.conftest import SERVICE

pytestmark = pytest.mark.slow

MONDAY = datetime(2031, 3, 10, 6, 0, tzinfo=UTC)  # services of other tests issue digests of the present
IN_WEEK, BEFORE = MONDAY - timedelta(days=5), MONDAY - timedelta(days=11)


@pytest.fixture(autouse=True)
def _no_digests():
    """Of the months of these tests, only one in UTC, two weeks before."""
    Digest.objects.filter(week__year=2031).delete()
    Digest.objects.create(week=MONDAY.date() - timedelta(days=14))


def ask(group, outcome, at, number=1):
    """Store questions of a group, grouped."""
    problem = "refused" if outcome == "refused" else None
    for _ in range(number):
        with transaction.atomic():  # else a service of other tests may group them
            answer = store_answer(group.project, group.question or "How do I herd ferrets?", outcome, at=at)
            question = answer.thread.messages.get(role="user")
            GroupedQuestion.objects.create(
                project=group.project,
                group=group,
                at=at,
                outcome=outcome,
                problem=problem,
                question=question,
                answer=answer,
            )


def group_of(project, question, **facts):
    return QuestionGroup.objects.create(
        project=project, terms=f" {question} ", key=question, question=question, **facts
    )


@pytest.fixture
def busy(make_project):
    """A project with gaps, answers and a fix in the week."""
    project = make_project().project
    for number, name in enumerate(("one", "two", "three", "four"), 1):
        ask(group_of(project, name), "refused", IN_WEEK, number)
    ask(group_of(project, "dismissed", state="dismissed"), "refused", IN_WEEK, 9)
    fixed = group_of(project, "fixed", state="fixed", fixed_at=IN_WEEK - timedelta(days=2))
    ask(fixed, "refused", BEFORE, 2)
    ask(fixed, "answered", IN_WEEK, 3)
    QuestionGroup.objects.filter(key="four").update(nearest=["/install"])
    return project


def parts(letter):
    return [part.get_content() for part in letter.iter_parts()]


def test_it_names_three_pages_the_trend_and_what_got_better(busy, subscribe, letters):
    digest.issue_due(MONDAY - timedelta(days=7))
    person = subscribe(busy, "digest")
    digest.issue_due(MONDAY)
    (letter,) = letters(person)
    assert letter["Subject"] == f"[{busy.name}] Your documentation, 2031-03-03 to 2031-03-09"
    text, html = parts(letter)
    for body in (text, html):
        assert "Three pages to write this week" in body
        assert body.index("4 ×") < body.index("3 ×") < body.index("2 ×")
        assert "The nearest one is /install." in body
        assert "1 ×" not in body
        assert "9 ×" not in body
        assert "What became of closed gaps" in body
        assert "held (3 of 3 answered since 2031-03-03, 0 of 2 before)." in body
        assert "2 in the week before" in body
        assert f"{SERVICE}/admin/project/{busy.domain}/gaps/" in body
    assert '<a class="button"' in html
    assert "<" not in text


def test_it_is_sent_once_on_monday_morning(busy, subscribe, letters):
    person = subscribe(busy, "digest")
    subscribe(busy, "source", name="alerts only")
    digest.issue_due(MONDAY - timedelta(days=7))
    assert len(letters(person)) == 1
    digest.issue_due(MONDAY - timedelta(minutes=1))
    assert len(letters(person)) == 1
    for later in range(3):
        digest.issue_due(MONDAY + timedelta(hours=later))
    assert len(letters(person)) == 2
    digest.issue_due(MONDAY + timedelta(days=6))
    assert len(letters(person)) == 2
    assert Digest.objects.filter(week__year=2031, time_zone="UTC").count() == 3


def test_who_chooses_it_on_wednesday_gets_it_on_monday(make_project, subscribe):
    project = make_project().project
    digest.issue_due(MONDAY + timedelta(days=1))
    subscribe(project, "digest")
    digest.issue_due(MONDAY + timedelta(days=2))
    assert not Delivery.objects.filter(project=project).exists()
    digest.issue_due(MONDAY + timedelta(days=7))
    assert Delivery.objects.filter(project=project).count() == 1


def test_the_first_project_of_a_zone_waits_for_monday(make_project, subscribe):
    """Whether it is new, or its owner changed the zone after somebody chose the digest on Wednesday."""
    new, moved = make_project().project, make_project().project

    def count(now):
        digest.issue_due(now)
        return [Delivery.objects.filter(project=project, event=digest.ISSUED).count() for project in (new, moved)]

    assert count(MONDAY) == [0, 0]
    for project, zone in ((new, "Asia/Tokyo"), (moved, "Asia/Seoul")):
        subscribe(project, "digest")
        Project.objects.filter(pk=project.pk).update(time_zone=zone)
    assert count(MONDAY + timedelta(days=2)) == [0, 0]
    assert count(MONDAY + timedelta(days=2, minutes=1)) == [0, 0]
    assert count(MONDAY + timedelta(days=8)) == [1, 1], "on Tuesday, if the service was down on Monday"
    Project.objects.filter(pk=moved.pk).update(time_zone="UTC")
    assert count(MONDAY + timedelta(days=8, hours=1)) == [1, 1]


@pytest.mark.parametrize(
    ("now", "zone", "monday"),
    [
        ("2026-11-23T05:59", "UTC", "2026-11-16"),
        ("2026-11-23T06:00", "UTC", "2026-11-23"),
        ("2026-11-29T23:00", "UTC", "2026-11-23"),
        ("2026-11-22T16:59", "Pacific/Apia", "2026-11-16"),  # 13 hours ahead
        ("2026-11-22T17:00", "Pacific/Apia", "2026-11-23"),
        ("2026-11-23T15:59", "Pacific/Honolulu", "2026-11-16"),
        ("2026-11-23T16:00", "Pacific/Honolulu", "2026-11-23"),
    ],
)
def test_a_week_ends_on_monday_in_its_time_zone(now, zone, monday):
    assert str(digest.find_monday(datetime.fromisoformat(now).replace(tzinfo=UTC), ZoneInfo(zone))) == monday


def test_each_project_gets_its_week_when_that_is_over(make_project, subscribe):
    early, late = make_project().project, make_project().project
    for project, zone in ((early, "Asia/Tokyo"), (late, "America/New_York")):
        Project.objects.filter(pk=project.pk).update(time_zone=zone)
        subscribe(project, "digest")

    def count(now):
        digest.issue_due(now)
        return [Delivery.objects.filter(project=project, event=digest.ISSUED).count() for project in (early, late)]

    assert count(MONDAY - timedelta(days=1)) == [0, 0]  # the zones are new
    assert count(MONDAY - timedelta(hours=9, minutes=1)) == [0, 0]
    assert count(MONDAY - timedelta(hours=9)) == [1, 0]
    assert count(MONDAY + timedelta(hours=3, minutes=59)) == [1, 0]
    assert count(MONDAY + timedelta(hours=4)) == [1, 1]
    Project.objects.filter(pk=early.pk).update(time_zone="America/Halifax")  # which has not had its digest yet
    assert count(MONDAY + timedelta(hours=5)) == [1, 1]


@pytest.mark.matrix
def test_a_project_that_moves_to_where_monday_morning_is_over_misses_no_week(make_project, subscribe):
    project = make_project().project
    chosen = subscribe(project, "digest")
    page = f"/admin/projects/project/{project.pk}/change/"

    def move(zone, now):
        with time_machine.travel(now, tick=False):
            client = logged_in(f"owner of {project.domain}", project.organization)
            form = client.get(page).context["adminform"].form
            values = {name: value for name, value in form.initial.items() if value is not None and name in form.fields}
            values |= {"allowed_origins": "", "time_zone": zone}
            assert client.post(page, values).status_code == 302
        return list(Delivery.objects.filter(project=project, event=digest.ISSUED).values_list("subject", flat=True))

    assert move("Asia/Seoul", MONDAY - timedelta(days=2)) == []
    assert move("UTC", MONDAY - timedelta(days=1)) == []
    assert move("Asia/Tokyo", MONDAY - timedelta(hours=1)) == [f"{MONDAY.date()}:{chosen.pk}"]
    assert len(move("Asia/Seoul", MONDAY)) == len(move("UTC", MONDAY)) == 1


def test_a_letter_counts_the_week_of_the_time_zone(make_project, subscribe):
    project = make_project().project
    person = subscribe(project, "digest")
    group = group_of(project, "clocks")
    for hours in (-7 * 24 + 4, -7 * 24 + 5, 3, 4):  # New York turns its clocks on Sunday 9 March 2031
        ask(group, "answered", datetime(2031, 3, 10, 0, 30, tzinfo=UTC) + timedelta(hours=hours))

    def read(zone):
        person.project.time_zone = zone
        return digest.build_email(Recipient(person, topics.DIGEST), MONDAY.date()).text

    new_york, utc = read("America/New_York"), read("UTC")  # from Monday 05:00 to Monday 04:00, in UTC
    assert "2031-03-03 to 2031-03-09, America/New_York." in new_york
    assert "questions?from=2031-03-03&to=2031-03-10" in new_york
    assert [re.search(r"(\d) in the week before", text)[1] for text in (new_york, utc)] == ["1", "0"]


def test_a_quiet_project_gets_a_short_letter(make_project, subscribe):
    person = subscribe(make_project().project, "digest")
    email = digest.build_email(Recipient(person, topics.DIGEST), MONDAY.date())
    assert "None" not in email.text
    assert "Nothing happened in this week" in email.text


def test_texts_of_readers_are_escaped_and_redacted(make_project, subscribe):
    project = make_project().project
    ask(group_of(project, "<b>ada@reader.example</b> & co"), "refused", IN_WEEK)
    email = digest.build_email(Recipient(subscribe(project, "digest"), topics.DIGEST), MONDAY.date())
    assert "&lt;b&gt;[e-mail]&lt;/b&gt; &amp; co" in email.html
    assert "<b>[e-mail]</b> & co" in email.text
    assert "One page to write this week" in email.text


def test_the_page_stores_the_choice_and_sends_a_digest(people, project, settings_of, mailbox):
    page = f"/admin/project/{project.domain}/notifications"
    html = people.owner.get(page).content.decode()
    assert "The disk of the service" not in html, "for superusers"
    assert "Send me a digest" not in html
    values = {"save": "1", "email": "me@acme.example", "topics": ["digest", "key"]}
    assert people.owner.post(page, {**values, "email": "me"}).status_code == 400
    assert people.owner.post(page, {**values, "topics": ["disk"]}).status_code == 400
    assert people.owner.post(page, values).status_code == 302
    html = people.owner.get(page).content.decode()
    assert html.count(" checked") == 2
    assert "me@acme.example" not in people.teammate.get(page).content.decode()
    assert people.stranger.get(page).status_code == 404
    Subscription.objects.filter(project=project.project).update(confirmed_email="me@acme.example")
    assert "The mail server accepted it." in people.owner.post(page, {"test": "1"}).content.decode()
    caches["default"].clear()  # another process has nothing in its memory
    assert "Wait a minute" in people.owner.post(page, {"test": "1"}).content.decode()
    assert [letter["To"] for letter in mailbox.mail] == ["me@acme.example"]
    settings_of(email_url="")
    html = people.owner.get(page).content.decode()
    assert "EMAIL_URL" in html
    assert "Send me a digest" not in html


def test_sections_without_anything_to_say_are_left_out(make_project):
    project, now = make_project().project, timezone.now()
    assert [load(project, now - timedelta(days=7), now) for _, load in digest._sections] == [None] * 4
