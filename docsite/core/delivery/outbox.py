"""The outbox: add deliveries with the row that they are about, claim those that are due, and store the results.

outbox.add_event_kind("support_request.created", render)
with transaction.atomic():
    request.save()
    outbox.add(project, "support_request.created", request.request_id, [Delivery.Channel.EMAIL])
"""

import random
from collections.abc import Callable, Collection, Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from docsite.core.background import leases
from docsite.core.delivery import mail
from docsite.core.delivery.messages import Message
from docsite.core.delivery.models import Delivery, DeliveryAttempt
from docsite.core.tenants.models import Project

LEASE = timedelta(minutes=3)  # longer than any attempt: the mail server may take 15 s for each of some eight steps
# Seconds after each failure until the next attempt: a little more than three days in all.
RETRY_SECONDS = (5, 60, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400)
MAX_ATTEMPTS = len(RETRY_SECONDS) + 1
_JITTER = 0.1  # of a delay, so that deliveries that failed together do not all return together
_MAX_RESULT = 200
_BATCH = 500


Render = Callable[[Delivery], Message | None]  # the message; None if the owner has removed the address
_kinds: dict[str, Render] = {}


def add_event_kind(name: str, render: Render) -> None:
    """Let the outbox deliver a kind of event. Apps call this when they start."""
    _kinds[name] = render


def render(delivery: Delivery) -> Message | None:
    """The message of a delivery; None without an address."""
    return _kinds[delivery.event](delivery)


def add(project: Project, event: str, subject: str, channels: Iterable[Delivery.Channel]) -> None:
    """Add a delivery for each channel, due at once. Call it in the transaction that stores the subject."""
    Delivery.objects.bulk_create(
        Delivery(project=project, event=event, subject=subject, channel=channel) for channel in channels
    )


def claim() -> Delivery | None:
    """Claim a delivery that is due, for this process alone; None if none is.

    A claim counts as an attempt, so that a delivery that kills its process is not tried forever. E-mail waits for a
    process that knows a mail server.
    """
    channels = [channel for channel in Delivery.Channel if channel != Delivery.Channel.EMAIL or mail.is_configured()]
    due = Delivery.objects.filter(due_at__lte=timezone.now(), event__in=_kinds, channel__in=channels)
    due = due.select_related("project", "webhook").order_by("due_at", "pk")
    while delivery := leases.claim(due, LEASE, attempt_count=F("attempt_count") + 1):
        delivery.refresh_from_db(fields=["attempt_count"])
        if delivery.attempt_count <= MAX_ATTEMPTS:
            return delivery
        finish(delivery, succeeded=False, result="The attempt did not end.")  # the process of its last one has died
    return None


def finish(delivery: Delivery, *, succeeded: bool, result: str) -> None:
    """Store the result of an attempt. After a failure, the delivery waits for its next attempt, if there is one left.

    Nothing changes if another process or a repetition has the delivery meanwhile.
    """
    changes: dict[str, Any] = {"state": Delivery.State.DELIVERED, "due_at": None}
    if not succeeded and delivery.attempt_count < MAX_ATTEMPTS:
        seconds = RETRY_SECONDS[delivery.attempt_count - 1] * random.uniform(1 - _JITTER, 1 + _JITTER)
        changes = {"due_at": timezone.now() + timedelta(seconds=seconds)}
    elif not succeeded:
        changes["state"] = Delivery.State.FAILED
    with transaction.atomic():
        if leases.release(delivery, **changes):
            DeliveryAttempt.objects.create(delivery=delivery, succeeded=succeeded, result=result[:_MAX_RESULT])
            if not succeeded and delivery.webhook_id:
                _postpone_others(delivery)


def drop(delivery: Delivery) -> None:
    """Delete a claimed delivery that nobody wants any more, unless another process has it."""
    leases.find_held(delivery).delete()


def _postpone_others(delivery: Delivery) -> None:
    """After a failure, postpone the other deliveries to the same webhook: they would hold up other receivers."""
    now = timezone.now()
    others = Delivery.objects.filter(webhook=delivery.webhook_id, due_at__lte=now)
    others.update(due_at=now + timedelta(seconds=RETRY_SECONDS[0]))


def repeat(delivery: Delivery) -> None:
    """Send a delivery again, now, with the same id, whatever became of it. It gets all its attempts again."""
    waiting = {"state": Delivery.State.WAITING, "due_at": timezone.now(), "attempt_count": 0}
    Delivery.objects.filter(pk=delivery.pk).update(**waiting, **leases.NOBODY)


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
