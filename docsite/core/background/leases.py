"""Leases: only one process works on a row at a time. If it is killed, another takes over when the lease ends.

while job := leases.claim(Job.objects.filter(due_at__lte=timezone.now()).order_by("due_at"), LEASE):
    leases.release(job, due_at=None, result=work_on(job))

Each kind of work has a table of its own, since each finds what is due in its own way, and since one UPDATE of a row
then stores the result and ends the lease.
"""

import secrets
from datetime import timedelta
from typing import Any, TypeVar

from django.db import models, transaction
from django.db.models import Q, QuerySet
from django.utils import timezone

NOBODY: dict[str, Any] = {"holder": "", "leased_until": None}  # the columns of a row that nobody works on


class Leased(models.Model):
    """A row that one process at a time works on."""

    holder = models.CharField(
        max_length=16,
        blank=True,
        default="",
        db_default="",
        editable=False,
        help_text="Id of the claim that holds it. A process with another id has lost it.",
    )
    leased_until = models.DateTimeField(
        null=True, editable=False, help_text="From when on others may claim it. Empty: nobody holds it."
    )

    class Meta:
        abstract = True

    @property
    def is_held(self) -> bool:
        """Whether a process works on it now."""
        return self.leased_until is not None and self.leased_until > timezone.now()


Row = TypeVar("Row", bound=Leased)


def claim(rows: "QuerySet[Row]", lease: timedelta, **changes: Any) -> Row | None:
    """Claim the first of the rows that nobody holds, and store the changes with that. None if there is none."""
    now = timezone.now()
    # A lease that ends later than any lease can is from a process with a wrong clock.
    free = rows.filter(Q(leased_until=None) | Q(leased_until__lte=now) | Q(leased_until__gt=now + 2 * lease))
    if not free.exists():  # the common case, which needs no lock
        return None
    with transaction.atomic():  # which on SQLite begins with the lock of writers
        row = free.select_for_update(of=("self",), skip_locked=True).first()
        if row is not None:
            take(row, lease, **changes)
    return row


def take(row: Leased, lease: timedelta, **changes: Any) -> None:
    """Claim a row, whoever holds it."""
    changes |= {"holder": secrets.token_hex(7), "leased_until": timezone.now() + lease}
    type(row)._default_manager.filter(pk=row.pk).update(**changes)
    for name, value in changes.items():
        setattr(row, name, value)


def extend(row: Leased, lease: timedelta, **changes: Any) -> bool:
    """Let the lease of a claimed row begin anew, and store changes. Returns whether this process still holds it."""
    return bool(find_held(row).update(leased_until=timezone.now() + lease, **changes))


def release(row: Leased, **changes: Any) -> bool:
    """End the lease of a claimed row, and store changes. Returns whether this process still held it."""
    return bool(find_held(row).update(**NOBODY, **changes))


def find_held(row: Row) -> "QuerySet[Row]":
    """The stored row, as long as nobody else has claimed it."""
    return type(row)._default_manager.filter(pk=row.pk, holder=row.holder).exclude(holder="")
