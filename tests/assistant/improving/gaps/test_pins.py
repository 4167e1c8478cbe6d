"""Readers get a pinned answer to every question of its group. The service asks fixed questions again."""

import gc
from contextlib import suppress
from datetime import timedelta
from typing import Any

import aiohttp
import httpx
import pytest
import time_machine
from django.utils import timezone

from tests.assistant.improving.gaps.conftest import AddAnswer, ask_fixed
from tests.conftest import PATIENCE, Service, Tenant, Upstream, question, wait_for

TEXT = "Keys are rotated **under Keys**. See [the forum](https://forum.example/keys) <script>alert(1)</script>"


@pytest.fixture
def group(project: Tenant, add_answer: AddAnswer) -> Any:
    """The group of a question that was refused."""
    from assistant.improving.question_groups import grouping
    from assistant.models import QuestionGroup

    add_answer("How do I rotate keys?")
    grouping.catch_up()
    return QuestionGroup.objects.get(project=project.project)


def pin(group: Any, path: str = "/configure", anchor: str = "environment") -> Any:
    """Pin an answer to the questions of a group."""
    from assistant.models import PinnedAnswer

    return PinnedAnswer.objects.create(project=group.project, group=group, text=TEXT, path=path, anchor=anchor)


def test_a_pin_answers_the_questions_of_its_group(project: Tenant, group: Any) -> None:
    """Verbatim with its citation, but HTML stays text. Other questions, and a page that is gone, are not concerned."""
    from assistant.improving.gaps import asking_again

    before = asking_again.ask(project.project, "Rotating keys")
    assert before.kind != "answered"
    own = pin(group)
    outcome = asking_again.ask(project.project, "Rotating keys")
    assert outcome.kind == "answered"
    assert "rotated **under Keys**. See [the forum](https://forum.example/keys)" in outcome.text
    assert "\\<script>" in outcome.text
    assert "[1](https://docs.acme.example/configure#environment)" in outcome.text
    assert [source.title for source in outcome.sources] == ["Configuring acme"]
    assert "under Keys" not in asking_again.ask(project.project, "How do I install acme?").text
    own.path = "/gone"
    own.save()
    assert asking_again.ask(project.project, "Rotating keys").text == before.text


@pytest.mark.parametrize("rung", ["extractive", "model"])
def test_readers_get_the_pin(
    request: pytest.FixtureRequest, http: httpx.Client, project: Tenant, group: Any, rung: str
) -> None:
    """With and without a model."""
    pin(group)
    service: Service = request.getfixturevalue("model_service" if rung == "model" else "service")
    response = http.post(
        f"{service.url}/discovery/v1/assistant/{project.domain}/message",
        json=question("rotate the keys"),
        headers=project.assistant,
        timeout=PATIENCE,
    )
    assert response.status_code == 200
    assert "under Keys" in response.text
    assert "docs.acme.example/configure" in response.text


@pytest.mark.slow
def test_what_is_fixed_is_asked_again_at_each_new_index(project: Tenant, group: Any) -> None:
    """Once for each generation of the index. `answered_since` stays while it is answered."""
    from search.indexing.ingest import reindex

    def ask() -> tuple[bool, str, Any]:
        before = group.asked_at
        ask_fixed(group)
        return group.asked_at != before, group.asked_outcome, group.answered_since

    assert ask() == (False, "", None)
    group.state, group.question = "fixed", "How do I rotate keys?"
    group.save()
    assert ask() == (True, "refused", None)
    assert ask() == (False, "refused", None)
    own = pin(group)
    reindex(project.project)
    asked, outcome, since = ask()
    assert (asked, outcome, group.asked_paths) == (True, "answered", ["/configure"])
    assert since is not None
    reindex(project.project)
    assert ask() == (True, "answered", since)
    own.delete()
    reindex(project.project)
    assert ask() == (True, "refused", None)


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("happens", "seconds", "asked"),
    [
        ("the process is killed", 0, []),
        ("the process is killed", 601, ["How do I rotate keys?"]),
        ("the owner words it anew", 0, ["And tokens?"]),
    ],
)
def test_what_was_not_asked_to_the_end_is_asked_again(
    monkeypatch: pytest.MonkeyPatch, project: Tenant, group: Any, happens: str, seconds: int, asked: list[str]
) -> None:
    """After the lease if nobody ended it."""

    from assistant.improving.gaps import asking_again
    from assistant.improving.gaps.actions import Actor

    # Services of other tests ask what is due, too, but for what is leased to a process that never was.
    begin = timezone.now() + timedelta(seconds=60)
    held = {"holder": "nobody else", "leased_until": begin}
    type(group).objects.filter(pk=group.pk).update(state="fixed", question="How do I rotate keys?", **held)
    questions: list[str] = []
    answer = asking_again.ask

    def interrupt(asked_project: Any, text: str, **options: Any) -> Any:
        if asked_project == project.project and happens == "the process is killed":
            raise Killed
        if asked_project == project.project:
            Actor("owner", group).mark_fixed("And tokens?")
        return answer(asked_project, text, **options)

    def ask(asked_project: Any, text: str, **options: Any) -> Any:
        if asked_project == project.project:
            questions.append(text)
        return answer(asked_project, text, **options)

    monkeypatch.setattr(asking_again, "ask", interrupt)
    with suppress(Killed), time_machine.travel(begin):
        asking_again.ask_due()
    monkeypatch.setattr(asking_again, "ask", ask)
    with time_machine.travel(begin + timedelta(seconds=seconds)):
        asking_again.ask_due()
    assert questions in (asked, []), "none if a service was faster"

    def has_outcome() -> bool:
        group.refresh_from_db()
        return bool(group.asked_outcome)

    if asked:
        wait_for(has_outcome, "the outcome, which a service may find")
    assert has_outcome() == bool(asked)


def test_a_model_is_asked_and_its_connection_closed(
    monkeypatch: pytest.MonkeyPatch, project: Tenant, upstream: Upstream
) -> None:
    """Each question has an event loop of its own, whose connections would stay in memory with it."""
    from assistant.improving.gaps import asking_again
    from assistant.upstream import Model, model_choice
    from assistant.upstream.relay import ModelChain

    model = Model(f"{upstream.url}/v1", "fake-1", "sk-secret")
    monkeypatch.setattr(model_choice, "choose_models", lambda *of: ModelChain((model,)))

    def count_open() -> int:
        return sum(type(thing) is aiohttp.ClientSession and not thing.closed for thing in gc.get_objects())

    before = count_open()  # of other tests
    assert asking_again.ask(project.project, "How do I install acme?").rung == "model"
    assert count_open() == before
