"""Golden questions as JSON lines.

{"question": "How do I install it?", "pages": ["/install"], "fact": "pip install acme"}
"""

from pathlib import Path
from typing import Any

from django.core.exceptions import ValidationError

from assistant.models import GoldenQuestion
from docsite.core.http.body import parse_object
from docsite.core.http.errors import BadRequest
from docsite.core.tenants.models import Project

KEYS = {"question", "pages", "fact"}


def load_file(project: Project, file: Path) -> list[GoldenQuestion]:
    """Load the questions of a file, and store none. Raises OSError, and ValueError with the line and the field."""
    questions: dict[str, GoldenQuestion] = {}
    for number, line in enumerate(file.read_bytes().split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            fields = parse_object(line)
            if unknown := fields.keys() - KEYS:
                raise ValueError(f"{min(unknown)}: is neither question nor pages nor fact")
            if fields.keys() == {"question"}:
                raise ValueError("pages: is missing; [] stands for a question that must find no answer")
            question = build(project, fields.get("question"), fields.get("pages", []), fields.get("fact", ""))
            if question.text in questions:
                raise ValueError("question: is in the file already")
        except BadRequest as error:
            raise ValueError(f"line {number}: {error.details[0].removeprefix('body: ')}") from None
        except ValueError as error:
            raise ValueError(f"line {number}: {error}") from None
        questions[question.text] = question
    return list(questions.values())


def to_json(question: GoldenQuestion) -> dict[str, Any]:
    """The line of a question, as an object."""
    line = {"question": question.text, "pages": question.paths}
    return {**line, "fact": question.fact} if question.fact else line


def build(project: Project, text: Any, pages: Any, fact: Any = "") -> GoldenQuestion:
    """Build a question that can be saved. Raises ValueError with the field."""
    if not isinstance(text, str) or not text.strip():
        raise ValueError("question: must be text")
    if not isinstance(pages, list) or not all(isinstance(page, str) and page.strip() for page in pages):
        raise ValueError("pages: must be a list of paths or addresses")
    if not isinstance(fact, str):
        raise ValueError("fact: must be text")
    paths = list(dict.fromkeys(project.path_of(page) for page in pages))
    question = GoldenQuestion(project=project, text=normalize_spaces(text), paths=paths, fact=fact.strip())
    try:
        question.clean_fields()
    except ValidationError as error:
        reasons = "; ".join(f"{name}: {' '.join(lines)}" for name, lines in error.message_dict.items())
        raise ValueError(reasons.replace("text: ", "question: ").rstrip(".")) from None
    return question


def normalize_spaces(text: str) -> str:
    """A question as it is stored."""
    return " ".join(text.split())
