"""People are told once about each problem, and once that it is over. Each chooses what, and ends it by a link."""

import shutil
from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth import get_user_model
from django.db import transaction
from django.test import Client
from django.utils import timezone

from assistant.models import TokenUse
from docsite.core.delivery import webhooks
from docsite.core.delivery.models import Delivery, Webhook
from docsite.core.notifications import alerts, background, topics
from docsite.core.notifications.models import Alert, Subscription
from docsite.core.tenants.models import ApiKey
from search.models import Source
from tests.assistant.improving.gaps.conftest import skip_earlier, store_answer
from tests.conftest import wait_for
from tests.docsite.core.delivery.test_events import read_documented
from tests.docsite.core.notifications.conftest import SERVICE, unsubscribe_path

ALL = ("source", "budget", "answered", "model", "key")
LATER = alerts.QUIET + timedelta(seconds=1)


@pytest.fixture(autouse=True)
def _forget_earlier() -> None:
    """Let nobody hear of the projects of other tests: each of them would be checked."""
    Subscription.objects.exclude(topics="").update(topics="")
    Webhook.objects.exclude(events="").update(events="")
    Alert.objects.filter(cleared_at=None).update(cleared_at=timezone.now())


def fail(project, name="docs"):
    facts = {"location": "https://docs.acme.example", "state": "failed", "error": "Ask ada@reader.example."}
    return Source.objects.create(project=project, name=name, **facts)


def mend(source):
    Source.objects.filter(pk=source.pk).update(state="done", error="")


def subjects(letters):
    return [letter["Subject"].partition("] ")[2] for letter in letters]


def test_a_problem_is_told_once_and_its_end_once(make_project, subscribe, letters):
    project = make_project().project
    person = subscribe(project, "source")
    source = fail(project)
    for _ in range(3):
        alerts.check_all()
    (letter,) = letters(person)
    assert letter["Subject"] == f"[{project.name}] The source docs could not be read"
    text, html = (part.get_content() for part in letter.iter_parts())
    for body in (text, html):
        assert "Ask [e-mail]." in body
        assert f"{SERVICE}/admin/search/source/{source.pk}/change/" in body
        assert f"{SERVICE}/admin/project/{project.domain}/notifications" in body
    mend(source)
    alerts.check_all()
    assert len(letters(person)) == 1, "it may come back at once"
    with time_machine.travel(timezone.now() + LATER):
        for _ in range(3):
            alerts.check_all()
        assert subjects(letters(person)) == [
            "The source docs could not be read",
            "Over: The source docs could not be read",
        ]
        fail_again = Source.objects.filter(pk=source.pk)
        fail_again.update(state="failed", error="Gone.")
        alerts.check_all()
        assert len(letters(person)) == 3, "a new problem"


def test_two_processes_that_find_a_problem_at_once_tell_it_once(make_project, subscribe, letters, monkeypatch):
    project = make_project().project
    person = subscribe(project, "source")
    fail(project)
    monkeypatch.setattr(alerts, "_list_open", lambda topic, project: [])  # each looked before the other stored
    alerts.check_all()
    alerts.check_all()
    assert len(letters(person)) == 1


def test_a_problem_that_comes_and_goes_is_one(make_project, subscribe, letters):
    project = make_project().project
    person = subscribe(project, "source")
    source = fail(project)
    begin = timezone.now()
    for minute in range(0, 30, 5):
        with time_machine.travel(begin + timedelta(minutes=minute)):
            alerts.check_all()
            Source.objects.filter(pk=source.pk).update(
                **({"error": "", "state": "done"} if minute % 2 else {"error": "Gone.", "state": "failed"})
            )
    assert len(letters(person)) == 1


def test_a_source_that_is_read_again_is_not_over(make_project, subscribe):
    project = make_project().project
    subscribe(project, *ALL)
    source = fail(project)
    alerts.check_all()
    Source.objects.filter(pk=source.pk).update(state="running")
    alerts.check_all()
    assert Alert.objects.get(project=project).absent_since is None


def test_each_gets_what_they_chose_and_may_have(make_project, subscribe, letters):
    project, other = make_project().project, make_project().project
    reader = subscribe(project, "source", "key", name="viewer", role="viewer")
    owner = subscribe(project, "key")
    former = subscribe(project, *ALL, name="former", role="")
    unseen = subscribe(project, *ALL, name="unseen", last_login=timezone.now() - topics.GROUP_ROLE_LIFETIME)
    seen = subscribe(project, *ALL, name="seen", last_login=timezone.now())
    project.organization.memberships.filter(user__in=[unseen.user, seen.user]).update(is_from_groups=True)
    stranger = subscribe(other, *ALL, name="stranger")
    fail(project)
    ApiKey.objects.filter(project=project).update(expires_at=timezone.now() + timedelta(days=3))
    alerts.check_all()
    assert subjects(letters(reader)) == ["The source docs could not be read"]
    assert [subject.startswith("The key") for subject in subjects(letters(owner))] == [True]
    assert letters(former) == letters(stranger) == letters(unseen) == []
    assert len(letters(seen)) == 2
    assert not Delivery.objects.filter(project=project).exclude(state="delivered").exists()


def test_the_link_in_an_e_mail_ends_a_topic_without_a_log_in(make_project, subscribe, letters):
    project = make_project().project
    person = subscribe(project, "source", "key")
    fail(project)
    alerts.check_all()
    (letter,) = letters(person)
    assert letter["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    path = unsubscribe_path(letter)
    browser = Client(enforce_csrf_checks=True)
    shown = browser.get(path)
    assert "A source could not be read" in shown.content.decode()
    assert shown["Referrer-Policy"] == "no-referrer"
    person.refresh_from_db()
    assert person.topics == "source key", "scanners open links"
    assert browser.post(path, {"List-Unsubscribe": "One-Click"}).status_code == 200
    person.refresh_from_db()
    assert person.topics == "key"
    assert "any more" in browser.get(path).content.decode()
    fail(project, "blog")
    alerts.check_all()
    assert len(letters(person)) == 1
    assert browser.get(path[:-3]).status_code == 404


def test_what_is_unsubscribed_while_it_waits_is_not_sent(make_project, subscribe, letters):
    project = make_project().project
    person = subscribe(project, "source")
    fail(project)
    alerts.check_all()
    Subscription.objects.filter(pk=person.pk).update(topics="")
    assert letters(person) == []
    assert not Delivery.objects.filter(project=project).exists(), "doctor and metrics count no failure"


def test_an_e_mail_of_a_topic_that_is_gone_is_not_sent(make_project, subscribe, letters, monkeypatch):
    project = make_project().project
    person = subscribe(project, "source")
    fail(project)
    alerts.check_all()
    (letter,) = letters(person)
    fail(project, "blog")
    alerts.check_all()
    monkeypatch.delitem(topics._topics, "source")
    assert letters(person) == [letter]
    assert Client().get(unsubscribe_path(letter)).status_code == 200


@pytest.mark.parametrize(
    ("used", "percents", "expected"),
    [
        (790, [], []),
        (800, [80], ["The daily token limit is used to 80 %"]),
        (1000, [100], ["The daily token limit is used up"]),
    ],
)
def test_budgets_tell_at_80_and_100_percent(
    make_project, subscribe, letters, settings_of, receiver, used, percents, expected
):
    settings_of(daily_tokens_per_project=1000, webhook_private_hosts=(f"127.0.0.1:{receiver.port}",))
    project = make_project().project
    webhook, _ = webhooks.build(project, receiver.url)
    webhook.events = "budget.reached"
    webhook.save()
    person = subscribe(project, "budget")
    TokenUse.objects.create(project=project, day=timezone.now().date(), tokens=used)
    alerts.check_all()
    settings_of(email_url="smtp://127.0.0.1")
    assert subjects(letters(person)) == expected
    assert [event["data"]["percent"] for event in receiver.events] == percents
    if receiver.events:
        assert list(receiver.events[0]["data"]) == read_documented()["budget.reached"]


def test_a_key_that_expires_is_an_event(make_project, settings_of, receiver, send_all):
    tenant = make_project()
    webhook, _ = webhooks.build(tenant.project, receiver.url)
    webhook.events = "key.expiring"
    webhook.save()
    keys = ApiKey.objects.filter(organization=tenant.project.organization)
    keys.filter(kind="admin").update(name="Export", expires_at=timezone.now() + timedelta(days=6))
    keys.filter(kind="assistant").update(expires_at=timezone.now() + timedelta(days=8))
    alerts.check_all()
    alerts.check_all()
    send_all()
    (event,) = receiver.events
    assert list(event["data"]) == read_documented()["key.expiring"]
    assert (event["data"]["keyName"], event["data"]["kind"]) == ("Export", "admin")
    assert not {tenant.admin_key, tenant.assistant_key, keys.first().digest} & set(str(event).split("'"))


def test_a_budget_that_refuses_a_question_is_used_up(make_project, subscribe, settings_of):
    settings_of(daily_tokens_per_project=1000)
    project = make_project().project
    subscribe(project, *ALL)
    TokenUse.objects.create(project=project, day=timezone.now().date(), tokens=900)
    store_answer(project, "How?", reason="the project's daily token limit is reached")
    alerts.check_all()
    causes = set(Alert.objects.filter(project=project).values_list("title", flat=True))
    assert "The daily token limit is used up" in causes


def test_a_model_that_fails_three_times_is_told_until_it_answers(make_project, subscribe, settings_of):
    settings_of(openai_base_url="http://127.0.0.1:9/v1", openai_model="fake")
    project = make_project().project
    subscribe(project, *ALL)
    steps = [{"rung": "model", "reason": ""}, {"rung": "extractive", "reason": "no connection"}]
    for _ in range(2):
        store_answer(project, "How?", "answered", steps=steps, reason="no connection")
    alerts.check_all()
    opened = Alert.objects.filter(project=project, topic="model")
    assert not opened.exists()
    store_answer(project, "How?", "answered", steps=steps, reason="no connection")
    alerts.check_all()
    assert "no connection" in opened.get().text
    store_answer(project, "How?", "answered", steps=steps[:1], rung="model")
    alerts.check_all()
    assert opened.get().absent_since


def test_a_limit_is_no_failure_of_the_model(make_project, subscribe, settings_of):
    settings_of(openai_base_url="http://127.0.0.1:9/v1", openai_model="fake")
    project = make_project().project
    subscribe(project, *ALL)
    for _ in range(4):
        reason = "the project's daily token limit is reached"
        store_answer(project, "How?", "answered", steps=[{"rung": "model", "reason": ""}], reason=reason)
    alerts.check_all()
    assert not Alert.objects.filter(project=project, topic="model").exists()


@pytest.mark.slow
def test_an_answered_rate_that_falls_is_told(make_project, subscribe):
    from assistant.models import GroupedQuestion

    project = make_project().project
    subscribe(project, *ALL)
    skip_earlier()
    now = timezone.now()

    def ask(number, outcome, days):
        for _ in range(number):
            with transaction.atomic():  # else a service of other tests may group it
                answer = store_answer(project, f"Question {outcome} {days}", outcome)
                at = now - timedelta(days=days)
                GroupedQuestion.objects.create(project=project, at=at, outcome=outcome, answer=answer)

    ask(45, "answered", 10)
    ask(5, "refused", 10)
    ask(14, "answered", 1)
    alerts.check_all()
    assert not Alert.objects.filter(project=project).exists(), "few questions say little"
    ask(6, "refused", 1)
    alerts.check_all()
    assert Alert.objects.get(project=project).title == "The answered rate fell from 90% to 70%"


def test_a_full_disk_is_told_to_superusers_once(make_project, subscribe, letters, monkeypatch):
    Alert.objects.filter(topic="disk").delete()
    projects = [make_project().project for _ in range(2)]
    owner = subscribe(projects[0], "disk")
    admin, _ = get_user_model().objects.get_or_create(
        username="disk admin", defaults={"is_staff": True, "is_superuser": True}
    )
    boxes = [
        Subscription.objects.create(
            project=one, user=admin, email=address, confirmed_email=address, topics="disk", service_url=SERVICE
        )
        for one, address in ((project, f"root-{project.domain}@acme.example") for project in projects)
    ]
    full = shutil._ntuple_diskusage(100 * 1024**3, 99 * 1024**3, 1024**3)  # type: ignore[attr-defined]
    monkeypatch.setattr(shutil, "disk_usage", lambda path: full)
    alerts.check_all()
    alerts.check_all()
    assert [len(letters(box)) for box in (owner, *boxes)] == [0, 1, 0]
    Alert.objects.filter(topic="disk").delete()


def test_a_project_that_nobody_hears_of_costs_nothing(make_project, subscribe, monkeypatch):
    project = make_project().project
    seen = []
    monkeypatch.setattr(alerts, "_checks", {"source": lambda project, causes: seen.append(project) or ()})
    alerts.check_all()
    assert project not in seen
    subscribe(project, "digest")
    alerts.check_all()
    assert project in seen


def test_a_check_that_fails_does_not_hide_the_others(make_project, subscribe, monkeypatch, caplog):
    project = make_project().project
    subscribe(project, *ALL)
    fail(project)
    monkeypatch.setitem(alerts._checks, "key", lambda project, causes: 1 / 0)
    alerts.check_all()
    assert Alert.objects.filter(project=project, topic="source").exists()
    assert "could not be checked" in caplog.text


def test_what_waits_for_a_mail_server_is_not_sent_after_a_month(make_project, subscribe):
    project = make_project().project
    subscribe(project, "source")
    fail(project)
    alerts.check_all()
    with time_machine.travel(timezone.now() + timedelta(days=29)):
        background.sweep()
        assert Delivery.objects.filter(project=project).count() == 1
    with time_machine.travel(timezone.now() + timedelta(days=31)):
        background.sweep()
        assert not Delivery.objects.filter(project=project).exists()
        assert Alert.objects.filter(project=project).exists(), "it is still open"


def test_the_thread_goes_on_after_an_error_and_stops(monkeypatch, caplog):
    calls = []

    def claim(*arguments, **options):
        calls.append(1)
        raise ValueError("broken")

    watcher = background._Watcher()
    watcher.seconds = watcher.retry_seconds = 0.01
    monkeypatch.setattr(background.routines, "claim", claim)
    watcher.start()
    wait_for(lambda: len(calls) > 2, "the thread to try again")
    watcher.stop()
    assert "failed" in caplog.text
    assert watcher._thread is None
