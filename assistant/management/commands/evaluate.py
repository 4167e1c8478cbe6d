"""`manage.py evaluate FILE`: ask a file of real questions, and tell what share is answered rightly."""

import argparse
import asyncio
import hashlib
import json
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.urls import reverse

from assistant import golden_questions, model_chain
from assistant.evaluation import report, run
from assistant.evaluation.questions import EvaluationQuestion, InvalidLine, load_file
from assistant.evaluation.scoring import Row
from assistant.models import AssistantSettings, Evaluation
from assistant.models.evaluations import MAX_NAME
from docsite.core.tenants.management.base import ServiceCommand, find_project
from docsite.core.tenants.models import Project
from search.models import Document

MAX_SHOWN = 60  # characters of an id, which may be a whole question
MAX_MISSING = 5  # pages that are named because they are not in the index


class Command(ServiceCommand):
    """Asks the questions of a file, scores the answers, and compares them with the last run."""

    help = (
        "Ask the questions of a file of JSON lines, as readers would ask them now: with the configured model if there "
        "is one. Prints which answers are right, and what changed since the last run. Stores the run."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Add the file, and what to do with it."""
        parser.add_argument(
            "file",
            type=Path,
            help='JSON lines: {"question": "...", "must": ["pattern"], "pages": ["/page"]}; the page Commands of the '
            "documentation describes all keys",
        )
        parser.add_argument(
            "--domain",
            help="domain of the project to ask; default: that of each line, or the only project. Lines of other "
            "domains are skipped",
        )
        parser.add_argument("--without-model", action="store_true", help="quote the documentation, ask no model")
        parser.add_argument(
            "--fail-under",
            type=_share,
            metavar="SHARE",
            help="end with exit status 1 if a smaller share (0 to 1) is right",
        )
        parser.add_argument("--json", type=Path, metavar="FILE", help="write all answers and scores to a file")

    def handle(self, *args: Any, **options: Any) -> None:
        """Run the questions of each project. Raises CommandError when the run stops, or too few answers are right."""
        groups = self.choose_projects(_load(options["file"]), options["domain"])
        if options["json"]:
            _write(options["json"], [])  # fails before the questions cost something
        rows: dict[str, list[Row]] = {}
        stopped: CommandError | None = None
        for project, questions in groups:
            rows[project.domain] = []
            try:
                self.run(project, questions, options, rows[project.domain])
            except CommandError as failure:
                stopped = failure
                break
        if options["json"]:
            _write(options["json"], [{"domain": domain, **row.to_json()} for domain in rows for row in rows[domain]])
        self.show_figures({domain: part for domain, part in rows.items() if part})
        if stopped:
            raise stopped
        self.stdout.write(f"What is wrong with each answer: {reverse('admin:assistant_evaluation_changelist')}")
        right = report.count(row.right for part in rows.values() for row in part)
        if options["fail_under"] is not None and right.part < options["fail_under"] * max(right.whole, 1):
            raise CommandError(f"{right} are right; --fail-under wants {options['fail_under']:.0%}.")

    def choose_projects(
        self, questions: Sequence[EvaluationQuestion], domain: str | None
    ) -> list[tuple[Project, list[EvaluationQuestion]]]:
        """The projects to ask, each with its questions. Raises CommandError where the file does not say which."""
        default = find_project(domain) if domain else None
        if not default and not all(question.domain for question in questions):
            existing = list(Project.objects.all()[:2])
            if len(existing) != 1:
                raise CommandError("Not every line has a domain. Name the project with --domain.")
            default = existing[0]
        domains = {question.domain for question in questions}
        named = [default] if domain and default else list(Project.objects.filter(domain__in=domains).order_by("pk"))
        projects = {project.domain: project for project in [*([default] if default else []), *named]}
        groups: dict[str, list[EvaluationQuestion]] = {}
        for question in questions:
            groups.setdefault(question.domain or (default.domain if default else ""), []).append(question)
        if skipped := sum(len(part) for name, part in groups.items() if name not in projects):
            names = ", ".join(sorted(groups.keys() - projects.keys()))
            self.stdout.write(f"{skipped} of {len(questions)} lines are for other projects: {names}")
        chosen = [(project, groups[name]) for name, project in projects.items() if name in groups]
        if not chosen:
            raise CommandError("No line is left to ask.")
        return chosen

    def run(
        self, project: Project, questions: Sequence[EvaluationQuestion], options: dict[str, Any], rows: list[Row]
    ) -> None:
        """Ask one project's questions, add their rows, and store the run. Raises CommandError when it is stopped."""
        if not Document.indexed.filter(project=project).exists():
            raise CommandError(f"Nothing was ingested yet. First: manage.py ingest {project.domain} FOLDER")
        models = [] if options["without_model"] else model_chain.list_models(AssistantSettings.for_project(project))
        judge_model = model_chain.judge_model(project)
        self.announce(project, questions, models[0].name if models else "", judge_model.name if judge_model else "")

        def add(row: Row) -> None:
            rows.append(row)
            self.show_row(row, f"[{len(rows):{len(str(len(questions)))}}/{len(questions)}]")

        stopped: CommandError | None = None
        try:
            asyncio.run(run.ask_all(project, questions, use_model=bool(models), judge_model=judge_model, report=add))
        except KeyboardInterrupt:
            stopped = CommandError(f"Stopped after {len(rows)} of {len(questions)} questions.", returncode=130)
        except run.TokensUsedUp as failure:
            stopped = CommandError(f"Stopped after {len(rows)} of {len(questions)} questions: {failure}.")
        order = {question.id: position for position, question in enumerate(questions)}
        rows.sort(key=lambda row: order[row.id])
        right = report.count(row.right for row in rows)
        evaluation = Evaluation(
            project=project,
            file=options["file"].name[:MAX_NAME],
            digest=hashlib.sha256("".join(question.digest for question in questions).encode()).hexdigest(),
            model=models[0].name[:MAX_NAME] if models else "",
            judge=judge_model.name[:MAX_NAME] if judge_model else "",
            questions=len(questions),
            asked=len(rows),
            scored=right.whole,
            right=right.part,
            tokens=sum(row.tokens + row.judge_tokens for row in rows),
            rows=[row.to_json() for row in rows],
        )
        if rows:
            evaluation.save_and_trim()
            self.show_comparison(evaluation)
        if stopped:
            raise stopped

    def announce(self, project: Project, questions: Sequence[EvaluationQuestion], model: str, judge: str) -> None:
        """Print what is asked, what it may cost, and the pages of the file that nobody can cite."""
        count = f"{len(questions)} question{'s' if len(questions) > 1 else ''}"
        tokens = run.estimate_tokens(len(questions))
        cost = f" to {model}, up to about {tokens:,} tokens" if model else ", without a model"
        if judge:
            cost += f"; {judge} judges, about {len(questions) * run.JUDGE_TOKENS:,} tokens"
        self.stdout.write(f"{project.domain}: {count}{cost}. Ctrl-C stops and keeps what was answered.")
        paths = dict.fromkeys(project.path_of(page) for question in questions for page in question.pages)
        missing = golden_questions.find_missing_pages(project, list(paths))
        if missing:
            more = f" and {len(missing) - MAX_MISSING} more" if len(missing) > MAX_MISSING else ""
            named = f"{', '.join(missing[:MAX_MISSING])}{more}"
            self.stderr.write(self.style.WARNING(f"  not in the index: {named}"))

    def show_row(self, row: Row, progress: str) -> None:
        """Print the result of a question at once, since a long file takes a while."""
        mark = {True: "✓", False: "✗", None: "–"}[row.right]
        notes = [*row.missed, *([f"no model: {row.reason}"] if row.reason and not row.is_by_model else [])]
        self.stdout.write(f"{progress} {mark} {_shorten(row.id)}{': ' if notes else ''}{'; '.join(notes)}")
        self.stdout.flush()

    def show_comparison(self, evaluation: Evaluation) -> None:
        """Print what differs from the last run of this file."""
        earlier = evaluation.find_earlier()
        if earlier is None:
            return
        comparison = report.compare(map(Row.from_json, evaluation.rows), map(Row.from_json, earlier.rows))
        changed = ", other questions" if earlier.digest != evaluation.digest else ""
        facts = f"{earlier.model or 'without a model'}, {earlier.right}/{earlier.scored} right{changed}"
        self.stdout.write(f"\nSince {earlier.created_at:%Y-%m-%d %H:%M} UTC ({facts}):")
        for label, ids in (("newly right", comparison.newly_right), ("newly wrong", comparison.newly_wrong)):
            self.stdout.write(f"  {label}: {', '.join(map(_shorten, ids)) or 'none'}")

    def show_figures(self, rows: dict[str, list[Row]]) -> None:
        """Print a table of the figures, a column for each project and one for all. Lines of zeros are left out."""
        if len(rows) > 1:
            rows = {**rows, "all": [row for part in rows.values() for row in part]}
        columns = {domain: report.summarize(part) for domain, part in rows.items()}
        if not columns:
            return
        names = list(next(iter(columns.values())))
        lines = [[name, *(column[name] for column in columns.values())] for name in names]
        cells = [["", *columns], *(line for line in lines if not report.ZEROS.issuperset(line[1:]))]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        self.stdout.write("")
        for first, *others in cells:
            line = "".join(f"  {cell:>{width}}" for cell, width in zip(others, widths[1:], strict=True))
            self.stdout.write(f"{first:<{widths[0]}}{line}")


def _share(text: str) -> float:
    """Parse a share, as a type of argparse."""
    try:
        share = float(text)
    except ValueError:
        share = -1.0
    if not 0 <= share <= 1:
        raise argparse.ArgumentTypeError("must be 0 to 1, such as 0.8")
    return share


def _load(file: Path) -> list[EvaluationQuestion]:
    try:
        questions = load_file(file)
    except OSError as failure:
        raise CommandError(f"{file}: {failure.strerror}.") from None
    except InvalidLine as error:
        raise CommandError(f"{file} {error}.") from None
    if not questions:
        raise CommandError(f"{file} has no questions.")
    return questions


def _write(file: Path, rows: Sequence[dict[str, Any]]) -> None:
    try:
        file.write_text(json.dumps(rows, ensure_ascii=False, indent=1) + "\n")
    except OSError as failure:
        raise CommandError(f"{file}: {failure.strerror}.") from None


def _shorten(text: str) -> str:
    return textwrap.shorten(text, MAX_SHOWN, placeholder="…")
