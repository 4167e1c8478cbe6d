"""Stored sources: who reads one, what became of it, and when it is read again.

A source goes from waiting to being read to read, or failed. Who reads it holds it by a name (`runner`) and gives a
sign of life every few seconds; a runner that is silent for a minute is taken for dead, and its source has failed.
Ingests of a project supersede each other, so of its sources only one is read at a time.
"""

import secrets
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from docsite.core.tenants.models import Project
from search.indexing import ingest
from search.indexing.storable import cleaned
from search.models import Document, Source
from search.sources import Bad, Item, LeftOut
from search.sources.registry import read
from search.sources.request import SourceRequest
from search.stored.heartbeat import SILENCE, Heartbeat

State = Source.State
PAUSE = timedelta(minutes=5)  # for another ingest of the project to end, before it is tried again
MOST_TOLD = 50  # pages that were skipped or left out
INTERVALS = {
    Source.Schedule.HOURLY: timedelta(hours=1),
    Source.Schedule.DAILY: timedelta(days=1),
    Source.Schedule.WEEKLY: timedelta(weeks=1),
}


def want(source: Source) -> None:
    """Have a source read as soon as somebody can; once more if it is being read."""
    Source.objects.filter(pk=source.pk).update(wanted_at=timezone.now())
    Source.objects.filter(pk=source.pk).exclude(state=State.RUNNING).update(state=State.QUEUED)


def plan(source: Source) -> None:
    """Follow a schedule that was changed; what waits already goes on waiting."""
    since = source.finished_at or timezone.now()
    Source.objects.filter(pk=source.pk).exclude(state__in=(State.QUEUED, State.RUNNING)).update(
        wanted_at=_next(source, since)
    )


def take() -> Source | None:
    """Claim the source that waits longest, if it is time to read one."""
    now = timezone.now()
    running = Source.objects.filter(state=State.RUNNING)
    for silent in running.filter(seen_at__lte=now - SILENCE):
        give_up(silent, "Whoever read it fell silent.")
    due = Source.objects.filter(wanted_at__lte=now).exclude(project__in=running.values("project"))
    for source in due.order_by("wanted_at", "pk").select_related("project")[:10]:
        if claim(source, if_due=True):
            return source
    return None


def claim(source: Source, *, if_due: bool = False) -> bool:
    """Become the runner of a source. Not while one of its project is being read."""
    with transaction.atomic():
        # All of the project's, in one order: of two who claim at once, the second sees what the first did.
        rows = list(Source.objects.select_for_update().filter(project=source.project_id).order_by("pk"))
        row = next((row for row in rows if row == source), None)
        if row is None or any(map(is_read, rows)) or (if_due and not _is_due(row)):
            return False
        _hold(source)
    return True


def _is_due(source: Source) -> bool:
    return source.state != State.RUNNING and source.wanted_at is not None and source.wanted_at <= timezone.now()


def _hold(source: Source) -> None:
    """Become the runner, whoever is it now."""
    source.state, source.runner = State.RUNNING, secrets.token_hex(7)
    source.started_at = source.seen_at = timezone.now()
    source.progress, source.wanted_at = "", None
    names = ("state", "runner", "started_at", "seen_at", "progress", "wanted_at")
    Source.objects.filter(pk=source.pk).update(**{name: getattr(source, name) for name in names})


def is_read(source: Source) -> bool:
    """Whether somebody who is alive reads it now."""
    is_alive = source.seen_at is not None and source.seen_at > timezone.now() - SILENCE
    return source.state == State.RUNNING and is_alive


def run(
    source: Source,
    progress: Callable[[str], None] = lambda line: None,
    *,
    strict: bool = False,
    abort: Callable[[], None] = lambda: None,
) -> ingest.Summary:
    """Read a source that was claimed, and keep what becomes of it.

    Raises ValueError with a sentence, as `ingest` and sources do. Superseded by another ingest, it waits to be read
    again. `abort` is called when the run has to stop and does not (`search.stored.heartbeat`).
    """

    def stuck(reason: str) -> None:
        try:
            give_up(source, reason)
        finally:
            abort()

    try:
        with Heartbeat(source, stuck) as heartbeat:
            summary = _ingested(source, heartbeat, progress, strict=strict)
    except ingest.Superseded as other:
        _finish(source, State.QUEUED, error=f"Put off: {other}.", wanted_at=timezone.now() + PAUSE)
        raise
    except KeyboardInterrupt:
        _finish(source, State.FAILED, error="It was stopped.")
        raise
    except ingest.Refused as refused:
        _finish(source, State.FAILED, error=_sentence(refused), outcome=_outcome(refused.summary))
        raise
    except Exception as wrong:
        told = _sentence(wrong) if is_told(wrong) else "It failed for a reason that only the log tells."
        _finish(source, State.FAILED, error=told)
        raise
    else:
        _finish(source, State.DONE, outcome=_outcome(summary))
    return summary


def _ingested(source: Source, heartbeat: Heartbeat, progress: Callable[[str], None], *, strict: bool) -> ingest.Summary:
    """Read a source as long as it is ours."""

    def tell(line: str) -> None:
        heartbeat.line = line
        heartbeat.check()
        progress(line)

    def items() -> Iterator[Item]:
        for item in read(request):
            heartbeat.check()
            yield item

    fields = {name: getattr(source, name) for name in ("generator", "under", "version", "language")}
    request = reading_of(source.project, source, source.location, progress=tell, **fields)
    return ingest.ingest(source.project, items(), tell, source=source, strict=strict)


def is_told(wrong: Exception) -> bool:
    """Whether an error is a sentence about what is read, and no mistake of ours."""
    return isinstance(wrong, ValueError | OSError) and not isinstance(wrong, UnicodeError)


def release(source: Source) -> None:
    """Give a claimed source back, to be read by somebody else."""
    _finish(source, State.QUEUED, wanted_at=timezone.now(), error=None)


def give_up(source: Source, error: str) -> None:
    """Note that whoever read a claimed source died. Nothing happens if it was brought to an end."""
    _finish(source, State.FAILED, error=error)


def remove(source: Source) -> None:
    """Delete a source with its pages. Who reads it meanwhile gives way, and nobody else begins to."""
    _hold(source)
    with Heartbeat(source):
        while not _removed(source):
            with suppress(ingest.Superseded):  # which superseded that other ingest
                ingest.withdraw(source)


def _removed(source: Source) -> bool:
    """Delete a source if it has no pages any more: who read it may put some in until it is locked."""
    with transaction.atomic():
        held = Source.objects.select_for_update().filter(pk=source.pk).first()
        if held and Document.every.filter(source=held).exclude(build__startswith="-").exists():
            return False
        if held:
            held.delete()
    return True


def reading_of(project: Project, source: Source | None, location: str, **told: Any) -> SourceRequest:
    """What a source is told: a stored one, or the project's one without a name."""
    pages = Document.objects.filter(project=project, source=source, address__startswith="http")
    known = dict(pages.values_list("address", "validator"))
    return SourceRequest(
        location, project.docs_url, known=known, private_hosts=settings.ENV.crawl_private_hosts, **told
    )


def _finish(
    source: Source,
    state: Source.State,
    *,
    error: str | None = "",
    wanted_at: datetime | None = None,
    outcome: dict[str, Any] | None = None,
) -> None:
    """End a run, unless its source is somebody else's by now. Without an error the last one stays."""
    now = timezone.now()
    with transaction.atomic():
        row = Source.objects.select_for_update().filter(pk=source.pk, runner=source.runner).first()
        if row is None or not source.runner:
            return
        is_wanted = row.wanted_at is not None  # somebody asked for it meanwhile
        row.state = State.QUEUED if is_wanted else state
        row.wanted_at = row.wanted_at or wanted_at or _next(row, now)
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


def _next(source: Source, since: datetime) -> datetime | None:
    """When its schedule wants it read again."""
    interval = INTERVALS.get(Source.Schedule(source.schedule))
    return since + interval if interval else None


def _outcome(summary: ingest.Summary) -> dict[str, Any]:
    """What is kept of a summary: counts, and the first of the pages that did not come in."""
    return {
        **counts(summary),
        "skipped": listed(summary.bad[:MOST_TOLD]),
        "skippedCount": len(summary.bad),
        "leftOut": listed(summary.left_out[:MOST_TOLD]),
        "leftOutCount": len(summary.left_out),
        "warnings": [warned.sentence for warned in summary.warnings],
    }


def counts(summary: ingest.Summary) -> dict[str, int]:
    """Pages by what became of them, sections written, and redirects."""
    return {
        name: getattr(summary, name) for name in ("added", "changed", "unchanged", "removed", "sections", "redirects")
    }


def listed(items: "list[Bad] | list[LeftOut]") -> list[dict[str, str]]:
    """Pages that did not come in, each with its reason."""
    return [{"file": item.origin, "reason": item.reason} for item in items]


def _sentence(wrong: Exception) -> str:
    text = cleaned(str(wrong))
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."
