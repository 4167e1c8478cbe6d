"""The demo's invented readers: their answers are real, each row is marked, and nothing of them stays."""

from collections import Counter
from datetime import timedelta

import pytest
from django.utils import timezone

from analytics import sample_rows
from analytics.models import Feedback
from assistant.improving.gaps import report
from assistant.improving.question_groups import grouping
from assistant.models import GroupingProgress, Message, Thread
from docsite.extras.demo.sample import life
from docsite.extras.demo.sample import views as sample_views
from search.models import SearchQuery


@pytest.fixture
def sample(project):
    return life.create_sample(project.project)


def rows(project):
    """What the sample consists of, without times and ids."""
    return [
        list(Message.objects.filter(project=project).values_list("content", "outcome", "chance", "rung", "caller")),
        list(
            SearchQuery.objects.filter(project=project).order_by("pk").values_list("text", "result_count", "position")
        ),
        list(Feedback.objects.filter(project=project).order_by("pk").values_list("source", "helpful", "comment")),
    ]


@pytest.mark.slow
def test_every_row_is_marked_and_lies_in_the_last_months(project, sample):
    now = timezone.now()
    assert (sample.conversations, sample.searches) == (120, 400)
    threads = Thread.objects.filter(project=project.project)
    assert threads.count() == threads.filter(sample=True).count() == 120
    assert SearchQuery.objects.filter(project=project.project, sample=True).count() == 400
    assert Feedback.objects.filter(project=project.project, sample=False).count() == 0
    for at in (*threads.values_list("created_at", flat=True), *threads.values_list("messages__created_at", flat=True)):
        assert now - timedelta(days=91) < at < now + timedelta(minutes=10)
    assert threads.order_by("created_at").first().created_at < now - timedelta(days=60)
    assert threads.order_by("created_at").last().created_at > now - timedelta(days=5)


@pytest.mark.matrix
def test_the_answers_are_those_of_the_service(project, sample):
    answers = Message.objects.filter(project=project.project, role="assistant")
    asked = {message.thread_id: message.content for message in reversed(Message.objects.filter(role="user"))}
    install = next(answer for answer in answers if asked[answer.thread_id] == "How do I install it?" and answer.sources)
    assert "pip install acme" in install.content
    assert install.hits[0]["path"] == "/install"
    assert {answer.outcome for answer in answers} >= {"answered", "refused", "greeting"}
    assert all(answer.total_ms is not None and answer.model == "" for answer in answers)
    assert answers.filter(language="de").exists()
    assert Thread.objects.filter(project=project.project, messages__content="And how do I change the port?").exists()


@pytest.mark.matrix
def test_the_first_open_gap_is_a_question_that_somebody_would_ask(project, sample):
    skip = GroupingProgress.objects.update_or_create
    skip(pk=1, defaults={"answer": Message.objects.filter(project=project.project).earliest("pk").pk - 1})
    assert grouping.catch_up()
    now = timezone.now()
    counts = report.count_gaps(project.project, now - timedelta(days=30), now, "open")
    first, *_ = report.describe(project.project, counts[:1], now - timedelta(days=30), now)
    assert len(first.text.split()) > 2


@pytest.mark.matrix
def test_two_runs_create_the_same(project, sample):
    first = rows(project.project)
    sample_rows.remove(project.project)
    life.create_sample(project.project)
    assert rows(project.project) == first


@pytest.mark.matrix
def test_nothing_of_readers_is_removed(project, sample):
    mine = project.project
    kept = Thread.objects.create(project=mine, fp="reader")
    SearchQuery.objects.create(project=mine, text="real", at=timezone.now())
    removed = sample_rows.remove(mine)
    assert (removed.conversations, removed.searches) == (120, 400)
    assert list(Thread.objects.filter(project=mine)) == [kept]
    assert SearchQuery.objects.get(project=mine).text == "real"
    assert not Feedback.objects.filter(project=mine).exists()
    assert not sample_rows.has_sample(mine)


@pytest.mark.matrix
def test_owners_are_told_and_remove_it_and_strangers_do_not(people, project, sample):
    home, page = f"/admin/project/{project.domain}", f"/admin/project/{project.domain}/sample"
    for client in (people.owner, people.teammate):
        assert f'<a href="{page}">Remove them</a>' in client.get(home).content.decode()
    assert "<dd>120</dd>" in people.owner.get(page).content.decode()
    assert people.stranger.get(page).status_code == 404
    assert people.stranger.post(page).status_code == 404
    assert sample_rows.has_sample(project.project)
    answer = people.teammate.post(page, follow=True)
    assert "120 conversations" in answer.content.decode()
    assert not sample_rows.has_sample(project.project)
    assert "Remove them" not in people.owner.get(home).content.decode()


def test_most_readers_of_the_sample_read_english():
    languages = Counter(sample_views._language_of(person)[:2] for person in range(700))
    shares = {language: round(100 * count / 700) for language, count in languages.items()}
    assert shares["en"] == 68
    assert shares["de"] == 11
    assert shares["zh"] == 3
