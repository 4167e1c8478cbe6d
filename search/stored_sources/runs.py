"""Read a stored source that was claimed, and store the outcome."""

from collections.abc import Callable, Collection, Iterator
from contextlib import nullcontext, suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone

from docsite.core.tenants.models import Project
from search.indexing.ingest import ingest, withdraw
from search.indexing.outcome import IngestRefused, IngestSuperseded, Summary
from search.indexing.storable import clean_text
from search.models import Document, Source
from search.signals import index_swapped
from search.sources import Item
from search.sources.registry import detect_generator, read
from search.sources.request import SourceRequest
from search.stored_sources import advice, queue
from search.stored_sources.heartbeat import Heartbeat

State = Source.State
OPTIONS = ("generator", "under", "version", "language")
RETRY_AFTER = timedelta(minutes=5)  # when another ingest of the project superseded the run
MAX_LISTED = 50  # pages that were skipped or left out
STOPPED = "It was stopped."


def run(
    source: Source,
    progress: Callable[[str], None] = lambda line: None,
    *,
    strict: bool = False,
    fail_on: Collection[str] = (),
    abort: Callable[[], None] = lambda: None,
    folder: Path | None = None,
    after_swap: Callable[[], None] = lambda: None,
    max_pages: int | None = None,
    max_seconds: float | None = None,
) -> Summary:
    """Read a claimed source and store the outcome.

    Raises ValueError with a sentence, as `ingest` and sources do. A run that another ingest superseded goes back to
    the queue. `abort` is called when the run has to stop but does not (`search.stored_sources.heartbeat`).

    With a `folder` the pages come from there, since the source was pushed, and the new index is compared with the old
    one. `after_swap` is called while this process is still its reader. `max_pages` and `max_seconds` are limits.
    """

    def fail_and_abort(reason: str) -> None:
        try:
            queue.fail(source, reason)
        finally:
            abort()

    try:
        with Heartbeat(source, fail_and_abort) as heartbeat:
            request = _build_request(source, heartbeat, progress, folder)
            request = replace(request, max_pages=max_pages, max_seconds=max_seconds)
            generator = detect_generator(request)
            summary = _ingest(source, heartbeat, request, strict=strict, fail_on=fail_on, compares=folder is not None)
            advice.add(summary.report, request, generator)
            after_swap()
    except IngestSuperseded as other:
        if source.is_pushed:  # it is not here any more when the source would be read again
            queue.fail(source, f"Stopped: {other}.")
            raise
        queue.finish(source, State.QUEUED, error=f"Postponed: {other}.", due_at=timezone.now() + RETRY_AFTER)
        raise
    except KeyboardInterrupt:
        queue.fail(source, STOPPED)
        raise
    except IngestRefused as refused:
        queue.finish(source, State.FAILED, error=as_sentence(refused), outcome=_build_outcome(refused.summary))
        raise
    except Exception as error:
        queue.fail(source, as_sentence(error) if is_user_error(error) else "It failed unexpectedly. The log says why.")
        raise
    outcome = {**_build_outcome(summary), "generator": generator, "effects": _keep_effects(source, summary)}
    queue.finish(source, State.DONE, outcome=outcome)
    index_swapped.send_robust(Source, source=source, effects=summary.effects)
    return summary


def preview(
    source: Source,
    folder: Path,
    progress: Callable[[str], None] = lambda line: None,
    *,
    abort: Callable[[], None] = lambda: None,
) -> tuple[Summary, str]:
    """What a push of this folder would do: the summary and the generator. A stored source keeps only effects of it.

    The source is claimed or not stored at all. Raises what `run` raises.
    """
    heartbeat = Heartbeat(source, lambda reason: abort())
    try:
        request = _build_request(source, heartbeat, progress, folder)
        with heartbeat if source.pk else nullcontext():
            generator = detect_generator(request)
            summary = _ingest(source, heartbeat, request, compares=True, is_preview=True)
            advice.add(summary.report, request, generator)
            if source.pk and (effects := _keep_effects(source, summary)):
                Source.objects.filter(pk=source.pk).update(outcome={**source.outcome, "effects": effects})
            return summary, generator
    finally:
        queue.end_preview(source)


def record_command(
    project: Project, request: SourceRequest, summary: Summary, command: str, groups: str | None = None
) -> None:
    """Store what `command` has read without a name, so that it is listed among the project's sources.

    `groups` are those of its pages. None: as before, since a command that does not name them must not make them public.
    """
    now = timezone.now()
    generator = detect_generator(request)
    advice.add(summary.report, request, generator)
    facts = {
        **{name: getattr(request, name) for name in ("location", "generator", "version", "language")},
        **{"under": request.path_prefix, "state": State.DONE, "error": "", "finished_at": now, "read_at": now},
        "outcome": {**_build_outcome(summary), "generator": generator, "command": command},
    }
    if groups is not None:
        facts["groups"] = groups
    Source.objects.update_or_create(project=project, name="", by_command=True, defaults=facts)


def _build_request(
    source: Source, heartbeat: Heartbeat, progress: Callable[[str], None], folder: Path | None = None
) -> SourceRequest:
    """The request for a source, which stops in its next step when another process has claimed it."""

    def show(line: str) -> None:
        heartbeat.line = line
        heartbeat.check()
        progress(line)

    options = {name: getattr(source, name) for name in OPTIONS}
    stored = source if source.pk else None
    location = str(folder or source.location)
    # The pages of a push are perhaps not on the site yet, and its sender waits.
    return build_request(source.project, stored, location, opens_sample=not folder, progress=show, **options)


def _ingest(source: Source, heartbeat: Heartbeat, request: SourceRequest, **options: Any) -> Summary:
    """Read a source for as long as this process holds it."""

    def items() -> Iterator[Item]:
        for item in read(request):
            heartbeat.check()
            yield item

    named = None if source.by_command else source
    return ingest(source.project, items(), request.progress, source=named, **options)


def build_request(
    project: Project,
    source: Source | None,
    location: str,
    *,
    under: str = "",
    opens_sample: bool = True,
    **options: Any,
) -> SourceRequest:
    """The request for a location, with the validators of the source's pages from the last run.

    Without a `source`, these are the pages that belong to no stored source. `under` is the path prefix.
    """
    pages = Document.indexed.filter(project=project, source=source, address__startswith="http")
    return SourceRequest(
        location,
        project.docs_url,
        path_prefix=under,
        opens_sample=opens_sample,
        private_hosts=settings.ENV.crawl_private_hosts,
        previous_validators=dict(pages.values_list("address", "validator")),
        **options,
    )


def is_user_error(error: Exception) -> bool:
    """Whether the source caused the error, not a bug of this program. Its message is a sentence then."""
    return isinstance(error, ValueError | OSError) and not isinstance(error, UnicodeError)


def remove(source: Source) -> None:
    """Delete a source with its pages. A process that reads it stops, and no other begins."""
    queue.take_over(source)
    with Heartbeat(source):
        while not _delete_if_empty(source):
            with suppress(IngestSuperseded):  # by the process that this one superseded
                withdraw(source)


def _delete_if_empty(source: Source) -> bool:
    """Delete a source unless it has pages: until its row is locked, a process that reads it may add some."""
    with transaction.atomic():
        row = Source.objects.select_for_update().filter(pk=source.pk).first()
        if row and Document.every.filter(row.owns).exclude(build__startswith="-").exists():
            return False
        if row:
            row.delete()
    return True


def _build_outcome(summary: Summary) -> dict[str, Any]:
    """A summary as it is stored: counts, and the first of the skipped and left out pages."""
    numbers = {"skippedCount": len(summary.skipped), "leftOutCount": len(summary.left_out)}
    return {**counts(summary), **list_losses(summary, MAX_LISTED), **numbers}


def _keep_effects(source: Source, summary: Summary) -> dict[str, Any]:
    """What a source keeps of the effects of its indexes, by name: the latest of each."""
    return {**source.outcome.get("effects", {}), **{one.name: one.kept for one in summary.effects if one.kept}}


def counts(summary: Summary) -> dict[str, int]:
    """The numbers of a summary, by name."""
    return {
        name: getattr(summary, name) for name in ("added", "changed", "unchanged", "removed", "sections", "redirects")
    }


def list_losses(summary: Summary, most: int | None = None) -> dict[str, Any]:
    """The warnings and the report of a summary, and the pages that were skipped or left out, at most so many."""
    return {
        "skipped": [{"file": page.origin, "reason": page.reason} for page in summary.skipped[:most]],
        "leftOut": [{"file": page.origin, "reason": page.reason} for page in summary.left_out[:most]],
        "warnings": [warning.sentence for warning in summary.warnings],
        "report": summary.report,
    }


def as_sentence(error: Exception) -> str:
    """The message of an error as a sentence that can be stored and shown. A name in front stays as it is written."""
    text = clean_text(str(error)).strip().rstrip(".") or "It cannot be read"
    return f"{text[:1].upper() if text.partition(' ')[0].isalpha() else text[:1]}{text[1:]}."
