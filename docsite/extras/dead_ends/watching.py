"""Keep the tables of a project as its index is: fingerprints of its pages, pages that went, and what is nearest."""

import logging
from collections.abc import Callable, Iterable
from datetime import timedelta

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from docsite.core.access.readers import PUBLIC, read_as
from docsite.core.background import leases
from docsite.core.db import has_row
from docsite.core.tenants.models import Project
from docsite.extras.dead_ends import fingerprints
from docsite.extras.dead_ends.matching import Known, Matcher
from docsite.extras.dead_ends.models import Fingerprint, MissingPage, Progress
from search.models import Document, Generation

logger = logging.getLogger(__name__)

LEASE = timedelta(minutes=10)
MAX_FORMER = 5_000  # pages of a project that were in the index; the latest are kept
LOOK_AGAIN = timedelta(minutes=5)  # for the nearest pages of new addresses: it takes all pages in memory
_BATCH = 100  # texts in memory at once

Rest = Callable[[], bool]  # pauses between two pieces of work; returns whether to stop


def is_due() -> bool:
    """Whether `catch_up` has something to do."""
    generation, progress, missing = (model._meta.db_table for model in (Generation, Progress, MissingPage))
    return has_row(
        f"SELECT 1 FROM {generation} LEFT JOIN {progress} ON {progress}.project_id = {generation}.project_id "
        f"WHERE {progress}.generation IS NULL OR {progress}.generation <> {generation}.number LIMIT 1"
    ) or has_row(
        f"SELECT 1 FROM {missing} LEFT JOIN {progress} ON {progress}.project_id = {missing}.project_id "
        f"WHERE {missing}.generation IS NULL AND ({progress}.looked_at IS NULL OR {progress}.looked_at <= %s) LIMIT 1",
        timezone.now() - LOOK_AGAIN,
    )


def catch_up(rest: Rest = lambda: False) -> None:
    """Bring every project up to date that is not."""
    outdated = Generation.objects.exclude(
        project__in=Progress.objects.filter(generation=F("project__generation__number")).values("project")
    )
    rested = Progress.objects.filter(looked_at__gt=timezone.now() - LOOK_AGAIN)
    new = MissingPage.objects.filter(generation=None).exclude(project__in=rested.values("project"))
    wanted = Q(pk__in=outdated.values("project")) | Q(pk__in=new.values("project"))
    for project in Project.objects.filter(wanted).order_by("pk"):
        if rest():
            return
        refresh(project, rest)


def refresh(project: Project, rest: Rest = lambda: False) -> bool:
    """Bring one project up to date. False if another process is at it, or it was stopped."""
    Progress.objects.get_or_create(project=project)
    progress = leases.claim(Progress.objects.filter(project=project), LEASE)
    if progress is None:
        return False
    number = Generation.objects.filter(project=project).values_list("number", flat=True).first() or 0
    with read_as(PUBLIC):
        if progress.generation != number:
            if not _compare(project, number, rest):
                leases.release(progress)
                return False
            MissingPage.objects.filter(project=project).update(generation=None)
        is_done = _find_nearest(project, number, rest)  # else the rows that are left are due again
    done = {"generation": number, "looked_at": timezone.now()} if is_done else {}
    leases.release(progress, **done)
    return is_done


def _compare(project: Project, number: int, rest: Rest) -> bool:
    """Compare the index with the fingerprints. False if it was stopped."""
    known = {
        path: (digest, since)
        for path, digest, since in Fingerprint.objects.filter(project=project).values_list("path", "digest", "since")
    }
    public = dict(Document.objects.filter(project=project).values_list("path", "digest"))
    existing = set(Document.indexed.filter(project=project).values_list("path", flat=True))
    changed = [path for path, digest in public.items() if known.get(path, (None, 0))[0] != digest]
    for at in range(0, len(changed), _BATCH):
        pages = Document.objects.filter(project=project, path__in=changed[at : at + _BATCH])
        _store(project, pages.only("path", "address", "title", "digest", "content"), known, number)
        if rest():
            return False
    with transaction.atomic():
        _move_gone(project, known.keys() - existing, number)
        protected = list(known.keys() & (existing - public.keys()))
        for at in range(0, len(protected), _BATCH):  # a protected page is not gone, and nobody else may know it
            Fingerprint.objects.filter(project=project, path__in=protected[at : at + _BATCH]).delete()
        back = [
            pk for pk, path in MissingPage.objects.filter(project=project).values_list("pk", "path") if path in existing
        ]
        for at in range(0, len(back), _BATCH):
            MissingPage.objects.filter(pk__in=back[at : at + _BATCH]).delete()
    return True


def _store(project: Project, pages: Iterable[Document], known: dict[str, tuple[str, int]], number: int) -> None:
    Fingerprint.objects.bulk_create(
        [
            Fingerprint(
                project=project,
                path=page.path,
                address=page.address,
                title=page.title,
                digest=page.digest,
                sketch=fingerprints.sketch(page.content),
                since=known.get(page.path, ("", number))[1],
            )
            for page in pages
        ],
        update_conflicts=True,
        unique_fields=["project", "path"],
        update_fields=["address", "title", "digest", "sketch"],
    )


def _move_gone(project: Project, gone: set[str], number: int) -> None:
    """Turn the fingerprints of pages that went into missing pages. What was asked of such a page before stays."""
    paths = sorted(gone)
    for at in range(0, len(paths), _BATCH):
        rows = list(Fingerprint.objects.filter(project=project, path__in=paths[at : at + _BATCH]))
        MissingPage.objects.bulk_create(
            [
                MissingPage(
                    project=project,
                    path=row.path,
                    kind=MissingPage.Kind.MOVED,
                    address=row.address,
                    title=row.title,
                    sketch=row.sketch,
                    gone=number,
                )
                for row in rows
            ],
            update_conflicts=True,
            unique_fields=["project", "path"],
            update_fields=["kind", "address", "title", "sketch", "gone"],
        )
        Fingerprint.objects.filter(pk__in=[row.pk for row in rows]).delete()
    former = MissingPage.objects.filter(project=project, kind=MissingPage.Kind.MOVED).order_by("-gone", "pk")
    MissingPage.objects.filter(pk__in=list(former.values_list("pk", flat=True)[MAX_FORMER:])).delete()


def _find_nearest(project: Project, number: int, rest: Rest) -> bool:
    """Find the nearest page of each missing one that has none of this index. False if it was stopped.

    If the page it moved to has gone too, that step is kept when it is surer; `redirects` follows both.
    """
    due = list(MissingPage.objects.filter(project=project, generation=None))
    if not due:
        return True
    pages = Fingerprint.objects.filter(project=project).values_list("path", "title", "sketch", "since")
    matcher = Matcher([Known(path, title, bytes(sketch), since) for path, title, sketch, since in pages])
    missing = set(MissingPage.objects.filter(project=project).values_list("path", flat=True))
    for count, row in enumerate(due):
        if count % _BATCH == 0 and rest():
            return False
        match = matcher.find(Known(row.path, row.title, bytes(row.sketch), row.gone or 0))
        keeps = row.nearest in missing and row.confidence > (match.confidence if match else 0)
        if not keeps:
            row.nearest, row.confidence = match or ("", 0.0)
        row.generation = number
    MissingPage.objects.bulk_update(due, ["nearest", "confidence", "generation"], batch_size=_BATCH)
    return True


def sweep() -> None:
    """Forget addresses that nobody has asked for lately."""
    now = timezone.now()
    MissingPage.objects.exclude(kind=MissingPage.Kind.MOVED).filter(last_at__lt=now - timedelta(days=90)).delete()
    MissingPage.objects.filter(last_at__lt=now - timedelta(days=400)).delete()
