"""Scores an answer: does it tell the fact, cite the right page, refuse where it should?"""

import re
import signal
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields, replace
from types import FrameType
from typing import Any

from assistant.answering.record import Outcome
from assistant.answering.translations import ENGLISH, OTHER_LANGUAGES
from assistant.evaluation.questions import EvaluationQuestion
from docsite.core.tenants.models import Project

PATTERN_SECONDS = 1.0  # after which a search for a pattern is given up

_LINK_TARGET = re.compile(r"\]\((?:[^()\s]|\([^()]*\))*\)")
_MARKUP = re.compile(r"[`*\\]")
_PLAIN_QUOTES = str.maketrans("’‘“”", "''\"\"")
_FURTHER_PAGES = re.compile(
    "|".join(rf"\n{re.escape(phrases.see_also)}\n" for phrases in (ENGLISH, *OTHER_LANGUAGES.values()))
)


@dataclass(frozen=True)
class Row:
    """A question's answer and its scores, as they are stored.

    A score is None where the line says nothing about it: `fact` without `must`, `page` without `pages`, `right`
    without either or a judge's verdict. `missed` says in a few words each what is wrong. `tokens` are those charged,
    without those of the judge. `verdict` is empty where no judge was asked, or none answered: `judgement` says why.
    """

    id: str
    question: str
    answerable: bool
    right: bool | None = None
    fact: bool | None = None
    page: bool | None = None
    refused: bool = False
    failed: bool = False
    rung: str = ""
    reason: str = ""
    verdict: str = ""
    judgement: str = ""
    judge_tokens: int = 0
    missed: list[str] = field(default_factory=list)
    cited: list[str] = field(default_factory=list)
    words: int = 0
    tokens: int = 0
    seconds: float = 0.0
    text: str = ""

    @property
    def is_by_model(self) -> bool:
        """Whether a model wrote the answer, or its refusal."""
        return self.rung in ("model", "second_model")

    def to_json(self) -> dict[str, Any]:
        """The row as a JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> "Row":
        """A stored row, perhaps of another version of the service."""
        names = {field.name for field in fields(cls)}
        return cls(**{name: item for name, item in value.items() if name in names})


def score(question: EvaluationQuestion, project: Project, outcome: Outcome, seconds: float) -> Row:
    """Score an answer. It counts as refused when it cites nothing."""
    answer = _FURTHER_PAGES.split(outcome.text)[0]
    cited = [project.path_of(source.url) for source in outcome.sources]
    row = Row(
        question.id,
        question.text,
        question.answerable,
        rung=outcome.rung,
        reason=outcome.reason,
        cited=cited,
        words=len(answer.split()),
        tokens=outcome.charge.tokens,
        seconds=round(seconds, 3),
        text=outcome.text,
    )
    if outcome.state != "done":
        return replace(row, right=False, failed=True, missed=[f"failed: {outcome.reason}"])
    if not question.answerable:
        missed = ["should be refused"] if cited else []
        return replace(row, right=not cited, refused=not cited, missed=missed)
    has_page = any(project.path_of(page) in cited for page in question.pages) if question.pages else None
    if not cited:
        has_fact = False if question.must else None
        return replace(row, right=False, fact=has_fact, page=has_page, refused=True, missed=["wrongly refused"])
    missed = list(_find_missing(normalize(answer), question.must))
    has_fact = not missed if question.must else None
    if has_page is False:
        missed.append(f"cites {', '.join(cited)}")
    return replace(row, right=has_page if has_fact is None else has_fact, fact=has_fact, page=has_page, missed=missed)


def add_verdict(row: Row, verdict: str, judgement: str, tokens: int) -> Row:
    """Add a judge's verdict, with its reason, or with the reason why there is none. A verdict decides what is right."""
    judged = replace(row, verdict=verdict, judgement=judgement, judge_tokens=tokens)
    if not verdict:
        return replace(judged, missed=[*row.missed, f"not judged: {judgement}"])
    is_right = verdict == ("right" if row.answerable else "refused")
    missed = row.missed if is_right else [*row.missed, f"{verdict}: {judgement}" if judgement else verdict]
    return replace(judged, right=is_right, missed=missed)


def normalize(text: str) -> str:
    """A text as patterns see it: lower case, no markup, no addresses, plain quotes, single blanks."""
    visible = _LINK_TARGET.sub("]", text).translate(_PLAIN_QUOTES)
    return " ".join(_MARKUP.sub("", visible).split()).lower()


def _find_missing(text: str, patterns: Sequence[re.Pattern[str]]) -> Iterator[str]:
    """Describe the patterns that a text does not match."""
    for pattern in patterns:
        try:
            with _time_limit(PATTERN_SECONDS):
                found = pattern.search(text)
        except TimeoutError:
            yield f"“{pattern.pattern}” takes more than {PATTERN_SECONDS:g} s to search; write a simpler pattern"
        else:
            if not found:
                yield f"misses “{pattern.pattern}”"


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise `TimeoutError` after some seconds. `re` looks at signals while it searches. Only for the main thread."""

    def stop(signum: int, frame: FrameType | None) -> None:
        raise TimeoutError

    handler_before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, handler_before)
