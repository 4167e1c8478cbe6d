"""Counts, tokens, costs and times of answers, for reports.

An answer counts at the time when it was asked for. A question that was asked again has only its latest answer.
All queries read one index, `answer_facts`, and no text.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, NamedTuple

from django.db.models import Aggregate, CharField, Count, Func, Q, QuerySet, Sum

from assistant.conversations.outcomes import measure_rate
from assistant.models import Message
from docsite.core.tenants.models import Project

Step = Literal["hour", "day"]

_STEPS: dict[Step, tuple[timedelta, int, str]] = {  # length, characters of an ISO time, and its format in PostgreSQL
    "hour": (timedelta(hours=1), 13, "YYYY-MM-DD HH24"),
    "day": (timedelta(days=1), 10, "YYYY-MM-DD"),
}


class Times(NamedTuple):
    """The median and the 95th percentile, in milliseconds."""

    p50: int
    p95: int


@dataclass
class AnswerTotals:
    """The answers of a step, or of the whole range. `cost` is in millionths of the currency of the prices.

    The times are None if no answer has one. `first_token` is that of the first text, `total` that of the end.
    """

    start: datetime
    outcomes: Counter[str] = field(default_factory=Counter)
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: int = 0
    unpriced: int = 0  # answers of models without a price
    first_token: Times | None = None
    total: Times | None = None

    @property
    def questions(self) -> int:
        """All questions, also those whose answer still runs."""
        return self.outcomes.total()

    @property
    def ended(self) -> int:
        """The questions whose answer has ended, as the report of questions counts them."""
        return self.questions - self.outcomes["running"]

    @property
    def answered_rate(self) -> float | None:
        """The share of answered questions (0..1), without greetings and running answers. None without questions."""
        return measure_rate(self.outcomes)


@dataclass(frozen=True)
class AnswerStatistics:
    """The totals of a range, and of each of its steps, also of those without questions."""

    whole: AnswerTotals
    steps: list[AnswerTotals]


def summarize(project: Project, start: datetime, end: datetime, step: Step) -> AnswerStatistics:
    """Summarize the answers of a half-open range, by hours or days (UTC). The first and the last step may be cut."""
    whole = AnswerTotals(start)
    steps = {at: AnswerTotals(at) for at in _list_steps(start, end, step)}
    times: dict[tuple[str, datetime | None], list[str | None]] = defaultdict(list)  # of the whole range at None
    by_step = _answers(project, start, end).annotate(step=StepStart("created_at", step=step)).order_by()
    rows = by_step.values_list("step", "outcome").annotate(
        questions=Count("*"),
        sum_of_prompt_tokens=Sum("prompt_tokens"),
        sum_of_completion_tokens=Sum("completion_tokens"),
        sum_of_cost=Sum("cost"),
        unpriced=Count("total_ms", filter=Q(cost=None)),
        first_token=_NumberList("first_token_ms"),
        total=_NumberList("total_ms"),
    )
    for text, outcome, questions, prompt_tokens, completion_tokens, cost, unpriced, first_token, total in rows:
        at = _parse(text)
        for totals in (whole, steps[at]):
            totals.outcomes[outcome] += questions
            totals.prompt_tokens += prompt_tokens
            totals.completion_tokens += completion_tokens
            totals.cost += cost or 0
            totals.unpriced += unpriced
        for place in (at, None):
            times["first_token", place].append(first_token)
            times["total", place].append(total)
    of_place: list[tuple[datetime | None, AnswerTotals]] = [(None, whole), *steps.items()]
    for place, totals in of_place:
        totals.first_token, totals.total = _measure(times["first_token", place]), _measure(times["total", place])
    return AnswerStatistics(whole, list(steps.values()))


def count_outcomes(project: Project, start: datetime, end: datetime) -> Counter[str]:
    """Count the questions of a half-open range by outcome."""
    answers = _answers(project, start, end).order_by()
    return Counter(dict(answers.values_list("outcome").annotate(questions=Count("*"))))


def count_callers(project: Project, start: datetime, end: datetime) -> Counter[str]:
    """Count the questions of a half-open range whose answer has ended, by `Message.Caller`."""
    answers = _answers(project, start, end).exclude(outcome=Message.Outcome.RUNNING).order_by()
    return Counter(dict(answers.values_list("caller").annotate(questions=Count("*"))))


def find_first_time(project: Project) -> datetime | None:
    """When the first answer with times, model and cost was stored. Earlier answers do not have them."""
    complete = _answers(project).filter(total_ms__isnull=False).order_by("created_at")
    return complete.values_list("created_at", flat=True).first()


def _answers(project: Project, start: datetime | None = None, end: datetime | None = None) -> QuerySet[Message]:
    answers = Message.objects.filter(project=project, outcome__isnull=False)
    return answers.filter(created_at__gte=start, created_at__lt=end) if start and end else answers


def _list_steps(start: datetime, end: datetime, step: Step) -> Iterable[datetime]:
    length, characters, _ = _STEPS[step]
    at = _parse(start.astimezone(UTC).isoformat(" ")[:characters])
    while at < end:
        yield at
        at += length


def _parse(step: str) -> datetime:
    return datetime.fromisoformat(step).replace(tzinfo=UTC)


def _measure(texts: Iterable[str | None]) -> Times | None:
    import numpy as np  # here: every process imports this module, few need it

    values = np.sort(np.fromstring(",".join(filter(None, texts)), dtype=np.int64, sep=","))
    return Times(*(int(values[math.ceil(len(values) * share) - 1]) for share in (0.5, 0.95))) if len(values) else None


class StepStart(Func):
    """The beginning of an ISO time in UTC, such as `2026-11-23 15`. On SQLite, Django's own function is in Python."""

    output_field = CharField()

    def __init__(self, column: str, step: Step) -> None:
        super().__init__(column)
        self.step = step

    def as_sqlite(self, compiler: Any, connection: Any, **more: Any) -> Any:
        """Cut the stored text."""
        return self.as_sql(compiler, connection, template=f"SUBSTR(%(expressions)s, 1, {_STEPS[self.step][1]})", **more)

    def as_postgresql(self, compiler: Any, connection: Any, **more: Any) -> Any:
        """Format the stored time."""
        template = f"TO_CHAR(%(expressions)s AT TIME ZONE 'UTC', '{_STEPS[self.step][2]}')"
        return self.as_sql(compiler, connection, template=template, **more)


class _NumberList(Aggregate):
    """All numbers of a group as one text, with commas: a row for each number would take twice as long."""

    function = "GROUP_CONCAT"
    output_field = CharField()

    def as_postgresql(self, compiler: Any, connection: Any, **more: Any) -> Any:
        """PostgreSQL has another name for it."""
        return self.as_sql(compiler, connection, template="STRING_AGG(%(expressions)s::text, ',')", **more)
