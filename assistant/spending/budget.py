"""The limits of what the model servers may cost a project, and the notices about those that are nearly used up."""

import logging
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import Literal

from django.conf import settings

from assistant.models import BudgetNotice
from assistant.spending.budget_rows import Sums, read_use
from assistant.spending.model_prices import to_millionths
from docsite.core.tenants.models import Project

logger = logging.getLogger(__name__)

NOTICE_PERCENT = 80  # of a limit; then the owner gets a notice, and another when it is reached
NOTICE_PERCENTS = (NOTICE_PERCENT, 100)
PROJECT_REASON = "the project's {name} is reached"


@dataclass(frozen=True)
class BudgetLimit:
    """A limit of a project: how much is used of it, and its size, both in tokens or in millionths of the currency."""

    period: Literal["daily", "monthly"]
    field: Literal["tokens", "cost"]  # of `TokenUse`
    starts_on: date  # the first day of the period
    used: int
    size: int

    @property
    def name(self) -> str:
        """As owners and readers see it."""
        return f"{self.period} {self.field.removesuffix('s')} limit"

    @property
    def percent(self) -> int:
        """How much is used, rounded down."""
        return 100 * self.used // self.size if self.size else 100


def list_limits(project: Project, day: date | None = None) -> list[BudgetLimit]:
    """The limits of the operator and the owner, with what a project has used of each on that day and in its month.

    Of two limits in money the smaller one counts.
    """
    env, day = settings.ENV, day or today_utc()
    use = read_use(project.pk, day)
    daily_cost = _smaller(env.daily_cost_per_project, use.daily_cost_limit)
    monthly_cost = _smaller(env.monthly_cost_per_project, use.monthly_cost_limit)
    limits = _limits_of("daily", day, use.daily, env.daily_tokens_per_project, daily_cost)
    return limits + _limits_of("monthly", day.replace(day=1), use.monthly, env.monthly_tokens_per_project, monthly_cost)


def explain_denial(project: Project) -> str:
    """Why a project may ask no model today; empty if it may."""
    reached = [limit.name for limit in list_limits(project) if limit.used >= limit.size]
    return PROJECT_REASON.format(name=reached[0]) if reached else ""


def find_reached(project: Project) -> list[BudgetNotice]:
    """The notices about limits that are reached now: questions have been answered without a model because of them."""
    today = today_utc()
    starts = (today, today.replace(day=1))
    notices = list(BudgetNotice.objects.filter(project=project, percent=100, starts_on__in=starts).order_by("pk"))
    if not notices:  # as on most days
        return []
    current = {(limit.period, limit.field, limit.starts_on, limit.size) for limit in list_limits(project, today)}
    return [notice for notice in notices if (notice.period, notice.field, notice.starts_on, notice.size) in current]


def store_notice(project: Project, limit: BudgetLimit, percent: int) -> None:
    """Store that a percentage of a limit is used. A period has one notice for each limit, its size and percentage."""
    _, is_new = BudgetNotice.objects.get_or_create(
        project=project,
        period=limit.period,
        field=limit.field,
        starts_on=limit.starts_on,
        size=limit.size,
        percent=percent,
    )
    if is_new and percent == 100:
        logger.warning("Project %s has reached its %s.", project.domain, limit.name)
    elif is_new:
        logger.warning("Project %s has used %d %% of its %s.", project.domain, limit.percent, limit.name)


def _smaller(operator: float | None, owner: int | None) -> int | None:
    """The limit that counts, of the operator's and the owner's: the smaller one. None if there is neither.

    `operator` is in units of the currency, `owner` and the result in millionths of it.
    """
    sizes = [*([] if operator is None else [to_millionths(operator)]), *([] if owner is None else [owner])]
    return min(sizes, default=None)


def _limits_of(
    period: Literal["daily", "monthly"], start: date, used: Sums, tokens: int | None, cost: int | None
) -> list[BudgetLimit]:
    """The limits of a period, with what is used of each."""
    limits = [BudgetLimit(period, "tokens", start, used.tokens, tokens)] if tokens is not None else []
    if cost is not None:
        limits.append(BudgetLimit(period, "cost", start, used.cost, cost))
    return limits


def today_utc() -> date:
    """The day that limits count for."""
    return datetime.now(UTC).date()
