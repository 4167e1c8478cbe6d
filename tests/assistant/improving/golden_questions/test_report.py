"""Figures, comparisons and stored runs of an evaluation."""

import pytest

from assistant.improving.golden_questions.report import compare, count, summarize
from assistant.improving.golden_questions.scoring import Row
from assistant.models import Evaluation
from assistant.models.evaluations import MAX_RUNS


def row(name: str, right: bool = False, **more: object) -> Row:
    return Row(name, **{"answerable": True, "right": right, **more})


def store(project, asked=1, **more: object) -> Evaluation:
    run = Evaluation(project=project, questions=1, asked=asked, scored=0, right=0, tokens=0, **more)
    run.save_and_trim()
    return run


def test_unknown_scores_do_not_count():
    assert str(count([True, None, False, True])) == "2 of 3 (67%)"
    assert str(count([None])) == "0 of 0"


def test_the_figures_of_rows():
    rows = [
        row("a", True, fact=True, page=True, words=10, seconds=0.1, tokens=1000, rung="model"),
        row("b", False, fact=False, page=True, words=20, seconds=0.2, tokens=500, rung="second_model"),
        row("g", False, verdict="partly", judgement="…", judge_tokens=2000, words=20, seconds=0.1),
        row("h", True, verdict="right", words=20, seconds=0.1),
        row("i", True, judgement="no", words=20, seconds=0.1),
        row("c", False, refused=True, words=5, seconds=0.3, rung="nearest_pages"),
        row("d", True, answerable=False, refused=True, seconds=9.0, rung="nearest_pages"),
        row("e", False, failed=True, words=7, seconds=0.1),
        row("f", True, words=90, seconds=0.1, rung="closest_passages"),
    ]
    assert summarize(rows) == {
        "right": "5 of 9 (56%)",
        "fact told": "1 of 2 (50%)",
        "right page": "2 of 2 (100%)",
        "wrongly refused": "1 of 8 (12%)",
        "rightly refused": "1 of 1 (100%)",
        "judged right": "1 of 2 (50%)",
        "judged partly right": "1 of 2 (50%)",
        "not judged": "1",
        "closest passages": "1",
        "by a model": "2",
        "failed": "1",
        "words, median": "20",
        "tokens": "1,500",
        "tokens of the judge": "2,000",
        "seconds, p50": "0.10",
        "seconds, p95": "9.00",
    }
    assert summarize([])["words, median"] == "–"


def test_results_are_compared_by_question():
    before = [row("a", True), row("b", False), row("c", True), row("d", False), row("e", True)]
    now = [row("a", False), row("b", True), row("c", True), row("d", False), row("f", True)]
    comparison = compare(now, before)
    assert (comparison.newly_right, comparison.newly_wrong) == (["b"], ["a"])


@pytest.mark.parametrize("model", ["", "fake-1"])
def test_the_earlier_run_is_complete_and_also_with_or_without_a_model(project, make_project, model):
    store(project.project, model=model)
    earlier = store(project.project, model=model and "fake-2")
    store(project.project, model="" if model else "fake-1")
    store(project.project, model=model, asked=0)
    store(make_project().project, model=model)
    run = store(project.project, model=model)
    store(project.project, model=model)
    assert run.find_earlier() == earlier


def test_only_the_last_runs_of_a_project_are_kept(project, make_project):
    other = store(make_project().project)
    for number in range(MAX_RUNS + 1):
        store(project.project, model=f"{number}")
    kept = list(Evaluation.objects.filter(project=project.project).values_list("model", flat=True))
    assert kept == [str(number) for number in range(MAX_RUNS, 0, -1)]
    assert Evaluation.objects.filter(pk=other.pk).exists()
