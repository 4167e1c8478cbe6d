"""What became of an answer, in one word: for new answers, and for those that earlier releases stored."""

from importlib import import_module
from types import SimpleNamespace
from typing import get_args

import pytest
from django.apps import apps
from django.db import connection

from assistant.answering.record import CutBy, Kind, Outcome
from assistant.conversations import outcomes
from assistant.events import Source
from assistant.models import Message, Thread
from docsite.core.tenants.models import Organization, Project

CITED = [Source(1, "https://docs.acme.example/a", "A")]
REFUSED = "the model found no answer in the passages"
KINDS = {
    "running": Outcome(rung="model"),
    "answered": Outcome("done", rung="second_model", sources=CITED),
    "closest_passages": Outcome("done", rung="closest_passages", sources=CITED),
    "unsupported": Outcome("done", rung="model"),
    "refused": Outcome("done", rung="model", refused=True, reason=REFUSED),
    "greeting": Outcome("done", rung="extractive", is_greeting=True),
    "cut": Outcome("aborted", rung="model", sources=CITED, cut_by="reader"),
    "failed": Outcome("error", rung="model", sources=CITED),
}


def test_the_words_are_those_of_the_table():
    assert list(get_args(Kind)) == list(KINDS) == Message.Outcome.values
    assert list(get_args(CutBy)) == ["", *Message.CutBy.values]


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_has_one_outcome(kind):
    assert KINDS[kind].kind == kind


@pytest.mark.parametrize("kind", KINDS)
def test_an_answer_is_one_with_a_source_or_small_talk(kind):
    message = Message(outcome=kind, state=KINDS[kind].state, rung=KINDS[kind].rung)
    assert outcomes.is_answered(message) == (kind in ("answered", "greeting"))
    assert (kind in outcomes.UNANSWERED) == (kind not in ("answered", "greeting", "running"))
    message.outcome = None  # of an early release, that stored no outcome
    message.sources = [source.url for source in KINDS[kind].sources]
    assert outcomes.is_answered(message) == (kind == "answered")


def test_the_rate_is_that_of_the_questions_that_wanted_an_answer():
    assert outcomes.measure_rate({"answered": 3, "refused": 2, "cut": 1, "greeting": 9, "running": 9}) == 0.5
    assert outcomes.measure_rate({"greeting": 1}) is None


def test_quotes_are_answers_and_nearest_pages_are_a_refusal():
    assert Outcome("done", rung="extractive", sources=CITED).kind == "answered"
    assert Outcome("done", rung="nearest_pages").kind == "refused"
    assert Outcome("interrupted", rung="model", sources=CITED).kind == "cut"


def test_answers_of_earlier_releases_get_the_outcome_that_their_columns_tell():
    fill_old_rows()


def fill_old_rows() -> None:
    """Fill in the rows of earlier releases; for SQLite and PostgreSQL."""
    organization = Organization.objects.create(name="Old rows")
    project, other_project = (
        Project.objects.create(organization=organization, domain=f"old-{name}", name=name, docs_url="https://a.example")
        for name in ("one", "other")
    )
    outcomes = {**KINDS, "nearest": Outcome("done", rung="nearest_pages"), "stopped": Outcome("interrupted")}
    thread = Thread.objects.create(project=project, fp="reader-1")
    for kind, outcome in outcomes.items():
        Message.objects.create(
            thread=thread,
            role="assistant",
            content=kind,
            state=outcome.state,
            rung=outcome.rung,
            reason=outcome.reason,
            sources=[{"title": source.title, "url": source.url} for source in outcome.sources],
            hits=[] if kind == "greeting" else [{"path": "/a", "anchor": "", "score": 0.5}],
        )
    Message.objects.create(thread=thread, role="user", content="question")
    other = Thread.objects.create(project=other_project, fp="reader-1")
    Message.objects.create(thread=other, role="assistant", content="early", state="done")
    migration = import_module("assistant.migrations.0016_answer_facts_of_old_rows")
    migration.fill(apps, SimpleNamespace(connection=connection))
    rows = dict(Message.objects.filter(project=project).values_list("content", "outcome"))
    assert rows == {**{kind: kind for kind in KINDS}, "nearest": "refused", "stopped": "cut", "question": None}
    assert Message.objects.get(content="stopped").cut_by == "service"
    assert Message.objects.get(content="cut").cut_by is None
    assert list(Message.objects.filter(project=other_project).values_list("content", "outcome")) == [("early", None)]
