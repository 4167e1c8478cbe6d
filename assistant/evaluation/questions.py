"""Reads the questions of an evaluation from a file of JSON lines.

{"id": "7", "question": "How do I install it?", "must": ["pip install"], "pages": ["/install"]}
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from assistant.schemas import Ask
from docsite.core.http.body import parse_object
from docsite.core.http.errors import BadRequest

MAX_ID = 100  # characters
MAX_PATTERN = 1_000  # characters
FP = "evaluation"


class InvalidLine(ValueError):
    """A line that is no question. The message names the line and the field."""


@dataclass(frozen=True)
class EvaluationQuestion:
    """A question, and what its answer must be.

    The answer must match all patterns of `must`, and cite one of `pages`. A judge compares it with `expected`.
    `domain` is that of a project, or empty. `digest` changes with any change of the line.
    """

    id: str
    ask: Ask
    must: Sequence[re.Pattern[str]]
    pages: Sequence[str]
    answerable: bool
    expected: str
    domain: str
    digest: str

    @property
    def text(self) -> str:
        """The question itself."""
        return self.ask.messages[-1].text.strip()


def load_file(file: Path) -> list[EvaluationQuestion]:
    """Load the questions of a file. Raises `InvalidLine`, or `OSError`."""
    questions: dict[str, EvaluationQuestion] = {}
    for number, line in enumerate(file.read_bytes().split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            question = parse_line(line)
            if question.id in questions:
                raise ValueError(f"id: “{question.id}” is in the file already")
        except BadRequest as error:
            raise InvalidLine(f"line {number}: {error.details[0].removeprefix('body: ')}") from None
        except ValueError as error:
            raise InvalidLine(f"line {number}: {error}") from None
        questions[question.id] = question
    return list(questions.values())


def parse_line(line: bytes) -> EvaluationQuestion:
    """Parse one line. Unknown keys are ignored. Raises `ValueError` with the field, or `BadRequest`."""
    fields = {name: value for name, value in parse_object(line).items() if value is not None}
    text = _text(fields, "question")
    if not text:
        raise ValueError("question: must be text")
    must, pages, expected = _texts(fields, "must"), _texts(fields, "pages"), _text(fields, "expected", "fact")
    # As in a file of golden questions, an empty list of pages alone stands for a refusal.
    answerable = fields.get("answerable", bool(pages or must or expected or "pages" not in fields))
    if not isinstance(answerable, bool):
        raise ValueError("answerable: must be true or false")
    return EvaluationQuestion(
        id=_id(fields) or text,
        ask=_build_request(fields, text),
        must=[_compile(pattern) for pattern in must],
        pages=pages,
        answerable=answerable,
        expected=expected,
        domain=_text(fields, "domain", "corpus"),
        digest=hashlib.sha256(line.strip()).hexdigest(),
    )


def _id(fields: dict[str, Any]) -> str:
    value = fields.get("id", "")
    if not isinstance(value, str | int) or len(str(value)) > MAX_ID:
        raise ValueError(f"id: must be text of at most {MAX_ID} characters")
    return str(value).strip()


def _text(fields: dict[str, Any], *names: str) -> str:
    """The first of these fields that the line has."""
    name = next((name for name in names if name in fields), names[0])
    value = fields.get(name, "")
    if not isinstance(value, str):
        raise ValueError(f"{name}: must be text")
    return value.strip()


def _texts(fields: dict[str, Any], name: str) -> list[str]:
    value = fields.get(name, [])
    if not isinstance(value, list) or not all(isinstance(item, str) and item.strip() for item in value):
        raise ValueError(f"{name}: must be a list of texts")
    return value


def _compile(pattern: str) -> re.Pattern[str]:
    if len(pattern) > MAX_PATTERN:
        raise ValueError(f"must: a pattern has more than {MAX_PATTERN} characters")
    try:
        return re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"must: “{pattern}” is no regular expression ({error})") from None


def _build_request(fields: dict[str, Any], text: str) -> Ask:
    """Build the request that a reader's page would send, with the same checks."""
    turns = fields.get("history", [])
    if not isinstance(turns, list) or not all(_is_turn(turn) for turn in turns):
        raise ValueError('history: must be a list of turns, each ["user", text] or ["assistant", text]')
    messages = [{"role": role, "content": content} for role, content in [*turns, ("user", text)]]
    page = {name: fields[name] for name in ("currentPath", "context") if name in fields}
    try:
        return Ask.model_validate({"fp": FP, "messages": messages, **page})
    except ValidationError as wrong:
        error = wrong.errors()[0]
        name = {"messages": "question"}.get(str(error["loc"][0]), error["loc"][0])
        raise ValueError(f"{name}: {error['msg'].removeprefix('Value error, ')}") from None


def _is_turn(turn: Any) -> bool:
    return (
        isinstance(turn, list)
        and len(turn) == 2
        and turn[0] in ("user", "assistant")
        and isinstance(turn[1], str)
        and bool(turn[1].strip())
    )
