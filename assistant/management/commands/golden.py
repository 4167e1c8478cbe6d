"""`manage.py golden DOMAIN`: check that answers still cite the pages and tell the facts that they must."""

import argparse
import asyncio
import json
import shlex
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction
from django.urls import reverse

from assistant.improving.golden_questions import checks, evaluation, lines, report
from assistant.improving.golden_questions.scoring import Row
from assistant.models import AssistantSettings, Evaluation, GoldenQuestion
from assistant.models.evaluations import MAX_NAME
from assistant.upstream import model_choice
from docsite.core.tenants.management.base import ServiceCommand, find_project
from docsite.core.tenants.models import Project
from search.models import Document

MAX_SHOWN = 60  # characters of a question in the lines of an evaluation


class Command(ServiceCommand):
    """Runs a project's golden questions, and adds, removes and lists them."""

    help = (
        "Ask a project's golden questions, without a model. Prints which answers cite the pages that they must cite, "
        "and the changes since the last run. The exit status is 1 if a question fails."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the project, and the actions that replace a run."""
        parser.add_argument("domain", help="domain of the project")
        action = parser.add_mutually_exclusive_group()
        action.add_argument(
            "--evaluate",
            action="store_true",
            help="ask as readers would ask now, with the configured model if there is one, and say which answers are "
            "right, also in their facts, and what changed since the last evaluation",
        )
        action.add_argument(
            "--add",
            nargs="+",
            metavar=("QUESTION", "PAGE"),
            help="add a question with the pages that its answer must cite, or change its pages; without pages and "
            "fact the assistant must say that the documentation has no answer",
        )
        action.add_argument("--remove", metavar="QUESTION", help="remove a question")
        action.add_argument(
            "--load",
            type=Path,
            metavar="FILE",
            help='add or change the questions of a file of JSON lines: {"question": "...", "pages": ["/page"], '
            '"fact": "..."}',
        )
        action.add_argument("--list", action="store_true", help="print the questions in the format of --load")
        parser.add_argument("--fact", metavar="TEXT", help="with --add: what the answer must tell")
        parser.add_argument(
            "--fail-under",
            type=_share,
            metavar="SHARE",
            help="with --evaluate: end with exit status 1 if a smaller share (0 to 1) is right",
        )
        parser.add_argument(
            "--json", type=Path, metavar="FILE", help="with --evaluate: write all answers and scores to a file"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Do the action, or run the questions."""
        project = find_project(options["domain"])
        for name, action in (("fact", "add"), ("fail_under", "evaluate"), ("json", "evaluate")):
            if options[name] is not None and not options[action]:
                raise CommandError(f"--{name.replace('_', '-')} needs --{action}.")
        if options["add"]:
            text, *pages = options["add"]
            try:
                self.store(project, [lines.build(project, text, pages, options["fact"] or "")])
            except ValueError as error:
                raise CommandError(f"{error}.") from None
        elif options["remove"] is not None:
            if not project.golden_questions.filter(text=lines.normalize_spaces(options["remove"])).delete()[0]:
                raise CommandError(
                    f"{project.domain} has no such question. See: manage.py golden {project.domain} --list"
                )
            self.stdout.write(f"Removed. See the others: manage.py golden {project.domain} --list")
        elif options["load"]:
            self.store(project, _load(project, options["load"]))
        elif options["list"]:
            for question in project.golden_questions.all():
                self.stdout.write(json.dumps(lines.to_json(question), ensure_ascii=False))
        elif questions := self.find_questions(project):
            if options["evaluate"]:
                self.evaluate(project, questions, options["fail_under"], options["json"])
            else:
                self.run(project, questions)

    def store(self, project: Project, questions: Sequence[GoldenQuestion]) -> None:
        """Add questions. A stored question gets the new pages and fact, and its results are cleared if they changed."""
        added = changed = 0
        with transaction.atomic():
            for question in questions:
                stored = project.golden_questions.filter(text=question.text).first()
                if stored is None:
                    question.save()
                    added += 1
                elif (stored.paths, stored.fact) != (question.paths, question.fact):
                    stored.paths, stored.fact = question.paths, question.fact
                    checks.reset(stored)
                    stored.save()
                    changed += 1
        paths = list(dict.fromkeys(path for question in questions for path in question.paths))
        for path in checks.find_missing_pages(project, paths):
            self.stderr.write(self.style.WARNING(f"  {path} is not in the index"))
        counts = {"added": added, "changed": changed, "as before": len(questions) - added - changed}
        self.stdout.write(", ".join(f"{count} {label}" for label, count in counts.items() if count) or "Nothing to add")
        self.stdout.write(f"Run them: manage.py golden {project.domain}")

    def find_questions(self, project: Project) -> list[GoldenQuestion]:
        """The questions to ask. Says what to do first if there is none; raises CommandError if there is no page."""
        questions = list(project.golden_questions.all())
        if not questions:
            self.stdout.write(
                f"{project.domain} has no golden questions. Add one, with the pages that its answer must cite: "
                f"manage.py golden {project.domain} --add 'How do I install it?' /install"
            )
        elif not Document.indexed.filter(project=project).exists():
            raise CommandError(f"Nothing was ingested yet. First: manage.py ingest {project.domain} FOLDER")
        return questions

    def run(self, project: Project, questions: Sequence[GoldenQuestion]) -> None:
        """Run questions without a model. Raises CommandError when one fails."""
        try:
            checks.run(project, questions, self.show_result)
        except checks.AnswerFailed as failure:
            raise CommandError(f"{failure}.") from None
        failing = [question for question in questions if not question.passed]
        if failing:
            self.stdout.write(f"Why: manage.py search {project.domain} {shlex.quote(failing[0].text)} --explain")
            raise CommandError(f"{project.domain}: {len(failing)} of {len(questions)} golden questions fail.")
        self.stdout.write(f"{project.domain}: all {len(questions)} golden questions pass")

    def show_result(self, question: GoldenQuestion) -> None:
        """Print the result of a question at once, since a long set takes a while."""
        change = checks.describe_change(question) or ("" if question.passed else "fails")
        note = f" ({change})" if change else ""
        self.stdout.write(f"{'✓' if question.passed else '✗'} {question}{note}")
        if not question.passed:
            self.stdout.write(f"    {checks.describe_failure(question)}")

    def evaluate(
        self, project: Project, questions: Sequence[GoldenQuestion], fail_under: float | None, file: Path | None
    ) -> None:
        """Ask as readers do, and store the run. Raises CommandError when it stops, or too few answers are right."""
        if file:
            _write(file, [])  # fails before the questions cost something
        models = model_choice.list_models(AssistantSettings.for_project(project))
        judge_model = model_choice.judge_model(project)
        model, judge = models[0].name if models else "", judge_model.name if judge_model else ""
        self.announce(project, len(questions), model, judge)
        rows: list[Row] = []

        def add(row: Row) -> None:
            rows.append(row)
            self.show_row(row, f"[{len(rows):{len(str(len(questions)))}}/{len(questions)}]")

        stopped: CommandError | None = None
        try:
            asyncio.run(
                evaluation.ask_all(project, questions, use_model=bool(models), judge_model=judge_model, report=add)
            )
        except KeyboardInterrupt:
            stopped = CommandError(f"Stopped after {len(rows)} of {len(questions)} questions.", returncode=130)
        except evaluation.TokensUsedUp as failure:
            stopped = CommandError(f"Stopped after {len(rows)} of {len(questions)} questions: {failure}.")
        order = {question.text: position for position, question in enumerate(questions)}
        rows.sort(key=lambda row: order[row.question])
        right = report.count(row.right for row in rows)
        if file:
            _write(file, [row.to_json() for row in rows])
        if rows:
            run = Evaluation(
                project=project,
                model=model[:MAX_NAME],
                judge=judge[:MAX_NAME],
                questions=len(questions),
                asked=len(rows),
                scored=right.whole,
                right=right.part,
                tokens=sum(row.tokens + row.judge_tokens for row in rows),
                rows=[row.to_json() for row in rows],
            )
            run.save_and_trim()
            self.show_comparison(run, rows)
            self.show_figures(rows)
            address = reverse("admin:assistant_evaluation_change", args=[run.pk])
            self.stdout.write(f"What is wrong with each answer: {address}")
        if stopped:
            raise stopped
        if fail_under is not None and right.part < fail_under * right.whole:
            raise CommandError(f"{right} are right; --fail-under wants {fail_under:.0%}.")

    def announce(self, project: Project, number: int, model: str, judge: str) -> None:
        """Print what is asked, and what it may cost."""
        tokens = evaluation.estimate_tokens(number)
        cost = f" to {model}, up to about {tokens:,} tokens" if model else ", without a model"
        if judge:
            cost += f"; {judge} judges, about {number * evaluation.JUDGE_TOKENS:,} tokens"
        count = f"{number} question{'s' if number > 1 else ''}"
        self.stdout.write(f"{project.domain}: {count}{cost}. Ctrl-C stops and keeps what was answered.")

    def show_row(self, row: Row, progress: str) -> None:
        """Print the result of a question at once, since a long set takes a while."""
        notes = [*row.missed, *([f"no model: {row.reason}"] if row.reason and not row.is_by_model else [])]
        sign = "✓" if row.right else "✗"
        self.stdout.write(f"{progress} {sign} {_shorten(row.question)}{': ' if notes else ''}{'; '.join(notes)}")

    def show_comparison(self, run: Evaluation, rows: Sequence[Row]) -> None:
        """Print what differs from the last evaluation."""
        if (earlier := run.find_earlier()) is None:
            return
        comparison = report.compare(rows, map(Row.from_json, earlier.rows))
        facts = f"{earlier.model or 'without a model'}, {earlier.right}/{earlier.scored} right"
        self.stdout.write(f"\nSince {earlier.created_at:%Y-%m-%d %H:%M} UTC ({facts}):")
        for label, texts in (("newly right", comparison.newly_right), ("newly wrong", comparison.newly_wrong)):
            self.stdout.write(f"  {label}: {', '.join(map(_shorten, texts)) or 'none'}")

    def show_figures(self, rows: Sequence[Row]) -> None:
        """Print the figures. Lines of zeros are left out."""
        figures = {name: figure for name, figure in report.summarize(rows).items() if figure not in report.ZEROS}
        names, numbers = max(map(len, figures)), max(map(len, figures.values()))
        self.stdout.write("")
        for name, figure in figures.items():
            self.stdout.write(f"{name:<{names}}  {figure:>{numbers}}")


def _share(text: str) -> float:
    """Parse a share, as a type of argparse."""
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError("must be 0 to 1, such as 0.8")
    return share


def _load(project: Project, file: Path) -> list[GoldenQuestion]:
    try:
        return lines.load_file(project, file)
    except OSError as failure:
        raise CommandError(f"{file}: {failure.strerror}.") from None
    except ValueError as error:
        raise CommandError(f"{file} {error}.") from None


def _write(file: Path, rows: Sequence[dict[str, Any]]) -> None:
    try:
        file.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n")
    except OSError as failure:
        raise CommandError(f"{file}: {failure.strerror}.") from None


def _shorten(text: str) -> str:
    return textwrap.shorten(text, MAX_SHOWN, placeholder="…")
