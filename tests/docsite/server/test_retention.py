"""How long a project's conversations, feedback, searches and single views are stored, as its owner sets it."""

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.contrib.sessions.models import Session
from django.utils import timezone

from analytics.counting import sealer, sweeper
from analytics.models import AnalyticsSettings, Feedback, PageView
from analytics.reports import visitor_counts
from assistant.conversations import chat_ids
from assistant.models import AssistantSettings, ChatId, Message, Thread
from docsite.core.sweeper import sweep_once
from docsite.server.lifecycle import list_sweeps
from search.models import SearchQuery, SearchSettings
from tests.analytics.counting.history import view
from tests.conftest import logged_in, set_analytics

DAYS = {"conversation_days": 30, "feedback_days": 20, "search_days": 10, "view_days": 5}


def days_ago(days: float) -> datetime:
    return timezone.now() - timedelta(days=days)


def ask(tenant, days: float, *, later: float | None = None) -> Thread:
    """A conversation that began so many days ago, with its last question `later`."""
    thread = Thread.objects.create(project=tenant.project, fp="reader")
    for at in (days, days if later is None else later):
        message = Message.objects.create(thread=thread, role="assistant", content="An answer")
        Message.objects.filter(pk=message.pk).update(created_at=days_ago(at))
    Thread.objects.filter(pk=thread.pk).update(created_at=days_ago(days))
    return thread


def give_feedback(tenant, days: float, **more) -> Feedback:
    return Feedback.objects.create(
        project=tenant.project, source="contextual", path="/", created_at=days_ago(days), **more
    )


def search(tenant, days: float) -> None:
    SearchQuery.objects.create(project=tenant.project, text=f"{days}", at=days_ago(days))


@pytest.mark.matrix
def test_the_owner_sets_every_number_on_the_page_of_the_project(project):
    owner = logged_in(f"owner-{project.project.pk}", project.project.organization)
    page = f"/admin/projects/project/{project.project.pk}/change/"
    form = owner.get(page).context["adminform"].form
    values = {name: value for name, value in form.initial.items() if value is not None and name in form.fields}
    assert set(DAYS) <= set(form.fields)
    wrong = owner.post(page, {**values, "allowed_origins": "", **dict.fromkeys(DAYS, 0)})
    assert set(wrong.context["adminform"].form.errors) == set(DAYS)
    assert owner.post(page, {**values, "allowed_origins": "", **DAYS}).status_code == 302
    shown = owner.get(page).context["adminform"].form.initial
    assert {name: shown[name] for name in DAYS} == DAYS
    assert AssistantSettings.objects.get(project=project.project).conversation_days == 30
    assert SearchSettings.objects.get(project=project.project).search_days == 10
    row = AnalyticsSettings.objects.get(project=project.project)
    assert (row.feedback_days, row.view_days) == (20, 5)
    assert "kept for 5 days" in owner.get(f"/admin/analytics/pageview/?project={project.domain}").content.decode()


def test_conversations_go_so_many_days_after_their_last_question_with_their_feedback(make_project):
    tenant, forever = make_project(), make_project()
    AssistantSettings.objects.create(project=tenant.project, conversation_days=30)
    old, alive, recent = ask(tenant, 31), ask(tenant, 31, later=29), ask(tenant, 29)
    kept = ask(forever, 3000)
    give_feedback(tenant, 1, message=old.messages.first())
    chat_ids.record_chat_id(old, "chat-1")
    sweep_once(list_sweeps())
    assert set(Thread.objects.filter(project=tenant.project)) == {alive, recent}
    assert not Feedback.objects.filter(project=tenant.project).exists()
    assert ChatId.objects.get(project=tenant.project).thread is None
    assert Thread.objects.filter(pk=kept.pk).exists(), "without a number they stay"


def test_feedback_and_searches_go_after_the_days_of_their_project(make_project):
    tenant, other = make_project(), make_project()
    set_analytics(tenant.project, feedback_days=20)
    SearchSettings.objects.create(project=tenant.project, search_days=10)
    for owner in (tenant, other):
        give_feedback(owner, 21)
        give_feedback(owner, 19)
        search(owner, 11)
        search(owner, 9)
        search(owner, 401)
    sweep_once(list_sweeps())
    assert [Feedback.objects.filter(project=owner.project).count() for owner in (tenant, other)] == [1, 2]
    assert sorted(row.text for row in tenant.project.searches.all()) == ["9"]
    assert sorted(row.text for row in other.project.searches.all()) == ["11", "9"], "SEARCH_RETENTION_DAYS holds"


def test_an_owner_may_keep_searches_longer_than_the_default(make_project, settings):
    tenant = make_project()
    settings.ENV = settings.ENV.model_copy(update={"search_retention_days": 30})
    SearchSettings.objects.create(project=tenant.project, search_days=100)
    search(tenant, 99)
    sweep_once(list_sweeps())
    assert tenant.project.searches.exists()


@pytest.mark.matrix
def test_single_views_go_after_the_days_of_their_project_and_the_counts_stay(make_project):
    from analytics.collecting import recording

    tenant, other, now = make_project(), make_project(), datetime.now(UTC)
    set_analytics(tenant.project, view_days=5)
    for owner in (tenant, other):
        for days, who in ((4, 1), (8, 2)):
            recording.record(owner.project, [view(now - timedelta(days=days), "/a", who, "human").observation])
    sealer.seal()
    received = int(now.timestamp()) // 3600 - 9 * 24
    PageView.objects.filter(project__in=[tenant.project, other.project]).update(received=received)
    sweeper.sweep(force=True)
    assert [PageView.objects.filter(project=owner.project).count() for owner in (tenant, other)] == [1, 2]
    whole = (now - timedelta(days=20), now)
    assert visitor_counts.count_visitors(tenant.project, *whole).totals["human"] == 2
    tenant.project.refresh_from_db()
    assert sweeper.first_kept_hour(tenant.project) - sweeper.first_kept_hour(other.project) == 25 * 24


@pytest.mark.parametrize(("own", "days"), [(None, 30), (5, 5), (300, 30)])
def test_a_project_keeps_single_views_no_longer_than_the_service(make_project, own, days):
    tenant = make_project()
    set_analytics(tenant.project, view_days=own)
    assert sweeper.kept_days(tenant.project) == days


def test_sessions_that_have_expired_are_deleted():
    rows = {
        name: Session.objects.create(session_key=name * 20, session_data="", expire_date=days_ago(days))
        for name, days in (("a", 1), ("b", -1))
    }
    sweep_once(list_sweeps())
    assert set(Session.objects.filter(pk__in=[row.pk for row in rows.values()])) == {rows["b"]}


def test_a_sweep_that_fails_does_not_stop_the_others(caplog):
    ran = []

    def fails() -> None:
        raise ValueError("what a reader wrote")

    sweep_once((fails, lambda: ran.append(1)))
    assert ran == [1]
    assert "Old data could not be deleted" in caplog.text


def test_a_chat_id_outlives_its_thread_by_a_few_days_only(make_project):
    tenant = make_project()
    first, second = (Thread.objects.create(project=tenant.project, fp="reader") for _ in range(2))
    chat_ids.record_chat_id(first, "chat-1")
    chat_ids.record_chat_id(second, "chat-1")
    row = ChatId.objects.get(project=tenant.project)
    assert (row.thread, row.is_shared) == (second, False)
    chat_ids.record_chat_id(Thread.objects.create(project=tenant.project, fp="stranger"), "chat-1")
    row.refresh_from_db()
    assert (row.thread, row.is_shared) == (second, True)
    with time_machine.travel(datetime.now(UTC) + timedelta(days=10)):
        chat_ids.sweep()
        row.refresh_from_db()  # its thread is there
        second.delete()
        chat_ids.record_chat_id(Thread.objects.create(project=tenant.project, fp="stranger"), "chat-1")
        chat_ids.sweep()
        assert ChatId.objects.get(project=tenant.project).thread is None
    with time_machine.travel(datetime.now(UTC) + timedelta(days=13)):
        chat_ids.sweep()
        assert not ChatId.objects.filter(project=tenant.project).exists()
