"""The measures against values worked out by hand; tables mark what misses its target."""

from math import log2

import pytest

from tests.bench.search import table
from tests.bench.search.measure import Answer, Figures
from tests.bench.summary import percentile
from tests.training import metrics
from tests.training.data import Query


def query(relevant: str = "/a", **more: object) -> Query:
    given = {"id": "q", "set": "s", "kind": "keyword", "text": "t", "filter": None, "variant": ""}
    return Query(relevant=dict.fromkeys(relevant.split(), 1), **{**given, **more})


@pytest.mark.parametrize(
    ("pages", "relevant", "value"),
    [
        ("/a /b", {"/a": 1}, 1),
        ("/b /a", {"/a": 1}, 1 / log2(3)),
        ("/a /x /b", {"/a": 1, "/b": 1}, (1 + 1 / 2) / (1 + 1 / log2(3))),
        ("/b /a", {"/a": 2, "/b": 1}, (1 + 2 / log2(3)) / (2 + 1 / log2(3))),
        ("/1 /2 /3 /4 /5 /6 /7 /8 /9 /10 /a", {"/a": 1}, 0),
        ("", {"/a": 1}, 0),
    ],
)
def test_ndcg_discounts_by_place_and_knows_grades(pages, relevant, value):
    assert metrics.ndcg(pages.split(), relevant) == pytest.approx(value)


def test_recall_success_and_reciprocal_rank():
    pages, relevant = ["/x", "/a", "/y", "/z", "/u", "/b"], {"/a": 1, "/b": 1}
    assert metrics.recall(pages, relevant) == 0.5
    assert metrics.success(pages, relevant) == 0
    assert metrics.success(["/a"], relevant) == 1
    assert metrics.success([], relevant) == 0
    assert table.reciprocal_rank(pages, relevant) == 0.5
    assert table.reciprocal_rank(["/x"], relevant) == 0


def test_calibration_error_is_the_mean_gap_between_scores_and_truth():
    assert metrics.calibration_error([(0.85, True)] * 17 + [(0.85, False)] * 3) == pytest.approx(0)
    assert metrics.calibration_error([(0.9, False), (0.1, False)]) == pytest.approx(0.5)
    assert metrics.calibration_error([(1.0, True), (0.0, True)]) == pytest.approx(0.5)  # both ends have a bin


def test_percentiles_are_samples():
    assert percentile([3, 1, 2, 4], 0.5) == 3
    assert percentile(list(range(100)), 0.95) == 95


@pytest.mark.parametrize(
    ("wanted", "fit"),
    [
        (None, True),
        ({"language": "ES"}, True),
        ({"language": "en"}, False),
        ({"version": "2"}, True),  # the page has none
        ({"tag": "Guide"}, True),
        ({"tag": "api"}, False),
    ],
)
def test_a_page_breaks_a_filter_with_another_value(wanted, fit):
    assert table.fits(wanted, {"language": "es", "version": None, "tag": ["guide"]}) is fit


def test_lists_that_break_the_rules_are_counted():
    bad = Answer(query(), ["/a", "/b", "/a"], 1.0, [0.2, 0.3, 1.2], [{"language": "en"}] * 3)
    text = table.order(Figures(answers={"ours": [bad]}))
    for line in ("rise down a list", "2 !"), ("outside 0..1", "1 !"), ("twice", "1 !"):
        assert any(line[0] in row and line[1] in row for row in text.splitlines())


def test_a_lead_that_is_too_small_is_marked():
    ours, peer = Answer(query(), ["/a"], 1.0), Answer(query(), ["/b", "/a"], 1.0)
    good = table.sets(Figures(answers={"ours": [ours], "peer": [peer]}))
    assert "1.000 |" in good
    assert "+0.369" in good
    assert "0.631 !" in table.sets(Figures(answers={"ours": [peer], "peer": [ours]}))
