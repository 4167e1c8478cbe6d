"""The outbox: add deliveries with the row that they are about, claim those that are due, and store the results.

outbox.add_event_kind(EventKind("support_request.created", render))
with transaction.atomic():
    request.save()
    outbox.add(project, "support_request.created", request.request_id, [Delivery.Channel.EMAIL])
"""

import random
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from docsite.core.db import has_row
from docsite.core.delivery import mail
from docsite.core.delivery.messages import Message
from docsite.core.delivery.models import Delivery, DeliveryAttempt
from docsite.core.tenants.models import Project

LEASE_SECONDS = 180  # longer than any attempt: the mail server may take 15 s for each of some eight steps
# Seconds after each failure until the next attempt: a little more than three days in all.
RETRY_SECONDS = (5, 60, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
_JITTER = 0.1  # of a delay, so that deliveries that failed together do not all return together
_MAX_RESULT = 200
_BATCH = 500


@dataclass(frozen=True)
class EventKind:
    """A kind of event.

    `render` returns the message of a delivery. It returns None if the owner has removed the address.
    """

    name: str
    render: Callable[[Delivery], Message | None]


_kinds: dict[str, EventKind] = {}


def add_event_kind(kind: EventKind) -> None:
    """Let the outbox deliver a kind of event. Apps call this when they start."""
    _kinds[kind.name] = kind


def render(delivery: Delivery) -> Message | None:
    """The message of a delivery; None without an address."""
    return _kinds[delivery.event].render(delivery)


def add(project: Project, event: str, subject: str, channels: Iterable[Delivery.Channel]) -> None:
    """Add a delivery for each channel, due at once. Call it in the transaction that stores the subject."""
    Delivery.objects.bulk_create(
        Delivery(project=project, event=event, subject=subject, channel=channel) for channel in channels
    )


def is_due() -> bool:
    """Whether a delivery is due, so that it is worth calling `claim`. Cheap enough to ask every second."""
    waiting = f"state = '{Delivery.State.WAITING.value}'"  # as in the condition of the index
    return has_row(f"SELECT 1 FROM {Delivery._meta.db_table} WHERE {waiting} AND due_at <= %s LIMIT 1", timezone.now())


def claim() -> Delivery | None:
    """Claim a delivery that is due, for this process alone; None if none is.

    If several processes see the same row, one of them changes it, and the others find another `due_at`. A claim
    counts as an attempt, so that a delivery that kills its process is not tried forever. E-mail waits for a process
    that knows a mail server.
    """
    channels = [channel for channel in Delivery.Channel if channel != Delivery.Channel.EMAIL or mail.is_configured()]
    while True:
        now = timezone.now()
        due = Delivery.objects.filter(state=Delivery.State.WAITING, due_at__lte=now, event__in=_kinds)
        due = due.filter(channel__in=channels)
        delivery = due.select_related("project", "webhook").order_by("due_at", "pk").first()
        if delivery is None:
            return None
        if delivery.attempt_count > len(RETRY_SECONDS):  # the process of its last attempt has died
            finish(delivery, succeeded=False, result="The attempt did not end.")
            continue
        lease_end = now + timedelta(seconds=LEASE_SECONDS)
        unclaimed = Delivery.objects.filter(pk=delivery.pk, state=Delivery.State.WAITING, due_at=delivery.due_at)
        if unclaimed.update(due_at=lease_end, attempt_count=delivery.attempt_count + 1):
            delivery.due_at, delivery.attempt_count = lease_end, delivery.attempt_count + 1
            return delivery


def finish(delivery: Delivery, *, succeeded: bool, result: str) -> None:
    """Store the result of an attempt. After a failure, the delivery waits for its next attempt, if there is one left.

    Nothing changes if the lease has ended meanwhile, and another process or a repetition has the delivery.
    """
    changes: dict[str, Any]
    if succeeded:
        changes = {"state": Delivery.State.DELIVERED}
    elif delivery.attempt_count > len(RETRY_SECONDS):
        changes = {"state": Delivery.State.FAILED}
    else:
        seconds = RETRY_SECONDS[delivery.attempt_count - 1] * random.uniform(1 - _JITTER, 1 + _JITTER)
        changes = {"due_at": timezone.now() + timedelta(seconds=seconds)}
    with transaction.atomic():
        if _held(delivery).update(**changes):
            DeliveryAttempt.objects.create(delivery=delivery, succeeded=succeeded, result=result[:_MAX_RESULT])
            if not succeeded and delivery.webhook_id:
                _postpone_others(delivery)


def drop(delivery: Delivery) -> None:
    """Delete a claimed delivery that nobody wants any more, unless its lease has ended."""
    _held(delivery).delete()


def _held(delivery: Delivery) -> "QuerySet[Delivery]":
    """The row of a claimed delivery. None after the end of its lease."""
    return Delivery.objects.filter(pk=delivery.pk, state=Delivery.State.WAITING, due_at=delivery.due_at)


def _postpone_others(delivery: Delivery) -> None:
    """Let what else is due for a webhook that has failed wait a little, so that it does not hold up other receivers."""
    now = timezone.now()
    others = Delivery.objects.filter(webhook=delivery.webhook_id, state=Delivery.State.WAITING, due_at__lte=now)
    others.update(due_at=now + timedelta(seconds=RETRY_SECONDS[0]))


def repeat(delivery: Delivery) -> None:
    """Send a delivery again, now, with the same id, whatever became of it. It gets all its attempts again."""
    Delivery.objects.filter(pk=delivery.pk).update(state=Delivery.State.WAITING, due_at=timezone.now(), attempt_count=0)


def list_deliveries(project: Project, subject: str) -> list[Delivery]:
    """The deliveries of a subject with their attempts, oldest first."""
    found = Delivery.objects.filter(project=project, subject=subject)
    return list(found.prefetch_related("attempts"))


def delete_old(events: Collection[str], before: datetime) -> None:
    """Delete deliveries of some kinds of events that are older than a time, whatever became of them."""
    old = Delivery.objects.filter(event__in=events, created_at__lt=before)
    while batch := list(old.values_list("pk", flat=True)[:_BATCH]):
        Delivery.objects.filter(pk__in=batch).delete()


def discard(project_id: int, subject: str) -> None:
    """Delete the deliveries of a subject that is deleted, and what is known of their attempts."""
    with transaction.atomic():
        # Locked first: another process may be about to store an attempt.
        rows = Delivery.objects.select_for_update().filter(project=project_id, subject=subject)
        Delivery.objects.filter(pk__in=list(rows.values_list("pk", flat=True))).delete()
