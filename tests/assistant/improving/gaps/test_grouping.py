"""Questions of the same meaning are in one group, each once, with the reason why it is perhaps a gap."""

import gc
from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction
from django.utils import timezone

from tests.assistant.improving.gaps.conftest import AddAnswer, skip_earlier
from tests.conftest import Tenant


def rows(project: Tenant) -> list[tuple[str, str | None]]:
    """The group (by its terms) and the problem of each row, oldest first."""
    from assistant.improving.question_groups import grouping
    from assistant.models import GroupedQuestion

    assert grouping.catch_up()
    found = GroupedQuestion.objects.filter(project=project.project).order_by("pk").select_related("group")
    return [((row.group.terms.strip() if row.group else ""), row.problem) for row in found]


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("How do I rotate my API keys?", "rotating an API key", True),
        ("How do I rotate an API key?", "How do I delete an API key?", False),
        ("Wie lösche ich mein Konto?", "Konto löschen", True),
        ("delete my account", "Can I delete my account for ever?", True),
        ("useChat", "how to use useChat?", True),
        ("", "???", False),
    ],
)
def test_words_decide_about_groups(first: str, second: str, same: bool) -> None:
    """Function words and endings do not matter, another verb does."""
    from assistant.improving.question_groups.wording import MIN_LIKENESS, likeness, terms_of

    assert (likeness(terms_of(first), terms_of(second)) >= MIN_LIKENESS) is same


@pytest.mark.slow
@pytest.mark.parametrize("batch", [3, 200])
def test_each_answer_is_grouped_once(
    project: Tenant, add_answer: AddAnswer, monkeypatch: pytest.MonkeyPatch, batch: int
) -> None:
    """One that still runs is grouped when it has ended. Those after it do not wait, in any number of steps."""
    from assistant.improving.question_groups import grouping
    from assistant.models import Message

    monkeypatch.setattr(grouping, "BATCH", batch)

    running = add_answer("How do I print labels in colour?", "running")
    add_answer("How can I rotate keys?")
    add_answer("Rotating my keys", "answered")
    add_answer("Hello", "greeting")
    grouped = [("key rotat", "refused"), ("key rotat", None), ("", None)]
    assert rows(project) == grouped
    assert rows(project) == grouped
    Message.objects.filter(pk=running.pk).update(state="done", outcome="unsupported")
    assert rows(project) == [*grouped, ("colour label print", "unsupported")]


def test_grouped_answers_leave_memory_at_once(project: Tenant, add_answer: AddAnswer) -> None:
    """Without the garbage collector, which the service runs rarely."""
    from assistant.improving.question_groups import grouping
    from assistant.models import GroupedQuestion, Message

    skip_earlier()
    add_answer("How can I rotate keys?")
    gc.collect()
    gc.disable()
    try:
        assert grouping.catch_up()
        assert [type(each) for each in gc.get_objects() if isinstance(each, Message | GroupedQuestion)] == []
    finally:
        gc.enable()


def test_a_reader_who_stops_a_cited_answer_has_no_gap(project: Tenant, add_answer: AddAnswer) -> None:
    """One who stops an answer without a source has, and so has one whose answer a time limit cuts."""
    add_answer("first", "cut", cut_by="reader", sources=[{"title": "a", "url": "https://docs.acme.example/a"}])
    add_answer("second", "cut", cut_by="reader")
    add_answer("third", "cut", cut_by="time_limit")
    add_answer("fourth", "failed")
    assert [problem for _, problem in rows(project)] == [None, "cut", "cut", "failed"]


def test_searches_are_grouped_after_an_hour(project: Tenant) -> None:
    """By then no click can follow. Programs never click."""
    from search.models import SearchQuery

    skip_earlier()
    old = timezone.now() - timedelta(hours=2)
    for text, count, more in (
        ("rotate keys", 0, {}),
        ("labels", 3, {}),
        ("clicked", 3, {"clicked_path": "/install"}),
        ("by a program", 3, {"caller_kind": "api"}),
        ("recent", 0, {"at": timezone.now()}),
    ):
        SearchQuery.objects.create(project=project.project, **{"at": old, "text": text, "result_count": count, **more})
    assert rows(project) == [("key rotat", "no_result"), ("label", "no_click")]


def test_thumbs_arrive_before_and_after_the_grouping(project: Tenant, add_answer: AddAnswer) -> None:
    """A thumb down is a gap, although the answer cites a page. A withdrawn thumb is none."""
    from analytics.feedback.schemas import FeedbackIn
    from analytics.feedback.store import record

    def rate(answer: Any, **thumb: Any) -> None:
        record(project.project, FeedbackIn(source="thumbs_only", path="/", messageId=answer.message_id, **thumb))

    with transaction.atomic():  # a service of another test that groups an answer takes its thumb a moment later
        early, late = add_answer("early", "answered"), add_answer("late", "answered")
        rate(early, helpful=False)
        assert [problem for _, problem in rows(project)] == ["disliked", None]
    rate(late, helpful=False)
    assert [problem for _, problem in rows(project)] == ["disliked", "disliked"]
    rate(late, helpful=True)
    assert [problem for _, problem in rows(project)] == ["disliked", None]


def test_a_group_is_called_by_its_latest_question(project: Tenant, add_answer: AddAnswer) -> None:
    """Its name is empty where no question is left."""
    from assistant.models import QuestionGroup

    for text in ("How do I rotate keys?", "Rotating keys"):
        add_answer(text)
    rows(project)
    group = QuestionGroup.objects.get(project=project.project)
    assert group.find_latest_wording() == "Rotating keys"
    group.questions.all().delete()
    assert group.find_latest_wording() == ""


def test_rows_go_with_their_conversation(project: Tenant, add_answer: AddAnswer) -> None:
    """So does a group that nobody has worked on. One that was deleted elsewhere is found anew."""
    from assistant.improving.question_groups import grouping
    from assistant.models import QuestionGroup

    answer = add_answer("How do I rotate keys?")
    assert len(rows(project)) == 1
    answer.thread.delete()
    assert rows(project) == []
    grouping.sweep()
    assert not QuestionGroup.objects.filter(project=project.project).exists()
    add_answer("Rotate keys")
    assert rows(project) == [("key rotat", "refused")]
