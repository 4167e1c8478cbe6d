"""The scores of an answer. Only outcomes and questions are made up."""

import json

import pytest

from assistant.answering.record import Outcome
from assistant.improving.golden_questions.judge import Verdict
from assistant.improving.golden_questions.scoring import Row, normalize, score
from assistant.models import GoldenQuestion
from assistant.spending.prices import Charge
from assistant.wire.events import Source, Text
from docsite.core.tenants.models import Project

PROJECT = Project(domain="acme", docs_url="https://docs.acme.example/docs")
INSTALL = Source(1, "https://docs.acme.example/docs/install.html", "Install")


def row(
    text: str, *sources: Source, verdict: Verdict | None = None, state: str = "done", fact: str = "", **line: list[str]
) -> Row:
    outcome = Outcome(state=state, rung="extractive", sources=list(sources), charge=Charge(12))
    outcome.add(Text(text))
    question = GoldenQuestion(project=PROJECT, text="How?", paths=line.get("pages", []), fact=fact)
    return score(question, PROJECT, outcome, 0.5, verdict)


def test_the_fact_must_be_told_and_the_pages_cited():
    scored = row("Run `pip install acme`.", INSTALL, fact="Pip  install", pages=["/install"])
    assert (scored.right, scored.fact, scored.page, scored.missed) == (True, True, True, [])
    assert (scored.cited, scored.words, scored.tokens, scored.seconds) == (["/install"], 4, 12, 0.5)


RIGHT, WRONG, NONE = Verdict("right", "Yes."), Verdict("wrong", "No."), Verdict("", "it failed")


@pytest.mark.parametrize(
    ("sources", "expected", "verdict", "right", "fact", "page", "missed"),
    [
        ([INSTALL], {"fact": "conda", "pages": ["/install"]}, None, False, False, True, ["misses “conda”"]),
        ([INSTALL], {"fact": "pip", "pages": ["/setup"]}, None, False, True, False, ["cites /install"]),
        ([INSTALL], {"pages": ["/install", "/setup"]}, None, False, None, False, ["cites /install"]),
        ([INSTALL], {"pages": ["/install"]}, None, True, None, True, []),
        ([INSTALL], {"fact": "pip"}, None, True, True, None, []),
        ([], {"fact": "pip"}, None, False, False, None, ["wrongly refused"]),
        ([], {"pages": ["/install"]}, None, False, None, False, ["wrongly refused"]),
        ([], {}, None, True, None, None, []),
        ([INSTALL], {}, None, False, None, None, ["should be refused"]),
        ([INSTALL], {"fact": "conda"}, RIGHT, True, True, None, []),
        ([INSTALL], {"fact": "pip"}, WRONG, False, False, None, ["wrong: No."]),
        ([INSTALL], {"pages": ["/install"]}, WRONG, False, None, True, ["wrong: No."]),
        ([INSTALL], {"fact": "pip"}, NONE, True, True, None, ["not judged: it failed"]),
        ([INSTALL], {}, Verdict("refused", "It says so."), True, None, None, []),
        ([INSTALL], {}, RIGHT, False, None, None, ["should be refused", "right: Yes."]),
    ],
)
def test_pages_fact_verdict_and_refusal_decide(sources, expected, verdict, right, fact, page, missed):
    scored = row("Use pip.", *sources, verdict=verdict, **expected)
    assert (scored.right, scored.fact, scored.page, scored.missed) == (right, fact, page, missed)
    assert scored.refused == (not sources)


def test_an_answer_that_broke_off_is_wrong_even_where_a_refusal_is_right():
    scored = row("", state="error")
    assert (scored.right, scored.failed, scored.refused) == (False, True, False)


@pytest.mark.parametrize("see_also", ["See also:", "Siehe auch:", "関連ページ:"])
def test_the_list_of_further_pages_is_no_part_of_the_answer(see_also):
    text = f"Run it.\n\n{see_also}\n\n- [Pip](https://docs.acme.example/pip)"
    scored = row(text, INSTALL, fact="pip")
    assert (scored.right, scored.words, scored.text) == (False, 2, text)


def test_a_fact_is_compared_as_a_reader_sees_the_text():
    text = "**Use**\n`Pip`’s “cache” [1](https://x.example/secret_(a)#b) \\[x\\]"
    assert normalize(text) == 'use pip\'s "cache" [1] [x]'


def test_rows_are_read_again_even_from_another_version():
    scored = row("x", INSTALL, pages=["/install"])
    assert Row.from_json(json.loads(json.dumps(scored.to_json())) | {"new": 1}) == scored
