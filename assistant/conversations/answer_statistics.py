"""Counts, tokens, costs and times of answers, for reports.

An answer counts at the time when it was asked for. A question that was asked again has only its latest answer.
All queries read one index, `answer_facts`, and no text.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Aggregate, CharField, Count, Q, QuerySet, Sum

from assistant.conversations.outcomes import measure_rate
from assistant.models import Message
from docsite.core.tenants.models import Project
from docsite.core.workspace.reports.time_steps import Step, StepText


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


def summarize(project: Project, steps: Sequence[Step]) -> AnswerStatistics:
    """Sum up the answers of each step, and of all steps together.

    `steps`: at least one; each begins where the one before it ends.
    """
    whole = AnswerTotals(steps[0][0])
    totals_of = [AnswerTotals(start) for start, _ in steps]
    times: dict[tuple[str, int | None], list[str | None]] = defaultdict(list)  # of the whole range at None
    step_text = StepText("created_at", steps)
    by_step = _answers(project, steps[0][0], steps[-1][1]).annotate(step=step_text).order_by()
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
        at = step_text.find(text)
        for totals in (whole, totals_of[at]):
            totals.outcomes[outcome] += questions
            totals.prompt_tokens += prompt_tokens
            totals.completion_tokens += completion_tokens
            totals.cost += cost or 0
            totals.unpriced += unpriced
        for place in (at, None):
            times["first_token", place].append(first_token)
            times["total", place].append(total)
    of_place: list[tuple[int | None, AnswerTotals]] = [(None, whole), *enumerate(totals_of)]
    for place, totals in of_place:
        totals.first_token, totals.total = _measure(times["first_token", place]), _measure(times["total", place])
    return AnswerStatistics(whole, totals_of)


def count_outcomes(projects: Sequence[Project], start: datetime, end: datetime) -> list[Counter[str]]:
    """How many answers of a half-open range have each outcome, for each project in their order. It takes one query."""
    answers = Message.objects.filter(project__in=projects, outcome__isnull=False)
    counted = answers.filter(created_at__gte=start, created_at__lt=end).order_by().values_list("project", "outcome")
    found: dict[int, Counter[str]] = {project.pk: Counter() for project in projects}
    for number, outcome, questions in counted.annotate(questions=Count("*")):
        found[number][outcome] = questions
    return list(found.values())


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


def _measure(texts: Iterable[str | None]) -> Times | None:
    import numpy as np  # here: every process imports this module, few need it

    values = np.sort(np.fromstring(",".join(filter(None, texts)), dtype=np.int64, sep=","))
    return Times(*(int(values[math.ceil(len(values) * share) - 1]) for share in (0.5, 0.95))) if len(values) else None


class _NumberList(Aggregate):
    """All numbers of a group as one text, with commas: a row for each number would take twice as long."""

    function = "GROUP_CONCAT"
    output_field = CharField()

    def as_postgresql(self, compiler: Any, connection: Any, **more: Any) -> Any:
        """PostgreSQL has another name for it."""
        return self.as_sql(compiler, connection, template="STRING_AGG(%(expressions)s::text, ',')", **more)
