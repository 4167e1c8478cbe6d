"""Scores an answer: does it cite the pages, tell the fact, refuse where it should?"""

import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from assistant.answering.record import Outcome
from assistant.answering.translations import ENGLISH, OTHER_LANGUAGES
from assistant.improving.golden_questions.judge import Verdict
from assistant.models import GoldenQuestion
from docsite.core.tenants.models import Project

_LINK_TARGET = re.compile(r"\]\((?:[^()\s]|\([^()]*\))*\)")
_MARKUP = re.compile(r"[`*\\]")
_PLAIN_QUOTES = str.maketrans("’‘“”", "''\"\"")
_FURTHER_PAGES = re.compile(
    "|".join(rf"\n{re.escape(phrases.see_also)}\n" for phrases in (ENGLISH, *OTHER_LANGUAGES.values()))
)


@dataclass(frozen=True)
class Row:
    """A question's answer and its scores, as they are stored.

    `fact` and `page` are None where the question has no fact or no pages. `missed` says in a few words each what is
    wrong. `tokens` are those charged, without those of the judge. `verdict` is empty where no judge was asked, or none
    answered: `judgement` says why.
    """

    question: str
    answerable: bool
    right: bool
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


def score(
    question: GoldenQuestion, project: Project, outcome: Outcome, seconds: float, judged: Verdict | None = None
) -> Row:
    """Score an answer. It counts as refused when it cites nothing. A judge's verdict decides whether it tells the fact.

    Without a verdict it must have the words of the fact.
    """
    answer = _FURTHER_PAGES.split(outcome.text)[0]
    cited = [project.path_of(source.url) for source in outcome.sources]
    has_failed, judged = outcome.state != "done", judged or Verdict("", "")
    page = question.is_cited_in(cited) if question.paths else None
    tells = None
    if judged.verdict:
        tells = judged.verdict == ("right" if question.is_answerable else "refused")
    elif question.fact:
        tells = bool(cited) and normalize(question.fact) in normalize(answer)
    if question.is_answerable:
        is_right = bool(cited) and page is not False and tells is not False
    else:
        is_right = not cited or bool(tells)
    row = Row(
        question.text,
        question.is_answerable,
        right=is_right and not has_failed,
        fact=tells if question.fact else None,
        page=page,
        refused=not cited and not has_failed,
        failed=has_failed,
        rung=outcome.rung,
        reason=outcome.reason,
        verdict=judged.verdict,
        judgement=judged.reason,
        judge_tokens=judged.charge.tokens,
        cited=cited,
        words=len(answer.split()),
        tokens=outcome.charge.tokens,
        seconds=round(seconds, 3),
        text=outcome.text,
    )
    row.missed.extend(_describe_misses(question, row))
    return row


def _describe_misses(question: GoldenQuestion, row: Row) -> Iterator[str]:
    if row.failed:
        yield f"failed: {row.reason}"
    elif row.refused == row.answerable and not row.right:
        yield "wrongly refused" if row.refused else "should be refused"
    elif row.cited:
        if row.page is False:
            yield f"cites {', '.join(row.cited)}"
        if row.fact is False and not row.verdict:
            yield f"misses “{question.fact}”"
    if row.judgement and not row.verdict:
        yield f"not judged: {row.judgement}"
    elif row.verdict and row.verdict != ("right" if row.answerable else "refused"):
        yield f"{row.verdict}: {row.judgement}" if row.judgement else row.verdict


def normalize(text: str) -> str:
    """A text without what does not matter: in lower case, no markup, no addresses, plain quotes, single blanks."""
    visible = _LINK_TARGET.sub("]", text).translate(_PLAIN_QUOTES)
    return " ".join(_MARKUP.sub("", visible).split()).lower()
