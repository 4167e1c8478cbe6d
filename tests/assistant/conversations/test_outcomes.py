"""What became of an answer, in one word."""

from typing import get_args

import pytest

from assistant.answering.record import CutBy, Kind, Outcome
from assistant.conversations import outcomes
from assistant.models import Message
from assistant.wire.events import Source

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


def test_the_rate_is_that_of_the_questions_that_wanted_an_answer():
    assert outcomes.measure_rate({"answered": 3, "refused": 2, "cut": 1, "greeting": 9, "running": 9}) == 0.5
    assert outcomes.measure_rate({"greeting": 1}) is None


def test_quotes_are_answers_and_nearest_pages_are_a_refusal():
    assert Outcome("done", rung="extractive", sources=CITED).kind == "answered"
    assert Outcome("done", rung="nearest_pages").kind == "refused"
    assert Outcome("interrupted", rung="model", sources=CITED).kind == "cut"
