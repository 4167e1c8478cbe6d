"""The queue of stored sources: which ones wait to be read, and which process reads each.

A process claims a source, and extends its lease every few seconds. When the lease ends, the run counts as failed.
Ingests of a project supersede each other, so only one source of a project is read at a time.
"""

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from docsite.core.background import leases
from search.models import Source
from search.stored_sources import events
from search.stored_sources.heartbeat import LEASE

State = Source.State
_INTERVALS = {
    Source.Schedule.HOURLY: timedelta(hours=1),
    Source.Schedule.DAILY: timedelta(days=1),
    Source.Schedule.WEEKLY: timedelta(weeks=1),
}


def enqueue(source: Source) -> None:
    """Enqueue a source to be read as soon as possible. If it is being read now, it is read once more."""
    Source.objects.filter(pk=source.pk).update(due_at=timezone.now())
    Source.objects.filter(pk=source.pk).exclude(state=State.RUNNING).update(state=State.QUEUED)


def reschedule(source: Source) -> None:
    """Apply a changed schedule. It does not change when a source is due that waits or is being read."""
    since = source.finished_at or timezone.now()
    Source.objects.filter(pk=source.pk).exclude(state__in=(State.QUEUED, State.RUNNING)).update(
        due_at=_next_due_time(source, since)
    )


def _next_due_time(source: Source, since: datetime) -> datetime | None:
    """When the source is due next by its schedule; None without a schedule."""
    interval = _INTERVALS.get(Source.Schedule(source.schedule))
    return since + interval if interval else None


def count_due() -> int:
    """How many sources should be read now, and are not."""
    return Source.objects.filter(due_at__lte=timezone.now()).exclude(state=State.RUNNING).count()


def claim_next() -> Source | None:
    """Claim the source that has waited longest, if one is due."""
    now = timezone.now()
    running = Source.objects.filter(state=State.RUNNING)
    for silent in running.filter(leased_until__lte=now):
        fail(silent, "The process that read it stopped responding.")
    due = Source.objects.filter(due_at__lte=now).exclude(project__in=running.values("project"))
    for source in due.order_by("due_at", "pk").select_related("project")[:10]:
        if claim(source, if_due=True):
            return source
    return None


def claim(source: Source, *, if_due: bool = False) -> bool:
    """Claim a source. Returns False while a source of its project is being read."""
    with transaction.atomic():
        # All rows of the project are locked in one order: of two claims at once, the second sees the first.
        rows = list(Source.objects.select_for_update().filter(project=source.project_id).order_by("pk"))
        row = next((row for row in rows if row == source), None)
        if row is None or any(row.is_held for row in rows) or (if_due and not _is_due(row)):
            return False
        take_over(source)
    return True


def take_over(source: Source) -> None:
    """Claim a source, even if another process reads it."""
    leases.take(source, LEASE, state=State.RUNNING, started_at=timezone.now(), progress="", due_at=None)


def release(source: Source) -> None:
    """Return a claimed source to the queue, for another process to read."""
    finish(source, State.QUEUED, due_at=timezone.now(), error=None)


def end_preview(source: Source) -> None:
    """Give back a source that was claimed for a preview, in the state that its last run left."""
    if row := leases.find_held(source).first():
        state = State.FAILED if row.error else State.DONE if row.read_at else State.NEW
        leases.release(source, state=state, progress="")


def fail(source: Source, error: str) -> None:
    """Mark a claimed source as failed, unless its run was finished already."""
    finish(source, State.FAILED, error=error)


def finish(
    source: Source,
    state: Source.State,
    *,
    error: str | None = "",
    due_at: datetime | None = None,
    outcome: dict[str, Any] | None = None,
) -> None:
    """End the run of a claimed source, unless another process has it. With `error=None` the last error stays."""
    now = timezone.now()
    with transaction.atomic():
        row = leases.find_held(source).select_for_update().first()
        if row is None:
            return
        changes: dict[str, Any] = {
            "state": State.QUEUED if row.due_at else state,  # it was enqueued during the run
            "due_at": row.due_at or due_at or _next_due_time(row, now),
            "progress": "",
            "finished_at": now,
        }
        if error is not None:
            changes["error"] = error
        if state == State.DONE:
            changes["read_at"] = now
        if outcome is not None:
            changes["outcome"] = outcome
        leases.release(row, **changes)
        if state in (State.DONE, State.FAILED):
            row.refresh_from_db()
            events.publish(row, state)


def _is_due(source: Source) -> bool:
    return source.state != State.RUNNING and source.due_at is not None and source.due_at <= timezone.now()
