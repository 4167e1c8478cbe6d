"""What the model servers may cost a project: tokens and money of a day and of a month (UTC).

Before a model is asked, the most that the request may use is reserved. When the answer has ended, what it
really used is charged to the day on which it began. A request that does not fit beside what is charged and
reserved is not sent. All of this happens while the project's row of the day is locked, so that it is exact
between processes.
"""

import logging
import math
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from django.conf import settings
from django.db import transaction
from django.db.models import F, Min, Q, QuerySet, Sum
from django.utils import timezone
from django.utils.crypto import salted_hmac

from assistant.models import TokenReservation, TokenUse
from docsite.core.tenants.models import Project

logger = logging.getLogger(__name__)

NOTICE_PERCENT = 80  # of a limit; then the owner gets a notice
SAVE_MARGIN_SECONDS = 60.0

PROJECT_REASON = "the project's {name} is reached"
ADDRESS_REASON = "this address has used its share of the project's daily budget"


@dataclass(frozen=True)
class BudgetLimit:
    """A limit of a project: how much is used of it, and its size, both in tokens or in millionths of the currency."""

    period: Literal["daily", "monthly"]
    field: Literal["tokens", "cost"]  # of `TokenUse`
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


@dataclass
class AnswerBudget:
    """What one answer has reserved of its project's budget. `network` is the asker's (see `network_of`).

    Staff has none: only readers have a share of the day for each address.
    """

    project: Project
    network: str = ""
    reservation_id: int | None = None
    day: date = date.min  # on which it began
    prompt_tokens: int = 0  # reserved
    reply_tokens: int = 0
    refusal: str = ""  # why the last reservation was not possible

    def covers(self, prompt_tokens: int, reply_tokens: int) -> bool:
        """Whether so many tokens are reserved already."""
        return prompt_tokens <= self.prompt_tokens and reply_tokens <= self.reply_tokens

    def reserve(self, prompt_tokens: int, reply_tokens: int) -> str:
        """Reserve so many tokens for the whole answer. Returns why that is not possible; empty where it is."""
        tokens, cost = prompt_tokens + reply_tokens, compute_cost(prompt_tokens, reply_tokens)
        today = _today()
        with transaction.atomic():
            reservation = (
                TokenReservation.objects.filter(pk=self.reservation_id).first() if self.reservation_id else None
            )
            day = reservation.day if reservation else today
            _lock(self.project, day)
            address = reservation.address if reservation else hash_address(self.network, day)
            self.refusal = _explain_refusal(self.project, day, address, tokens, cost, besides=self.reservation_id or 0)
            if self.refusal:
                return self.refusal
            values = {
                "reserved_tokens": tokens,
                "reserved_cost": cost,
                # If the process is killed now, the prompt may be paid for already.
                "used_tokens": prompt_tokens,
                "used_cost": compute_cost(prompt_tokens, 0),
                "expires_at": _expiry(),
            }
            if reservation:
                TokenReservation.objects.filter(pk=reservation.pk).update(**values)
            else:
                reservation = TokenReservation.objects.create(project=self.project, day=day, address=address, **values)
        self.reservation_id, self.day = reservation.pk, day
        self.prompt_tokens, self.reply_tokens = prompt_tokens, reply_tokens
        return ""

    def record(self, prompt_tokens: int, reply_tokens: int, *, ended: bool) -> None:
        """Store what the answer has used so far; at its end, charge it and give the rest back.

        It can be repeated. In a transaction with other answers, keep the order of `lock_order`.
        """
        if self.reservation_id is None:
            return
        used_tokens, used_cost = prompt_tokens + reply_tokens, compute_cost(prompt_tokens, reply_tokens)
        values = {"used_tokens": used_tokens, "used_cost": used_cost, "expires_at": _expiry()}
        own = TokenReservation.objects.filter(pk=self.reservation_id)
        if not ended:
            own.filter(reserved_tokens__gt=0).update(**values)
            return
        with transaction.atomic(savepoint=False):
            reservation = own.first()
            if reservation is None:  # the project is deleted
                return
            _lock(self.project, reservation.day)
            reservation.refresh_from_db()
            is_charged = not reservation.reserved_tokens  # it had expired
            charge(
                self.project,
                used_tokens - (reservation.used_tokens if is_charged else 0),
                used_cost - (reservation.used_cost if is_charged else 0),
                reservation.day,
            )
            own.update(**values, reserved_tokens=0, reserved_cost=0)

    def lock_order(self, *, ended: bool) -> tuple[bool, int, date]:
        """The order of answers in one transaction, in which two processes cannot deadlock."""
        return (not ended, self.project.pk, self.day)


def compute_cost(prompt_tokens: int, reply_tokens: int) -> int:
    """What so many tokens cost, in millionths of the currency of the prices, rounded up."""
    env = settings.ENV
    return math.ceil(prompt_tokens * env.openai_input_price + reply_tokens * env.openai_output_price)


def charge(project: Project, tokens: int, cost: int, day: date | None = None) -> None:
    """Add to what a project has used on a day, today by default."""
    if not tokens and not cost:
        return
    with transaction.atomic(savepoint=False):
        use = _lock(project, day or _today())
        before = list_limits(project, use.day)
        TokenUse.objects.filter(pk=use.pk).update(tokens=F("tokens") + tokens, cost=F("cost") + cost)
    for limit in before:
        added = tokens if limit.field == "tokens" else cost
        used = replace(limit, used=limit.used + added)
        if limit.percent < NOTICE_PERCENT <= used.percent:
            logger.warning("Project %s has used %d %% of its %s.", project.domain, used.percent, limit.name)


def list_limits(project: Project, day: date | None = None) -> list[BudgetLimit]:
    """The limits that are configured, with what a project has used of each on that day and in its month."""
    env, day = settings.ENV, day or _today()
    daily = TokenUse.objects.filter(project=project, day=day)
    limits = _limits_of(daily, "daily", env.daily_tokens_per_project, env.daily_cost_per_project)
    if env.monthly_tokens_per_project is not None or env.monthly_cost_per_project is not None:
        monthly = TokenUse.objects.filter(project=project, day__gte=day.replace(day=1), day__lte=day)
        limits += _limits_of(monthly, "monthly", env.monthly_tokens_per_project, env.monthly_cost_per_project)
    return limits


def explain_refusal(project: Project) -> str:
    """Why a project may ask no model today; empty if it may."""
    reached = [limit.name for limit in list_limits(project) if limit.used >= limit.size]
    return PROJECT_REASON.format(name=reached[0]) if reached else ""


def sweep() -> None:
    """Charge what killed processes left reserved, and delete the reservations of days before yesterday."""
    today, now = _today(), timezone.now()
    expired = TokenReservation.objects.filter(day__lt=today, expires_at__lt=now, reserved_tokens__gt=0)
    for project_id, day in sorted(set(expired.values_list("project", "day"))):
        with transaction.atomic():
            project = Project.objects.get(pk=project_id)
            _lock(project, day)
            _charge_expired(project, expired.filter(project=project, day=day))
    TokenReservation.objects.filter(day__lt=today - timedelta(days=1), reserved_tokens=0).delete()


def hash_address(network: str, day: date) -> str:
    """A keyed hash of an address that nobody can connect with that of another day."""
    return salted_hmac("token-share", f"{day} {network}", algorithm="sha256").hexdigest()[:32] if network else ""


def _limits_of(
    uses: "QuerySet[TokenUse]", period: Literal["daily", "monthly"], tokens: int | None, cost: float | None
) -> list[BudgetLimit]:
    if tokens is None and cost is None:
        return []
    used = uses.aggregate(tokens=Sum("tokens", default=0), cost=Sum("cost", default=0))
    limits = [BudgetLimit(period, "tokens", used["tokens"], tokens)] if tokens is not None else []
    if cost is not None:
        limits.append(BudgetLimit(period, "cost", used["cost"], round(cost * 1_000_000)))
    return limits


def _explain_refusal(project: Project, day: date, address: str, tokens: int, cost: int, besides: int) -> str:
    """Why so much more cannot be reserved; empty if it can. The row of the day is locked.

    `besides`: a reservation that it replaces.
    """
    running = TokenReservation.objects.filter(project=project, reserved_tokens__gt=0).exclude(pk=besides)
    if (running.filter(day=day).aggregate(first=Min("expires_at"))["first"] or timezone.now()) < timezone.now():
        _charge_expired(project, running.filter(day=day))
    asked = {"tokens": tokens, "cost": cost}
    for limit in list_limits(project, day):
        begin = day if limit.period == "daily" else day.replace(day=1)
        reserved = running.filter(day__gte=begin).aggregate(sum=Sum(f"reserved_{limit.field}", default=0))["sum"]
        if limit.used + reserved + asked[limit.field] > limit.size:
            return PROJECT_REASON.format(name=limit.name)
    return _explain_address_refusal(project, day, address, asked, besides) if address else ""


def _explain_address_refusal(project: Project, day: date, address: str, asked: dict[str, int], besides: int) -> str:
    """Why an address cannot have so much more of a day; empty if it can. Its first question is never refused."""
    env = settings.ENV
    own = TokenReservation.objects.filter(project=project, day=day, address=address).exclude(pk=besides)
    is_charged = Q(reserved_tokens=0)
    totals = own.aggregate(
        tokens=Sum("reserved_tokens", default=0) + Sum("used_tokens", filter=is_charged, default=0),
        cost=Sum("reserved_cost", default=0) + Sum("used_cost", filter=is_charged, default=0),
    )
    if not any(totals.values()):
        return ""
    cost = env.daily_cost_per_project
    sizes = {"tokens": env.daily_tokens_per_project, "cost": None if cost is None else round(cost * 1_000_000)}
    for field, size in sizes.items():
        if size is not None and totals[field] + asked[field] > size * env.daily_percent_per_address // 100:
            return ADDRESS_REASON
    return ""


def _charge_expired(project: Project, reservations: "QuerySet[TokenReservation]") -> None:
    """Charge what answers of killed processes had used, and give the rest back. Their day is locked."""
    for reservation in reservations.filter(expires_at__lt=timezone.now(), reserved_tokens__gt=0):
        charge(project, reservation.used_tokens, reservation.used_cost, reservation.day)
        TokenReservation.objects.filter(pk=reservation.pk).update(reserved_tokens=0, reserved_cost=0)


def _lock(project: Project, day: date) -> TokenUse:
    uses = TokenUse.objects.select_for_update()
    day_use = uses.filter(project=project, day=day).first()
    return day_use or uses.get(pk=TokenUse.objects.get_or_create(project=project, day=day)[0].pk)


def _expiry() -> datetime:
    """When a reservation expires: later than two models may answer one after the other, and be saved."""
    return timezone.now() + timedelta(seconds=2 * settings.ENV.openai_answer_seconds + SAVE_MARGIN_SECONDS)


def _today() -> date:
    return datetime.now(UTC).date()
