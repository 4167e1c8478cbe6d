"""`manage.py golden DOMAIN`: check that answers still cite the pages that they must cite."""

import json
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError
from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from assistant import golden_questions
from assistant.models import GoldenQuestion
from docsite.core.http.body import parse_object
from docsite.core.http.errors import BadRequest
from docsite.core.tenants.management.base import ServiceCommand, find_project
from docsite.core.tenants.models import Project
from search.models import Document


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
            "--add",
            nargs="+",
            metavar=("QUESTION", "PAGE"),
            help="add a question with the pages that its answer must cite, or change its pages; without pages the "
            "assistant must say that the documentation has no answer",
        )
        action.add_argument("--remove", metavar="QUESTION", help="remove a question")
        action.add_argument(
            "--load",
            type=Path,
            metavar="FILE",
            help='add or change the questions of a file of JSON lines: {"question": "...", "pages": ["/page"]}',
        )
        action.add_argument("--list", action="store_true", help="print the questions in the format of --load")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do the action, or run the questions."""
        project = find_project(options["domain"])
        if options["add"]:
            text, *pages = options["add"]
            try:
                self.store(project, [_build_question(project, text, pages)])
            except ValueError as error:
                raise CommandError(f"{error}.") from None
        elif options["remove"] is not None:
            if not project.golden_questions.filter(text=_normalize_spaces(options["remove"])).delete()[0]:
                raise CommandError(
                    f"{project.domain} has no such question. See: manage.py golden {project.domain} --list"
                )
            self.stdout.write(f"Removed. See the others: manage.py golden {project.domain} --list")
        elif options["load"]:
            self.store(project, _load_file(project, options["load"]))
        elif options["list"]:
            for question in project.golden_questions.all():
                line = {"question": question.text, "pages": question.paths}
                self.stdout.write(json.dumps(line, ensure_ascii=False))
        else:
            self.run(project)

    def store(self, project: Project, questions: Sequence[GoldenQuestion]) -> None:
        """Add questions. A stored question gets the new pages, and its results are cleared if the pages changed."""
        added = changed = 0
        with transaction.atomic():
            for question in questions:
                stored = project.golden_questions.filter(text=question.text).first()
                if stored is None:
                    question.save()
                    added += 1
                elif stored.paths != question.paths:
                    stored.paths = question.paths
                    golden_questions.reset(stored)
                    stored.save()
                    changed += 1
        paths = list(dict.fromkeys(path for question in questions for path in question.paths))
        for path in golden_questions.find_missing_pages(project, paths):
            self.stderr.write(self.style.WARNING(f"  {path} is not in the index"))
        counts = {"added": added, "changed": changed, "as before": len(questions) - added - changed}
        self.stdout.write(", ".join(f"{count} {label}" for label, count in counts.items() if count) or "Nothing to add")
        self.stdout.write(f"Run them: manage.py golden {project.domain}")

    def run(self, project: Project) -> None:
        """Run all questions of the project. Raises CommandError when one fails."""
        questions = list(project.golden_questions.all())
        if not questions:
            self.stdout.write(
                f"{project.domain} has no golden questions. Add one, with the pages that its answer must cite: "
                f"manage.py golden {project.domain} --add 'How do I install it?' /install"
            )
            return
        if not Document.indexed.filter(project=project).exists():
            raise CommandError(f"Nothing was ingested yet. First: manage.py ingest {project.domain} FOLDER")
        try:
            golden_questions.run(project, questions, self.show_result)
        except golden_questions.AnswerFailed as failure:
            raise CommandError(f"{failure}.") from None
        failing = [question for question in questions if not question.passed]
        if failing:
            self.stdout.write(f"Why: manage.py search {project.domain} {shlex.quote(failing[0].text)} --explain")
            raise CommandError(f"{project.domain}: {len(failing)} of {len(questions)} golden questions fail.")
        self.stdout.write(f"{project.domain}: all {len(questions)} golden questions pass")

    def show_result(self, question: GoldenQuestion) -> None:
        """Print the result of a question at once, since a long set takes a while."""
        change = golden_questions.describe_change(question) or ("" if question.passed else "fails")
        note = f" ({change})" if change else ""
        self.stdout.write(f"{'✓' if question.passed else '✗'} {question}{note}")
        if not question.passed:
            self.stdout.write(f"    {golden_questions.describe_failure(question)}")
        self.stdout.flush()


def _load_file(project: Project, file: Path) -> list[GoldenQuestion]:
    """Load the questions of a file. Raises CommandError with the line and the field."""
    try:
        lines = file.read_bytes().split(b"\n")
    except OSError as failure:
        raise CommandError(f"{file}: {failure.strerror}.") from None
    questions: dict[str, GoldenQuestion] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            fields = parse_object(line)
            if unknown := fields.keys() - {"question", "pages"}:
                raise ValueError(f"{min(unknown)}: is neither question nor pages")
            if "pages" not in fields:
                raise ValueError("pages: is missing; [] stands for a question that must find no answer")
            question = _build_question(project, fields.get("question"), fields["pages"])
            if question.text in questions:
                raise ValueError("question: is in the file already")
        except BadRequest as error:
            raise CommandError(f"{file} line {number}: {error.details[0].removeprefix('body: ')}.") from None
        except ValueError as error:
            raise CommandError(f"{file} line {number}: {error}.") from None
        questions[question.text] = question
    return list(questions.values())


def _build_question(project: Project, text: Any, pages: Any) -> GoldenQuestion:
    """Build a question that can be saved. Raises ValueError with the field."""
    if not isinstance(text, str) or not text.strip():
        raise ValueError("question: must be text")
    if not isinstance(pages, list) or not all(isinstance(page, str) and page.strip() for page in pages):
        raise ValueError("pages: must be a list of paths or addresses")
    paths = list(dict.fromkeys(project.path_of(page) for page in pages))
    question = GoldenQuestion(project=project, text=_normalize_spaces(text), paths=paths)
    try:
        question.clean_fields()
    except ValidationError as error:
        reasons = "; ".join(f"{name}: {' '.join(lines)}" for name, lines in error.message_dict.items())
        raise ValueError(reasons.replace("text: ", "question: ").rstrip(".")) from None
    return question


def _normalize_spaces(text: str) -> str:
    return " ".join(text.split())
