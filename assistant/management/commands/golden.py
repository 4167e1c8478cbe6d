"""`manage.py golden DOMAIN`: do the answers still cite the pages that they must?"""

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


class Command(ServiceCommand):
    """Runs a project's golden questions, and keeps them."""

    help = (
        "Ask a project's golden questions, without a model, and say which answers cite the pages that they must, and "
        "what changed since the last run. The exit status is 1 when one fails."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """The project, and what to do instead of a run."""
        parser.add_argument("domain", help="domain of the project")
        instead = parser.add_mutually_exclusive_group()
        instead.add_argument(
            "--add",
            nargs="+",
            metavar=("QUESTION", "PAGE"),
            help="add a question with the pages that its answer must cite, or change its pages; without pages the "
            "assistant must say that the documentation has no answer",
        )
        instead.add_argument("--remove", metavar="QUESTION", help="remove a question")
        instead.add_argument(
            "--load",
            type=Path,
            metavar="FILE",
            help='add or change those of a file of JSON lines: {"question": "...", "pages": ["/page"]}',
        )
        instead.add_argument("--list", action="store_true", help="print them as --load takes them")

    def handle(self, *args: Any, **options: Any) -> None:
        """Do it, and say what to do next."""
        project = find_project(options["domain"])
        if options["add"]:
            text, *pages = options["add"]
            try:
                self.store(project, [_made(project, text, pages)])
            except ValueError as wrong:
                raise CommandError(f"{wrong}.") from None
        elif options["remove"] is not None:
            if not project.golden_questions.filter(text=_spaced(options["remove"])).delete()[0]:
                raise CommandError(
                    f"{project.domain} has no such question. See: manage.py golden {project.domain} --list"
                )
            self.stdout.write("Removed.")
        elif options["load"]:
            self.store(project, _read(project, options["load"]))
        elif options["list"]:
            for question in project.golden_questions.all():
                line = {"question": question.text, "pages": question.paths}
                self.stdout.write(json.dumps(line, ensure_ascii=False))
        else:
            self.run(project)

    def store(self, project: Project, questions: Sequence[GoldenQuestion]) -> None:
        """Add questions; those that are there get their pages, and lose the result of others."""
        added = changed = 0
        with transaction.atomic():
            for question in questions:
                known = project.golden_questions.filter(text=question.text).first()
                if known is None:
                    question.save()
                    added += 1
                elif known.paths != question.paths:
                    known.paths = question.paths
                    golden_questions.reset(known)
                    known.save()
                    changed += 1
        for path in golden_questions.missing(
            project, list(dict.fromkeys(path for one in questions for path in one.paths))
        ):
            self.stderr.write(self.style.WARNING(f"  {path} is not in the index"))
        counts = {"added": added, "changed": changed, "as before": len(questions) - added - changed}
        self.stdout.write(", ".join(f"{count} {what}" for what, count in counts.items() if count) or "Nothing to add")
        self.stdout.write(f"Run them: manage.py golden {project.domain}")

    def run(self, project: Project) -> None:
        """Ask them all. Raises CommandError when one fails."""
        questions = list(project.golden_questions.all())
        if not questions:
            self.stdout.write(
                f"{project.domain} has no golden questions. Add one, with the pages that its answer must cite: "
                f"manage.py golden {project.domain} --add 'How do I install it?' /install"
            )
            return
        if not project.documents.exists():
            raise CommandError(f"Nothing was ingested yet. First: manage.py ingest {project.domain} FOLDER")
        try:
            golden_questions.run(project, questions, self.show)
        except golden_questions.Unanswered as failure:
            raise CommandError(f"{failure}.") from None
        failing = [question for question in questions if not question.passed]
        if failing:
            self.stdout.write(f"Why: manage.py search {project.domain} {shlex.quote(failing[0].text)} --explain")
            raise CommandError(f"{project.domain}: {len(failing)} of {len(questions)} golden questions fail.")
        self.stdout.write(f"{project.domain}: all {len(questions)} golden questions pass")

    def show(self, question: GoldenQuestion) -> None:
        """How it went, at once: a long set takes its time."""
        told = golden_questions.news(question) or ("" if question.passed else "fails")
        note = f" ({told})" if told else ""
        self.stdout.write(f"{'✓' if question.passed else '✗'} {question}{note}")
        if not question.passed:
            self.stdout.write(f"    {golden_questions.difference(question)}")
        self.stdout.flush()


def _read(project: Project, file: Path) -> list[GoldenQuestion]:
    """The questions of a file. Raises CommandError that names the line and the field."""
    try:
        lines = file.read_bytes().split(b"\n")
    except OSError as failure:
        raise CommandError(f"{file}: {failure.strerror}.") from None
    questions: dict[str, GoldenQuestion] = {}
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            given = parse_object(line)
            if unknown := given.keys() - {"question", "pages"}:
                raise ValueError(f"{min(unknown)}: is neither question nor pages")
            if "pages" not in given:
                raise ValueError("pages: is missing; [] stands for a question that must find no answer")
            question = _made(project, given.get("question"), given["pages"])
            if question.text in questions:
                raise ValueError("question: is in the file already")
        except BadRequest as wrong:
            raise CommandError(f"{file} line {number}: {wrong.details[0].removeprefix('body: ')}.") from None
        except ValueError as wrong:
            raise CommandError(f"{file} line {number}: {wrong}.") from None
        questions[question.text] = question
    return list(questions.values())


def _made(project: Project, text: Any, pages: Any) -> GoldenQuestion:
    """A question that can be stored. Raises ValueError that names the field."""
    if not isinstance(text, str) or not text.strip():
        raise ValueError("question: must be text")
    if not isinstance(pages, list) or not all(isinstance(page, str) and page.strip() for page in pages):
        raise ValueError("pages: must be a list of paths or addresses")
    paths = list(dict.fromkeys(project.path_of(page) for page in pages))
    question = GoldenQuestion(project=project, text=_spaced(text), paths=paths)
    try:
        question.clean_fields()
    except ValidationError as wrong:
        told = "; ".join(f"{name}: {' '.join(lines)}" for name, lines in wrong.message_dict.items())
        raise ValueError(told.replace("text: ", "question: ").rstrip(".")) from None
    return question


def _spaced(text: str) -> str:
    return " ".join(text.split())
