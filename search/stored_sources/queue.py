"""The queue of stored sources: which ones wait to be read, and which process reads each.

A process claims a source under a name of its own, the `runner`, and stores a sign of life every few seconds. After a
minute without one the runner counts as dead, and the run as failed. Ingests of a project supersede each other, so only
one source of a project is read at a time.
"""

import secrets
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone

from docsite.core.db import has_row
from search.models import Source
from search.stored_sources import events
from search.stored_sources.heartbeat import MAX_SILENCE

State = Source.State
INTERVALS = {
    Source.Schedule.HOURLY: timedelta(hours=1),
    Source.Schedule.DAILY: timedelta(days=1),
    Source.Schedule.WEEKLY: timedelta(weeks=1),
}


def enqueue(source: Source) -> None:
    """Enqueue a source to be read as soon as possible. If it is being read now, it is read once more."""
    Source.objects.filter(pk=source.pk).update(wanted_at=timezone.now())
    Source.objects.filter(pk=source.pk).exclude(state=State.RUNNING).update(state=State.QUEUED)


def reschedule(source: Source) -> None:
    """Apply a changed schedule. It does not change when a source is due that waits or is being read."""
    since = source.finished_at or timezone.now()
    Source.objects.filter(pk=source.pk).exclude(state__in=(State.QUEUED, State.RUNNING)).update(
        wanted_at=_next_due_time(source, since)
    )


def is_due() -> bool:
    """Whether `claim_next` has something to do."""
    query = f"SELECT 1 FROM {Source._meta.db_table} WHERE wanted_at <= %s OR (state = %s AND seen_at <= %s) LIMIT 1"
    now = timezone.now()
    return has_row(query, now, State.RUNNING.value, now - MAX_SILENCE)


def count_due() -> int:
    """How many sources should be read now, and are not."""
    return Source.objects.filter(wanted_at__lte=timezone.now()).exclude(state=State.RUNNING).count()


def claim_next() -> Source | None:
    """Claim the source that has waited longest, if one is due."""
    now = timezone.now()
    running = Source.objects.filter(state=State.RUNNING)
    for silent in running.filter(seen_at__lte=now - MAX_SILENCE):
        fail(silent, "The process that read it stopped responding.")
    due = Source.objects.filter(wanted_at__lte=now).exclude(project__in=running.values("project"))
    for source in due.order_by("wanted_at", "pk").select_related("project")[:10]:
        if claim(source, if_due=True):
            return source
    return None


def claim(source: Source, *, if_due: bool = False) -> bool:
    """Become the runner of a source. Returns False while a source of its project is being read."""
    with transaction.atomic():
        # All rows of the project are locked in one order: of two claims at once, the second sees the first.
        rows = list(Source.objects.select_for_update().filter(project=source.project_id).order_by("pk"))
        row = next((row for row in rows if row == source), None)
        if row is None or any(map(is_being_read, rows)) or (if_due and not _is_due(row)):
            return False
        take_over(source)
    return True


def take_over(source: Source) -> None:
    """Become the runner of a source, even if another process reads it."""
    source.state, source.runner = State.RUNNING, secrets.token_hex(7)
    source.started_at = source.seen_at = timezone.now()
    source.progress, source.wanted_at = "", None
    names = ("state", "runner", "started_at", "seen_at", "progress", "wanted_at")
    Source.objects.filter(pk=source.pk).update(**{name: getattr(source, name) for name in names})


def is_being_read(source: Source) -> bool:
    """Whether a runner that is alive reads the source now."""
    is_alive = source.seen_at is not None and source.seen_at > timezone.now() - MAX_SILENCE
    return source.state == State.RUNNING and is_alive


def release(source: Source) -> None:
    """Return a claimed source to the queue, for another process to read."""
    finish(source, State.QUEUED, wanted_at=timezone.now(), error=None)


def end_preview(source: Source) -> None:
    """Give back a source that was claimed for a preview, in the state that its last run left."""
    for row in Source.objects.filter(pk=source.pk, runner=source.runner or "-"):
        state = State.FAILED if row.error else State.DONE if row.read_at else State.NEW
        Source.objects.filter(pk=row.pk, runner=source.runner).update(state=state, runner="", progress="")


def fail(source: Source, error: str) -> None:
    """Mark a claimed source as failed, unless its run was finished already."""
    finish(source, State.FAILED, error=error)


def finish(
    source: Source,
    state: Source.State,
    *,
    error: str | None = "",
    wanted_at: datetime | None = None,
    outcome: dict[str, Any] | None = None,
) -> None:
    """End the run of a claimed source, unless it has another runner by now. With `error=None` the last error stays."""
    now = timezone.now()
    with transaction.atomic():
        row = Source.objects.select_for_update().filter(pk=source.pk, runner=source.runner).first()
        if row is None or not source.runner:
            return
        was_enqueued = row.wanted_at is not None  # during the run
        row.state = State.QUEUED if was_enqueued else state
        row.wanted_at = row.wanted_at or wanted_at or _next_due_time(row, now)
        row.runner = row.progress = ""
        row.finished_at = now
        if error is not None:
            row.error = error
        if state == State.DONE:
            row.read_at = now
        if outcome is not None:
            row.outcome = outcome
        row.save(
            update_fields=[
                *("state", "runner", "progress", "error", "outcome"),
                *("wanted_at", "finished_at", "read_at"),
            ]
        )
        if state in (State.DONE, State.FAILED):
            events.publish(row, state)


def _is_due(source: Source) -> bool:
    return source.state != State.RUNNING and source.wanted_at is not None and source.wanted_at <= timezone.now()


def _next_due_time(source: Source, since: datetime) -> datetime | None:
    """When the source is due next by its schedule; None without a schedule."""
    interval = INTERVALS.get(Source.Schedule(source.schedule))
    return since + interval if interval else None
