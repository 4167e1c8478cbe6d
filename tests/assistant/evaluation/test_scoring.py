"""The scores of an answer. Only outcomes and questions are made up."""

import json
import re
import time

import pytest

from assistant.answering.record import Outcome
from assistant.evaluation.questions import parse_line
from assistant.evaluation.scoring import Row, normalize, score
from assistant.events import Source, Text
from assistant.prices import Charge
from docsite.core.tenants.models import Project

PROJECT = Project(domain="acme", docs_url="https://docs.acme.example/docs")
INSTALL = Source(1, "https://docs.acme.example/docs/install.html", "Install")


def row(text: str = "", *sources: Source, state: str = "done", **line: object) -> Row:
    outcome = Outcome(state=state, rung="extractive", sources=list(sources), charge=Charge(12))
    outcome.add(Text(text))
    return score(parse_line(json.dumps({"question": "How?", **line}).encode()), PROJECT, outcome, 0.5)


def test_every_pattern_must_be_found_and_one_page_cited():
    scored = row("Run `pip install acme`.", INSTALL, must=["pip install acme", "^run"], pages=["/no", "install"])
    assert (scored.right, scored.fact, scored.page, scored.missed) == (True, True, True, [])
    assert (scored.cited, scored.words, scored.tokens, scored.seconds) == (["/install"], 4, 12, 0.5)


def test_a_missing_fact_makes_an_answer_wrong_although_the_page_is_right():
    scored = row("Run it.", INSTALL, must=["pip", "run"], pages=["/install"])
    assert (scored.right, scored.fact, scored.page, scored.missed) == (False, False, True, ["misses “pip”"])


def test_a_fact_from_another_page_is_right_and_the_page_is_named():
    scored = row("Use pip.", INSTALL, must=["pip"], pages=["/setup"])
    assert (scored.right, scored.fact, scored.page, scored.missed) == (True, True, False, ["cites /install"])


def test_without_patterns_the_page_decides_and_without_both_nothing_does():
    assert row("x", INSTALL, pages=["/install"]).right is True
    assert row("x", INSTALL, pages=["/setup"]).right is False
    assert row("x", INSTALL).right is None


def test_an_answer_that_cites_nothing_is_refused():
    scored = row("Use pip.", must=["pip"])
    assert (scored.right, scored.refused, scored.fact, scored.missed) == (False, True, False, ["wrongly refused"])
    assert row("Sorry.", answerable=False).right is True
    answered = row("Use pip.", INSTALL, answerable=False)
    assert (answered.right, answered.missed) == (False, ["should be refused"])


def test_an_answer_that_broke_off_is_wrong_even_where_a_refusal_is_right():
    scored = row("", state="error", answerable=False)
    assert (scored.right, scored.failed, scored.refused) == (False, True, False)


@pytest.mark.parametrize("see_also", ["See also:", "Siehe auch:", "関連ページ:"])
def test_the_list_of_further_pages_is_no_part_of_the_answer(see_also):
    text = f"Run it.\n\n{see_also}\n\n- [Pip](https://docs.acme.example/pip)"
    scored = row(text, INSTALL, must=["pip"])
    assert (scored.right, scored.words, scored.text) == (False, 2, text)


def test_patterns_see_a_text_as_a_reader_does():
    text = "**Use**\n`Pip`’s “cache” [1](https://x.example/secret_(a)#b) \\[x\\]"
    assert normalize(text) == 'use pip\'s "cache" [1] [x]'


def test_a_pattern_that_takes_too_long_is_given_up(monkeypatch):
    monkeypatch.setattr("assistant.evaluation.scoring.PATTERN_SECONDS", 0.2)
    began = time.monotonic()
    scored = row("a" * 60 + "b", INSTALL, must=["(a+)+$", "b"])
    assert time.monotonic() - began < 5
    assert scored.missed == ["“(a+)+$” takes more than 0.2 s to search; write a simpler pattern"]
    assert re.search("b", "b")  # the time limit is over


def test_rows_are_read_again_even_from_another_version():
    scored = row("x", INSTALL, pages=["/install"])
    assert Row.from_json(json.loads(json.dumps(scored.to_json())) | {"new": 1}) == scored
