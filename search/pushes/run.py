"""Read a push that was received: unpack it, wait until the source is free, and ingest it or say what that would do."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

from docsite.core.tenants.models import Project
from search.indexing.outcome import Summary
from search.models import Source
from search.pushes import archive, stored_files
from search.stored_sources import queue, runs

POLL_SECONDS = 0.5
MAX_WAIT_SECONDS = 600.0  # for other sources of the project to be read
MAX_LISTED = 100  # pages of each kind
EFFECTS = ("goldenQuestions", "citedPages", "replay", "replayComment")  # those that the last line has, or null

Report = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Push:
    """What a request asks for.

    - `root` is the folder of the documentation in the archive.
    - `options` are those of `manage.py ingest`; an option that is missing stays as it is.
    - `is_delta`: the archive has only the files that are not stored, and a manifest of all.
    - `actor` names the sender in the audit.
    """

    project: int
    name: str
    root: str = ""
    options: dict[str, str] = field(default_factory=dict)
    is_delta: bool = False
    is_preview: bool = False
    actor: str = ""


def run(push: Push, file: BinaryIO, report: Report, abort: Callable[[], None] = lambda: None) -> None:
    """Do a push, and report each step as a JSON object with an `event`. The last one is `end`.

    Nothing is reported until the archive is unpacked. Raises ValueError with a sentence, and then nothing has changed.
    """
    began = time.monotonic()
    project = Project.objects.get(pk=push.project)
    with TemporaryDirectory() as directory:
        folder = Path(directory)
        contents = archive.unpack(file, folder)
        stored = Source.objects.filter(project=project, name=push.name).first()
        files = stored_files.complete(stored, folder, contents.digests) if push.is_delta else contents.digests
        root = archive.find_root(folder, push.root)
        received = f"received {len(contents.digests) - push.is_delta:,} files"
        _report_progress(report, f"{received}, {len(files):,} in all" if push.is_delta else received)
        source = _prepare(project, push, stored)
        progress = partial(_report_progress, report)
        claim(source, progress)
        if source.pk:
            report({"event": "claimed", "source": source.pk, "holder": source.holder})
        store_files = partial(stored_files.replace, folder=folder, files=files)
        summary, generator = _read(push, source, root, progress, abort, store_files)
    summary.skipped += contents.skipped
    report({"event": "end", **describe(push, summary, generator), "seconds": round(time.monotonic() - began, 2)})


def _prepare(project: Project, push: Push, stored: Source | None) -> Source:
    """The source with the options of the push. It is stored unless this is a preview. Raises ValueError."""
    source = stored or Source(project=project, name=push.name, is_pushed=True)
    source.project = project
    if not source.is_pushed:
        raise ValueError(f"name: the source {push.name} is not pushed; the service reads it from its location")
    changes = {name: value for name, value in push.options.items() if getattr(source, name) != value}
    for name, value in changes.items():
        setattr(source, name, value)
    if push.is_preview:
        return source
    if source.pk is None:
        source, _ = Source.objects.get_or_create(
            project=project, name=push.name, defaults={"is_pushed": True, **push.options}
        )
    elif changes:
        source.save(update_fields=list(changes))
    return source


def claim(source: Source, progress: Callable[[str], None]) -> None:
    """Wait until no source of the project is being read, then claim a stored source.

    Raises ValueError when the wait has been too long, or the source was deleted meanwhile.
    """
    until = time.monotonic() + MAX_WAIT_SECONDS
    is_waiting = False
    while not (queue.claim(source) if source.pk else _is_free(source.project)):
        if source.pk and not Source.objects.filter(pk=source.pk).exists():
            raise ValueError(f"name: the source {source.name} was deleted meanwhile; try again")
        if time.monotonic() > until:
            raise ValueError("another source of this project is still being read; try again later")
        if not is_waiting:
            progress("waiting: a source of this project is being read")
        is_waiting = True
        time.sleep(POLL_SECONDS)


def _is_free(project: Project) -> bool:
    return not any(source.is_held for source in Source.objects.filter(project=project))


def _read(
    push: Push,
    source: Source,
    root: Path,
    progress: Callable[[str], None],
    abort: Callable[[], None],
    store_files: Callable[[Source], None],
) -> tuple[Summary, str]:
    if push.is_preview:
        return runs.preview(source, root, progress, abort=abort)
    try:
        summary = runs.run(source, progress, folder=root, after_swap=lambda: store_files(source), abort=abort)
    except SystemExit:
        queue.fail(source, runs.STOPPED)
        raise
    source.refresh_from_db()
    return summary, source.outcome.get("generator", "")


def describe(push: Push, summary: Summary, generator: str) -> dict[str, Any]:
    """The last line of a push: what has changed, or would change."""
    has_changed = any(summary.paths.values()) or bool(summary.sections)
    effects = {effect.name: effect.facts for effect in summary.effects}
    return {
        "source": push.name,
        "preview": push.is_preview,
        "result": "changed" if has_changed else "unchanged",
        **runs.counts(summary),
        "pages": {kind: paths[:MAX_LISTED] for kind, paths in summary.paths.items()},
        "generator": generator,
        **runs.list_losses(summary, MAX_LISTED),
        **{name: effects.get(name) for name in EFFECTS},
    }


def _report_progress(report: Report, line: str) -> None:
    report({"event": "progress", "message": line})
