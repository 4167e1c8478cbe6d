"""`manage.py evaluate`: what it prints and stores, with quotes and with the fake model server."""

import io
import json
import os
import signal
import threading

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from assistant.models import AssistantSettings, Evaluation, Message, TokenUse
from docsite.core.tenants.models import Project
from tests.conftest import fake, wait_for

INSTALL = {"id": "i", "question": "How do I install acme?", "must": ["pip install acme"], "pages": ["/install"]}
LABEL = {"id": "l", "question": "How do I print a label?", "must": ["inkjet"], "pages": ["/guides/labels"]}
NOWHERE = {"id": "n", "question": "Which colour has the planet Mars?", "answerable": False}
LINES = (INSTALL, LABEL, NOWHERE)


@pytest.fixture
def evaluate(project, tmp_path):
    """Evaluate some lines. Returns what is printed, and how the command failed."""

    def evaluate(*lines: dict, options: tuple[str, ...] = (), name: str = "real.jsonl", domain: str | None = None):
        file = tmp_path / name
        file.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        named = ("--domain", domain if domain is not None else project.project.domain)
        arguments = (str(file), *(named if domain != "" else ()), *options)
        out, err = io.StringIO(), io.StringIO()
        try:
            call_command("evaluate", *arguments, stdout=out, stderr=err)
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
    lines = printed.rpartition("\n\n")[2].splitlines()[1:]
    return {line.partition("  ")[0]: line.partition("  ")[2].strip() for line in lines}


def test_it_prints_each_result_and_the_figures(evaluate, project):
    printed, _ = evaluate(*LINES)
    start = f"{project.project.domain}: 3 questions, without a model. Ctrl-C stops and keeps what was answered.\n"
    assert printed.startswith(f"{start}[1/3] ✓ i\n[2/3] ✗ l: misses “inkjet”\n[3/3] ✓ n\n\n")
    table = figures(printed)
    assert (table["right"], table["fact told"], table["right page"]) == (
        "2 of 3 (67%)",
        "1 of 2 (50%)",
        "2 of 2 (100%)",
    )
    assert (table["wrongly refused"], table["rightly refused"]) == ("0 of 2 (0%)", "1 of 1 (100%)")
    assert {"by a model", "tokens", "failed", "judged right"}.isdisjoint(table)


def test_a_run_is_stored_with_its_answers_and_no_conversation(evaluate, project):
    before = Message.objects.count()
    evaluate(*LINES)
    run = Evaluation.objects.get(project=project.project)
    assert (run.file, run.model, run.questions, run.asked, run.scored, run.right) == ("real.jsonl", "", 3, 3, 3, 2)
    assert [row["id"] for row in run.rows] == ["i", "l", "n"]
    assert "pip install acme" in run.rows[0]["text"]
    assert Message.objects.count() == before


def test_the_next_run_shows_what_changed(evaluate):
    first, _ = evaluate(*LINES)
    assert "Since" not in first
    second, _ = evaluate({**INSTALL, "must": ["conda"]}, {**LABEL, "must": ["thermal"]}, NOWHERE)
    assert "(without a model, 2/3 right, other questions):\n  newly right: l\n  newly wrong: i\n" in second
    third, _ = evaluate({**INSTALL, "must": ["conda"]}, {**LABEL, "must": ["thermal"]}, NOWHERE)
    assert "(without a model, 2/3 right):\n  newly right: none\n  newly wrong: none\n" in third
    assert "Since" not in evaluate(*LINES, name="other.jsonl")[0]


def test_a_run_with_a_model_is_compared_with_the_last_one_with_a_model(evaluate, model):
    model("happy")
    evaluate(INSTALL)
    evaluate(INSTALL, options=("--without-model",))
    printed, _ = evaluate({**INSTALL, "must": []})
    assert "(fake:happy, 0/1 right, other questions):\n  newly right: i\n" in printed


def test_a_model_answers_where_one_is_configured(evaluate, model, project, upstream):
    model("happy")
    printed, _ = evaluate({**INSTALL, "must": ["run the command"]}, NOWHERE)
    assert "2 questions to fake:happy, up to about 14,000 tokens. Ctrl-C" in printed
    table = figures(printed)
    assert (table["by a model"], table["right"]) == ("1", "2 of 2 (100%)")
    spent = Evaluation.objects.get(project=project.project).tokens
    assert table["tokens"] == f"{spent:,}" == "833"  # as the fake server counts
    assert TokenUse.objects.get(project=project.project).tokens == spent


def test_quotes_can_be_forced(evaluate, model, project, upstream):
    model("happy")
    marker = "never sent to a model"
    printed, _ = evaluate({**INSTALL, "context": fake("happy", marker)}, options=("--without-model",))
    assert ", without a model." in printed
    assert upstream.asked(marker) == []


def test_the_history_the_page_and_the_selection_reach_the_model(evaluate, model, upstream):
    model("happy")
    line = {
        **INSTALL,
        "history": [["user", "Tell me about parcels."]],
        "currentPath": "/configure",
        "context": [{"value": "marker of a selection"}],
    }
    evaluate(line)
    prompt = upstream.last("marker of a selection")["messages"][-1]["content"]
    assert "Tell me about parcels." in prompt
    assert '<current_page path="/configure"/>' in prompt


def test_the_owners_settings_count(evaluate, project):
    AssistantSettings.objects.create(project=project.project, threshold=1.0)
    assert "✗ i: wrongly refused" in evaluate(INSTALL)[0]


def test_a_model_that_fails_leaves_quotes_as_for_readers(evaluate, model):
    model("status500")
    printed, _ = evaluate(INSTALL)
    assert "[1/1] ✓ i: no model: the model server answered 500\n" in printed
    assert figures(printed)["right"] == "1 of 1 (100%)"


def test_without_tokens_the_run_stops(evaluate, model, monkeypatch, project):
    model("happy")
    monkeypatch.setattr(settings.ENV, "daily_tokens_per_project", 0)
    _, failure = evaluate(*LINES)
    assert failure == "Stopped after 0 of 3 questions: the project's daily token limit is reached."
    assert not Evaluation.objects.filter(project=project.project).exists()


def test_ctrl_c_stops_and_keeps_what_was_answered(evaluate, model, upstream, project, monkeypatch):
    model("happy")
    monkeypatch.setattr("assistant.evaluation.run.AT_ONCE", 1)
    held = {**LABEL, "context": fake("held", "while it is held")}

    def interrupt() -> None:
        wait_for(lambda: upstream.asked("while it is held"), "the second question")
        os.kill(os.getpid(), signal.SIGINT)

    waiting = threading.Thread(target=interrupt)
    waiting.start()
    printed, failure = evaluate({**INSTALL, "must": []}, held)
    waiting.join()
    assert failure == "Stopped after 1 of 2 questions."
    assert "[1/2] ✓ i\n" in printed
    run = Evaluation.objects.get(project=project.project)
    assert (run.questions, run.asked, run.is_complete) == (2, 1, False)
    assert "Since" not in evaluate(INSTALL)[0]  # a run that was stopped is no measure


def test_the_share_that_must_be_right_decides_the_exit_status(evaluate):
    assert evaluate(*LINES, options=("--fail-under", "0.6"))[1] == ""
    assert evaluate(*LINES, options=("--fail-under", "0.7"))[1] == "2 of 3 (67%) are right; --fail-under wants 70%."
    assert "must be 0 to 1" in evaluate(*LINES, options=("--fail-under", "80"))[1]


def test_a_question_that_nothing_decides_counts_neither_way(evaluate):
    printed, failure = evaluate({"question": INSTALL["question"]}, options=("--fail-under", "0.5"))
    assert f"– {INSTALL['question']}\n" in printed
    assert failure == "0 of 0 are right; --fail-under wants 50%."


def test_all_answers_can_be_written(evaluate, project, tmp_path):
    evaluate(*LINES, options=("--json", str(tmp_path / "rows.json")))
    rows = json.loads((tmp_path / "rows.json").read_text())
    assert [(row["domain"], row["id"], row["right"]) for row in rows] == [
        (project.project.domain, name, right) for name, right in (("i", True), ("l", False), ("n", True))
    ]
    assert evaluate(*LINES, options=("--json", str(tmp_path / "no" / "rows.json")))[1].endswith(
        "No such file or directory."
    )


def test_lines_for_other_projects_are_skipped_and_counted(evaluate, project):
    lines = ({**INSTALL, "corpus": project.project.domain}, LABEL, {**NOWHERE, "domain": "elsewhere"})
    printed, _ = evaluate(*lines)
    assert printed.startswith("1 of 3 lines are for other projects: elsewhere\n")
    assert figures(printed)["right"] == "1 of 2 (50%)"


def test_a_file_can_name_its_projects(evaluate, project, make_project):
    lines = ({**INSTALL, "domain": project.project.domain}, {**NOWHERE, "domain": "elsewhere"})
    assert figures(evaluate(*lines, domain="")[0])["right"] == "1 of 1 (100%)"
    assert evaluate({**NOWHERE, "domain": "elsewhere"}, domain="")[1] == "No line is left to ask."
    make_project()
    assert evaluate(*lines, LABEL, domain="")[1] == "Not every line has a domain. Name the project with --domain."


def test_the_only_project_needs_no_name(evaluate, project, monkeypatch):
    monkeypatch.setattr(Project.objects, "all", lambda: Project.objects.filter(pk=project.project.pk))
    assert figures(evaluate(*LINES, domain="")[0])["right"] == "2 of 3 (67%)"


def test_mistakes_are_named(evaluate, make_project, tmp_path):
    assert evaluate({"question": 1})[1] == f"{tmp_path}/real.jsonl line 1: question: must be text."
    assert evaluate()[1] == f"{tmp_path}/real.jsonl has no questions."
    assert "There is no project nowhere." in evaluate(*LINES, domain="nowhere")[1]
    assert evaluate(*LINES, domain=make_project().project.domain)[1].startswith("Nothing was ingested yet.")
    assert "not in the index: /setup" in evaluate({**INSTALL, "pages": ["/install", "/setup"]})[1]
