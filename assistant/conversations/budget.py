"""What answers use of their project's budget: tokens and money of a day and of a month (UTC).

Before a model is asked, the most that the request may use is reserved. When the answer has ended, what it
really used is charged to the day on which it began. A request that does not fit beside what is charged and
reserved is not sent. All of this happens while the project's row of the day is locked, so that it is exact
between processes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import F, Min, Q, QuerySet, Sum
from django.utils import timezone
from django.utils.crypto import salted_hmac

from assistant.conversations.budget_limits import (
    NOTICE_PERCENT,
    PROJECT_REASON,
    list_limits,
    store_notice,
    today_utc,
)
from assistant.models import BudgetNotice, TokenReservation, TokenUse
from assistant.prices import NOTHING, Charge
from docsite.core.tenants.models import Project

SAVE_MARGIN_SECONDS = 60.0
KEEP_NOTICES_DAYS = 62  # from the first day of their period

NO_PRICE_REASON = "no price is set for the model, and the project has a cost limit"
ADDRESS_REASON = "this address has used its share of the project's daily budget"


@dataclass
class AnswerBudget:
    """What one answer has reserved of its project's budget. `network` is the asker's (see `network_of`).

    Staff has none: only readers have a share of the day for each address.
    """

    project: Project
    network: str = ""
    reservation_id: int | None = None
    day: date = date.min  # on which it began
    reserved: Charge = NOTHING
    refusal: str = ""  # why the last reservation was not possible

    def covers(self, most: Charge) -> bool:
        """Whether so much is reserved already."""
        old = self.reserved
        return most.tokens <= old.tokens and most.cost <= old.cost and most.unpriced_tokens <= old.unpriced_tokens

    def reserve(self, most: Charge, sent: Charge) -> str:
        """Reserve the most that the whole answer may use. Returns why that is not possible; empty where it is.

        `sent` is charged if the process is killed now: the prompt may be paid for already.
        """
        today = today_utc()
        with transaction.atomic():
            reservation = (
                TokenReservation.objects.filter(pk=self.reservation_id).first() if self.reservation_id else None
            )
            day = reservation.day if reservation else today
            _lock(self.project, day)
            address = reservation.address if reservation else hash_address(self.network, day)
            self.refusal = _explain_refusal(self.project, day, address, most, besides=self.reservation_id or 0)
            if self.refusal:
                return self.refusal
            values = {"reserved_tokens": most.tokens, "reserved_cost": most.cost, **_describe_use(sent)}
            if reservation:
                TokenReservation.objects.filter(pk=reservation.pk).update(**values)
            else:
                reservation = TokenReservation.objects.create(project=self.project, day=day, address=address, **values)
        self.reservation_id, self.day = reservation.pk, day
        self.reserved = most
        return ""

    def record(self, used: Charge, *, ended: bool) -> None:
        """Store what the answer has used so far; at its end, charge it and give the rest back.

        It can be repeated. In a transaction with other answers, keep the order of `lock_order`.
        """
        if self.reservation_id is None:
            return
        values = _describe_use(used)
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
            had_expired = not reservation.reserved_tokens  # then its use is charged already
            earlier = _amounts_of(reservation) if had_expired else _Amounts(0, 0, 0)
            _add(
                self.project,
                _Amounts(*(now - then for now, then in zip(_amounts(used), earlier, strict=True))),
                reservation.day,
            )
            own.update(**values, reserved_tokens=0, reserved_cost=0)

    def lock_order(self, *, ended: bool) -> tuple[bool, int, date]:
        """The order of answers in one transaction, in which two processes cannot deadlock."""
        return (not ended, self.project.pk, self.day)


def charge(project: Project, used: Charge) -> None:
    """Add to what a project has used today."""
    _add(project, _amounts(used), today_utc())


def sweep() -> None:
    """Charge what killed processes left reserved, and delete the reservations of days before yesterday."""
    today, now = today_utc(), timezone.now()
    expired = TokenReservation.objects.filter(day__lt=today, expires_at__lt=now, reserved_tokens__gt=0)
    for project_id, day in sorted(set(expired.values_list("project", "day"))):
        with transaction.atomic():
            project = Project.objects.get(pk=project_id)
            _lock(project, day)
            _charge_expired(project, expired.filter(project=project, day=day))
    TokenReservation.objects.filter(day__lt=today - timedelta(days=1), reserved_tokens=0).delete()
    BudgetNotice.objects.filter(starts_on__lt=today - timedelta(days=KEEP_NOTICES_DAYS)).delete()


def hash_address(network: str, day: date) -> str:
    """A keyed hash of an address that nobody can connect with that of another day."""
    return salted_hmac("token-share", f"{day} {network}", algorithm="sha256").hexdigest()[:32] if network else ""


class _Amounts(NamedTuple):
    """What is added to a day."""

    tokens: int
    cost: int
    unpriced_tokens: int


def _amounts(used: Charge) -> _Amounts:
    return _Amounts(used.tokens, used.cost, used.unpriced_tokens)


def _amounts_of(reservation: TokenReservation) -> _Amounts:
    return _Amounts(reservation.used_tokens, reservation.used_cost, reservation.unpriced_tokens)


def _describe_use(used: Charge) -> dict[str, Any]:
    """The columns of a reservation that say what its answer has used."""
    return {
        "used_tokens": used.tokens,
        "used_cost": used.cost,
        "unpriced_tokens": used.unpriced_tokens,
        "expires_at": _expiry(),
    }


def _add(project: Project, added: _Amounts, day: date) -> None:
    """Add to what a project has used on a day, and store a notice of each limit that needs one."""
    if not any(added):
        return
    with transaction.atomic(savepoint=False):
        use = _lock(project, day)
        before = list_limits(project, day)
        TokenUse.objects.filter(pk=use.pk).update(**{name: F(name) + value for name, value in added._asdict().items()})
        for limit in before:
            used = replace(limit, used=limit.used + getattr(added, limit.field))
            crossed = [percent for percent in (NOTICE_PERCENT, 100) if limit.percent < percent <= used.percent]
            if crossed:
                store_notice(project, used, crossed[-1])


def _explain_refusal(project: Project, day: date, address: str, most: Charge, besides: int) -> str:
    """Why so much more cannot be reserved; empty if it can. The row of the day is locked.

    `besides`: a reservation that it replaces.
    """
    running = TokenReservation.objects.filter(project=project, reserved_tokens__gt=0).exclude(pk=besides)
    if (running.filter(day=day).aggregate(first=Min("expires_at"))["first"] or timezone.now()) < timezone.now():
        _charge_expired(project, running.filter(day=day))
    asked, limits = {"tokens": most.tokens, "cost": most.cost}, list_limits(project, day)
    if most.unpriced_tokens and any(limit.field == "cost" for limit in limits):
        return NO_PRICE_REASON
    for limit in limits:
        since_start = running.filter(day__gte=limit.starts_on)
        reserved = since_start.aggregate(sum=Sum(f"reserved_{limit.field}", default=0))["sum"]
        if limit.used + asked[limit.field] > limit.size:
            store_notice(project, limit, 100)
        if limit.used + reserved + asked[limit.field] > limit.size:
            return PROJECT_REASON.format(name=limit.name)
    daily: dict[str, int] = {limit.field: limit.size for limit in limits if limit.period == "daily"}
    return _explain_address_refusal(project, day, address, asked, daily, besides) if address else ""


def _explain_address_refusal(
    project: Project, day: date, address: str, asked: dict[str, int], sizes: Mapping[str, int], besides: int
) -> str:
    """Why an address cannot have so much more of a day; empty if it can. Its first question is never refused.

    `sizes`: of the limits of the day.
    """
    own = TokenReservation.objects.filter(project=project, day=day, address=address).exclude(pk=besides)
    is_charged = Q(reserved_tokens=0)
    totals = own.aggregate(
        tokens=Sum("reserved_tokens", default=0) + Sum("used_tokens", filter=is_charged, default=0),
        cost=Sum("reserved_cost", default=0) + Sum("used_cost", filter=is_charged, default=0),
    )
    if not any(totals.values()):
        return ""
    for field, size in sizes.items():
        if totals[field] + asked[field] > size * settings.ENV.daily_percent_per_address // 100:
            return ADDRESS_REASON
    return ""


def _charge_expired(project: Project, reservations: "QuerySet[TokenReservation]") -> None:
    """Charge what answers of killed processes had used, and give the rest back. Their day is locked."""
    for reservation in reservations.filter(expires_at__lt=timezone.now(), reserved_tokens__gt=0):
        _add(project, _amounts_of(reservation), reservation.day)
        TokenReservation.objects.filter(pk=reservation.pk).update(reserved_tokens=0, reserved_cost=0)


def _lock(project: Project, day: date) -> TokenUse:
    uses = TokenUse.objects.select_for_update()
    day_use = uses.filter(project=project, day=day).first()
    return day_use or uses.get(pk=TokenUse.objects.get_or_create(project=project, day=day)[0].pk)


def _expiry() -> datetime:
    """When a reservation expires: later than two models may answer one after the other, and be saved."""
    return timezone.now() + timedelta(seconds=2 * settings.ENV.openai_answer_seconds + SAVE_MARGIN_SECONDS)
