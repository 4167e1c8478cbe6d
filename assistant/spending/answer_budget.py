"""What answers use of their project's budget: tokens and money of a day and of a month (UTC).

Before a model is asked, the most that the request may use is reserved. When the answer has ended, what it
really used is charged to the day on which it began. A request that does not fit beside what is charged and
reserved is not sent. All of this happens while the project's row of the day is locked, so that it is exact
between processes.
"""

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac

from assistant.models import BudgetNotice, TokenReservation
from assistant.spending import budget_rows as rows
from assistant.spending.budget import NOTICE_PERCENTS, PROJECT_REASON, list_limits, store_notice, today_utc
from assistant.spending.budget_rows import Amounts, Sums
from assistant.spending.prices import NOTHING, Charge
from docsite.core.tenants.models import Project

SAVE_MARGIN_SECONDS = 60.0
KEEP_NOTICES_DAYS = 62  # from the first day of their period

NO_PRICE_REASON = "the project's cost limit needs a price for the model"
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
    denial: str = ""  # why the last reservation was not possible

    def covers(self, most: Charge) -> bool:
        """Whether so much is reserved already."""
        old = self.reserved
        return most.tokens <= old.tokens and most.cost <= old.cost and most.unpriced_tokens <= old.unpriced_tokens

    def reserve(self, most: Charge, sent: Charge) -> str:
        """Reserve the most that the whole answer may use. Returns why that is not possible; empty where it is.

        `sent` is charged if the process is killed now: the prompt may be paid for already.
        """
        with transaction.atomic():
            pk = self.reservation_id or 0
            reservation = rows.read_reservation(pk) if pk else None
            day = reservation.day if reservation else today_utc()
            rows.lock_day(self.project.pk, day)
            address = reservation.address if reservation else hash_address(self.network, day)
            self.denial = _explain_denial(self.project, day, address, most, besides=pk)
            if self.denial:
                return self.denial
            reserved = most.tokens, most.cost
            if reservation:
                rows.change_reservation(pk, reserved, _amounts(sent), _expiry())
            else:
                pk = rows.add_reservation(self.project.pk, day, address, reserved, _amounts(sent), _expiry())
        self.reservation_id, self.day = pk, day
        self.reserved = most
        return ""

    def record(self, used: Charge, *, ended: bool) -> None:
        """Store what the answer has used so far; at its end, charge it and give the rest back.

        It can be repeated. In a transaction with other answers, keep the order of `lock_order`.
        """
        if self.reservation_id is None:
            return
        pk, amounts = self.reservation_id, _amounts(used)
        if not ended:
            rows.note_use(pk, amounts, _expiry())
            return
        with transaction.atomic(savepoint=False):
            is_locked = rows.lock_existing_day(self.project.pk, self.day)
            reservation = rows.read_reservation(pk)
            if reservation is None:  # the project is deleted, and so no row for the day may be created
                return
            if not is_locked:
                rows.lock_day(self.project.pk, self.day)
                reservation = rows.read_reservation(pk) or reservation
            had_expired = not reservation.reserved_tokens  # then its use is charged already
            earlier = reservation.used if had_expired else Amounts(0, 0, 0)
            _add(self.project, Amounts(*(now - then for now, then in zip(amounts, earlier, strict=True))), self.day)
            rows.change_reservation(pk, (0, 0), amounts, _expiry())

    def lock_order(self, *, ended: bool) -> tuple[bool, int, date]:
        """The order of answers in one transaction, in which two processes cannot deadlock."""
        return (not ended, self.project.pk, self.day)


def charge(project: Project, used: Charge) -> None:
    """Add to what a project has used today."""
    if any(amounts := _amounts(used)):
        with transaction.atomic():
            day = today_utc()
            rows.lock_day(project.pk, day)
            _add(project, amounts, day)


def sweep() -> None:
    """Charge what killed processes left reserved, and delete the reservations of days before yesterday."""
    today, now = today_utc(), timezone.now()
    expired = TokenReservation.objects.filter(day__lt=today, expires_at__lt=now, reserved_tokens__gt=0)
    for project_id, day in sorted(set(expired.values_list("project", "day"))):
        with transaction.atomic():
            project = Project.objects.get(pk=project_id)
            rows.lock_day(project.pk, day)
            _charge_expired(project, expired.filter(project=project, day=day))
    TokenReservation.objects.filter(day__lt=today - timedelta(days=1), reserved_tokens=0).delete()
    BudgetNotice.objects.filter(starts_on__lt=today - timedelta(days=KEEP_NOTICES_DAYS)).delete()


def hash_address(network: str, day: date) -> str:
    """A keyed hash of an address that nobody can connect with that of another day."""
    return salted_hmac("token-share", f"{day} {network}", algorithm="sha256").hexdigest()[:32] if network else ""


def _amounts(used: Charge) -> Amounts:
    return Amounts(used.tokens, used.cost, used.unpriced_tokens)


def _add(project: Project, added: Amounts, day: date) -> None:
    """Add to what a project has used on a day, which is locked, and store a notice of each limit that needs one."""
    if not any(added):
        return
    before = list_limits(project, day)
    rows.add_to_day(project.pk, day, added)
    for limit in before:
        used = replace(limit, used=limit.used + getattr(added, limit.field))
        crossed = [percent for percent in NOTICE_PERCENTS if limit.percent < percent <= used.percent]
        if crossed:
            store_notice(project, used, crossed[-1])


def _explain_denial(project: Project, day: date, address: str, most: Charge, besides: int) -> str:
    """Why so much more cannot be reserved; empty if it can. The row of the day is locked.

    `besides`: a reservation that it replaces.
    """
    reserved = rows.read_reserved(project.pk, day, address, timezone.now(), besides)
    if reserved.has_expired:
        _charge_expired(project, TokenReservation.objects.filter(project=project, day=day).exclude(pk=besides))
        reserved = rows.read_reserved(project.pk, day, address, timezone.now(), besides)
    asked, limits = Sums(most.tokens, most.cost), list_limits(project, day)
    if most.unpriced_tokens and any(limit.field == "cost" for limit in limits):
        return NO_PRICE_REASON
    for limit in limits:
        more = getattr(asked, limit.field)
        if limit.used + more > limit.size:
            store_notice(project, limit, 100)
        if limit.used + getattr(getattr(reserved, limit.period), limit.field) + more > limit.size:
            return PROJECT_REASON.format(name=limit.name)
    if any(reserved.address):  # the first question of an address is never refused
        for limit in limits:
            share = limit.size * settings.ENV.daily_percent_per_address // 100
            of_address = getattr(reserved.address, limit.field) + getattr(asked, limit.field)
            if limit.period == "daily" and of_address > share:
                return ADDRESS_REASON
    return ""


def _charge_expired(project: Project, reservations: "QuerySet[TokenReservation]") -> None:
    """Charge what answers of killed processes had used, and give the rest back. Their day is locked."""
    for reservation in reservations.filter(expires_at__lt=timezone.now(), reserved_tokens__gt=0):
        used = Amounts(reservation.used_tokens, reservation.used_cost, reservation.unpriced_tokens)
        _add(project, used, reservation.day)
        TokenReservation.objects.filter(pk=reservation.pk).update(reserved_tokens=0, reserved_cost=0)


def _expiry() -> datetime:
    """When a reservation expires: later than two models may answer one after the other, and be saved."""
    return timezone.now() + timedelta(seconds=2 * settings.ENV.openai_answer_seconds + SAVE_MARGIN_SECONDS)
