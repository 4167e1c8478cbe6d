"""`manage.py golden --evaluate`: what it prints and stores, with quotes and with the fake model server."""

import io
import json
import os
import signal
import threading

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from assistant.models import AssistantSettings, Evaluation, GoldenQuestion, Message, TokenUse
from search.indexing.ingest import ingest
from search.sources.markdown.folder import read_folder
from tests.conftest import wait_for

INSTALL = {"text": "How do I install acme?", "paths": ["/install"], "fact": "pip install acme"}
LABEL = {"text": "How do I print a label?", "paths": ["/guides/labels"], "fact": "inkjet"}
NOWHERE = {"text": "Which colour has the planet Mars?"}
QUESTIONS = (INSTALL, LABEL, NOWHERE)


@pytest.fixture
def evaluate(project):
    """Evaluate some golden questions. Returns what is printed, and how the command failed."""

    def evaluate(*questions: dict, options: tuple[str, ...] = ()) -> tuple[str, str]:
        project.project.golden_questions.all().delete()
        for question in questions:
            GoldenQuestion.objects.create(project=project.project, **question)
        out, err = io.StringIO(), io.StringIO()
        try:
            call_command("golden", project.project.domain, "--evaluate", *options, stdout=out, stderr=err)
        except CommandError as failure:
            return out.getvalue(), f"{err.getvalue()}{failure}"
        return out.getvalue(), err.getvalue()

    return evaluate


@pytest.fixture
def model(upstream, monkeypatch):
    """Answer with the fake model server, in a mode."""

    def model(mode: str) -> None:
        monkeypatch.setattr(settings.ENV, "openai_base_url", f"{upstream.url}/v1")
        monkeypatch.setattr(settings.ENV, "openai_model", f"fake:{mode}")

    return model


def figures(printed: str) -> dict[str, str]:
    """The table at the end, by the names of its lines."""
    lines = printed.rpartition("\n\n")[2].splitlines()[:-1]
    return {line.partition("  ")[0]: line.partition("  ")[2].strip() for line in lines}


def test_it_prints_each_result_and_the_figures(evaluate, project):
    printed, _ = evaluate(*QUESTIONS)
    start = f"{project.project.domain}: 3 questions, without a model. Ctrl-C stops and keeps what was answered.\n"
    results = "\n".join(
        [f"[1/3] ✓ {INSTALL['text']}", f"[2/3] ✗ {LABEL['text']}: misses “inkjet”", f"[3/3] ✓ {NOWHERE['text']}"]
    )
    assert printed.startswith(f"{start}{results}\n\n")
    table = figures(printed)
    assert (table["right"], table["fact told"], table["right page"]) == (
        "2 of 3 (67%)",
        "1 of 2 (50%)",
        "2 of 2 (100%)",
    )
    assert (table["wrongly refused"], table["rightly refused"]) == ("0 of 2 (0%)", "1 of 1 (100%)")
    assert {"by a model", "tokens", "failed", "judged right"}.isdisjoint(table)


def test_a_run_is_stored_with_its_answers_and_no_conversation_or_result_of_a_question(evaluate, project):
    before = Message.objects.count()
    printed, _ = evaluate(*QUESTIONS)
    run = Evaluation.objects.get(project=project.project)
    assert (run.model, run.questions, run.asked, run.scored, run.right) == ("", 3, 3, 3, 2)
    assert [row["question"] for row in run.rows] == [question["text"] for question in QUESTIONS]
    assert "pip install acme" in run.rows[0]["text"]
    assert printed.endswith(f"What is wrong with each answer: /admin/assistant/evaluation/{run.pk}/change/\n")
    assert Message.objects.count() == before
    assert not project.project.golden_questions.exclude(passed=None).exists()


def test_the_next_run_shows_what_changed(evaluate):
    first, _ = evaluate(*QUESTIONS)
    assert "Since" not in first
    changed = {**INSTALL, "fact": "conda"}, {**LABEL, "fact": "thermal"}, NOWHERE
    second, _ = evaluate(*changed)
    assert (
        f"(without a model, 2/3 right):\n  newly right: {LABEL['text']}\n  newly wrong: {INSTALL['text']}\n" in second
    )
    assert "(without a model, 2/3 right):\n  newly right: none\n  newly wrong: none\n" in evaluate(*changed)[0]


def test_a_run_with_a_model_is_compared_with_the_last_one_with_a_model(evaluate, model, monkeypatch):
    model("happy")
    evaluate(INSTALL)
    monkeypatch.setattr(settings.ENV, "openai_base_url", "")
    evaluate(INSTALL)
    model("happy")
    printed, _ = evaluate({**INSTALL, "fact": ""})
    assert f"(fake:happy, 0/1 right):\n  newly right: {INSTALL['text']}\n" in printed


def test_a_model_answers_where_one_is_configured(evaluate, model, project, upstream):
    model("happy")
    printed, _ = evaluate({**INSTALL, "fact": "run the command"}, NOWHERE)
    assert "2 questions to fake:happy, up to about 14,000 tokens. Ctrl-C" in printed
    table = figures(printed)
    assert (table["by a model"], table["right"]) == ("1", "2 of 2 (100%)")
    spent = Evaluation.objects.get(project=project.project).tokens
    assert table["tokens"] == f"{spent:,}" == "833"  # as the fake server counts
    assert TokenUse.objects.get(project=project.project).tokens == spent


def test_a_question_is_asked_by_a_reader_of_its_pages(evaluate, project, acme_docs):
    page = acme_docs / "install.md"
    page.write_text(page.read_text().replace("---\n", "---\ngroups: [staff]\n", 1))
    ingest(project.project, read_folder(acme_docs))
    assert "[1/1] ✓" in evaluate(INSTALL)[0]
    assert "wrongly refused" in evaluate({**INSTALL, "paths": []})[0], "everybody's question finds no page of staff"


def test_the_owners_settings_count(evaluate, project):
    AssistantSettings.objects.create(project=project.project, threshold=1.0)
    assert f"✗ {INSTALL['text']}: wrongly refused" in evaluate(INSTALL)[0]


def test_a_model_that_fails_leaves_quotes_as_for_readers(evaluate, model):
    model("status500")
    printed, _ = evaluate(INSTALL)
    assert f"[1/1] ✓ {INSTALL['text']}: no model: the model server answered 500\n" in printed
    assert figures(printed)["right"] == "1 of 1 (100%)"


def test_without_tokens_the_run_stops(evaluate, model, monkeypatch, project):
    model("happy")
    monkeypatch.setattr(settings.ENV, "daily_tokens_per_project", 0)
    _, failure = evaluate(*QUESTIONS)
    assert failure == "Stopped after 0 of 3 questions: the project's daily token limit is reached."
    assert not Evaluation.objects.filter(project=project.project).exists()


def test_ctrl_c_stops_and_keeps_what_was_answered(evaluate, model, upstream, project, monkeypatch):
    monkeypatch.setattr("assistant.improving.golden_questions.evaluation.AT_ONCE", 1)
    model("happy")
    held = "How do I print a label while it is held? fake:held"

    def interrupt() -> None:
        wait_for(lambda: upstream.asked(held), "the second question")
        os.kill(os.getpid(), signal.SIGINT)

    waiting = threading.Thread(target=interrupt)
    waiting.start()
    printed, failure = evaluate({**INSTALL, "fact": ""}, {**LABEL, "text": held})
    waiting.join()
    assert failure == "Stopped after 1 of 2 questions."
    assert f"[1/2] ✓ {INSTALL['text']}\n" in printed
    run = Evaluation.objects.get(project=project.project)
    assert (run.questions, run.asked, run.is_complete) == (2, 1, False)
    assert "Since" not in evaluate(INSTALL)[0]  # a run that was stopped is no measure


def test_the_share_that_must_be_right_decides_the_exit_status(evaluate):
    assert evaluate(*QUESTIONS, options=("--fail-under", "0.6"))[1] == ""
    assert evaluate(*QUESTIONS, options=("--fail-under", "0.7"))[1] == "2 of 3 (67%) are right; --fail-under wants 70%."
    assert "must be 0 to 1" in evaluate(*QUESTIONS, options=("--fail-under", "80"))[1]


def test_all_answers_can_be_written(evaluate, tmp_path):
    evaluate(*QUESTIONS, options=("--json", str(tmp_path / "rows.json")))
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert [(row["question"], row["right"]) for row in rows] == [
        (question["text"], right) for question, right in zip(QUESTIONS, (True, False, True), strict=True)
    ]
    failure = evaluate(*QUESTIONS, options=("--json", str(tmp_path / "no" / "rows.json")))[1]
    assert failure.endswith("No such file or directory.")


@pytest.mark.parametrize(
    ("options", "failure"),
    [
        (("--json", "rows.json"), "--json needs --evaluate."),
        (("--fail-under", "0"), "--fail-under needs --evaluate."),
        (("--evaluate", "--fact", "x"), "--fact needs --add."),
    ],
)
def test_options_of_another_action_are_refused(project, options, failure):
    with pytest.raises(CommandError, match=failure):
        call_command("golden", project.project.domain, *options)
