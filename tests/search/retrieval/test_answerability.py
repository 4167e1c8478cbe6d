"""How alike a question and a passage are. The chance itself is tested in `test_find.py`."""

from math import log

import pytest

from search.hits import Hit
from search.retrieval.answerability import FEATURES, compute_features
from search.retrieval.parsing import parse
from search.text import analysis
from search.text.vocabulary import Vocabulary

TEXT = "Zebras eat grass. A zebra sleeps, and standing zebras sleep well."


def describe(question: str, text: str = TEXT, **fields: str) -> dict[str, float]:
    known = Vocabulary()
    known.add([(set(analysis.terms(TEXT)), set(analysis.words(TEXT.lower())))])
    hit = Hit("/a", "", "Animals", "Animals", ("Animals",), "", "", 0.5, text=text, **fields)
    return dict(zip(FEATURES, compute_features(parse(f"{question} ", known), [hit]), strict=True))


def test_the_sentence_most_like_the_question_counts():
    found = describe("do zebras sleep standing?")
    assert found["alike"] == pytest.approx(2 * 3 / (3 + 4)), "zebra, sleep, stand, well"
    assert found["side_by_side"] == pytest.approx(log(1 + 2)), "zebra sleep, sleep standing"
    assert found["whole"] == found["short"] > 0
    assert describe("do zebras eat hay?")["whole"] == 0


@pytest.mark.parametrize(
    ("question", "lowest", "highest"),
    [
        ("do zebras eat grass?", 0, 0),
        ("do zebras eat bread?", 0.1, 0.4),
        ("do zebras eat with laravel?", 1, 1),
        ("do subgrasses sleep?", 0, 0.6),
        ("do zebras reconnect?", 0, 0.5),
    ],
)
def test_a_name_that_no_page_has_is_rarer_than_a_word_of_everyday_language(question, lowest, highest):
    assert lowest <= describe(question)["unknown"] <= highest


def test_a_passage_is_read_for_each_question_and_language():
    before = describe("do zebras eat?")
    assert describe("does grass sleep?") != before
    assert describe("do zebras eat?", language="es") != before, "another stemmer, other stop words"
    assert describe("do zebras eat?", "Zebras.")["alike"] < before["alike"]
    assert describe("do zebras eat?") == before
