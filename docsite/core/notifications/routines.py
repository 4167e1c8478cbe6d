"""Work that one process of all does, in rounds: who claims a round does it, and the others wait for the next one."""

from datetime import timedelta

from django.db.models import Q
from django.utils import timezone

from docsite.core.background import leases
from docsite.core.notifications.models import Routine

LEASE = timedelta(minutes=10)  # after which another process takes over the round of one that was killed


def claim(name: str, longest: timedelta) -> Routine | None:
    """Claim the round of a routine that is due.

    `longest` is the longest time between two rounds. A wrong clock has set the next one if it is due later than after
    `longest` and the lease together: then it is claimed at once.
    """
    Routine.objects.get_or_create(name=name)
    now = timezone.now()
    due = Routine.objects.filter(Q(due_at__lte=now) | Q(due_at__gt=now + longest + LEASE), name=name)
    return leases.claim(due, LEASE)


def extend(routine: Routine) -> bool:
    """Keep a claimed round for another lease. Returns whether this process still has it."""
    return leases.extend(routine, LEASE)


def finish(routine: Routine, pause: timedelta) -> None:
    """End a claimed round. The next one begins after `pause`."""
    leases.release(routine, due_at=timezone.now() + pause)
