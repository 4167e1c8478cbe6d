"""What the models have cost a project, by day and by month (UTC), as it was charged."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from django.db.models import Avg, Sum
from django.db.models.functions import TruncMonth

from assistant.models import Message, TokenUse
from docsite.core.tenants.models import Project

Step = Literal["day", "month"]
BY_MODEL = ("model", "second_model")  # rungs


@dataclass(frozen=True)
class Costs:
    """The tokens of a day or a month, and their cost in millionths of the currency of the prices.

    The cost does not include the unpriced tokens: those of models that had no price.
    """

    start: date
    tokens: int
    cost: int
    unpriced_tokens: int


def list_costs(project: Project, start: date, end: date, step: Step) -> list[Costs]:
    """The costs of the days from `start` to before `end`, the earliest first. Steps without tokens are left out."""
    uses = TokenUse.objects.filter(project=project, day__gte=start, day__lt=end, tokens__gt=0)
    if step == "day":
        rows = uses.order_by("day").values_list("day", "tokens", "cost", "unpriced_tokens")
        return [Costs(*row) for row in rows]
    sums = {f"sum_of_{name}": Sum(name) for name in ("tokens", "cost", "unpriced_tokens")}
    months = uses.annotate(month=TruncMonth("day")).order_by("month").values_list("month").annotate(**sums)
    return [Costs(*row) for row in months]


def sum_up(rows: list[Costs], start: date) -> Costs:
    """The costs of several steps together."""
    return Costs(
        start,
        sum(row.tokens for row in rows),
        sum(row.cost for row in rows),
        sum(row.unpriced_tokens for row in rows),
    )


def average_cost(project: Project, start: datetime, end: datetime) -> int | None:
    """What an answer of a model has cost on average, in millionths. None without answers whose cost is known."""
    answers = Message.objects.filter(
        project=project, outcome__isnull=False, created_at__gte=start, created_at__lt=end, rung__in=BY_MODEL
    )
    average = answers.exclude(outcome=Message.Outcome.RUNNING).aggregate(average=Avg("cost"))["average"]
    return None if average is None else round(average)
