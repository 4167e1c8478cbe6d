"""Pages into the index: read and analyse first, then change everything in one transaction."""

import hashlib
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import ModuleType

from django.db import transaction
from django.utils import timezone

from docsite.projects.models import Project
from search import analysis, backends, sections
from search.models import Document, Section
from search.sources import Bad, Page
from search.terms import Entry, facet

FORMAT = 1  # raise it when sections are cut differently: every page is then read again


@dataclass
class Summary:
    """What an ingest did, in pages."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    sections: int = 0
    bad: list[Bad] = field(default_factory=list)


def ingest(
    project: Project, source: Iterable[Page | Bad], progress: Callable[[str], None] = lambda line: None
) -> Summary:
    """Make the project's index hold exactly the source's pages.

    Unchanged pages are skipped. Pages that vanished from the source go; a page
    whose file is bad this time keeps its last good state. Readers see the old
    index until the new one is there. Raises ValueError when the source has no
    page at all, since that is rarely what was meant.
    """
    summary = Summary()
    generation = Project.objects.values_list("index_generation", flat=True).get(pk=project.pk)
    known = {document.path: document for document in project.documents.only("path", "digest")}
    seen: dict[str, str] = {}
    kept: set[str] = set()
    prepared: list[tuple[Document, list[sections.Part]]] = []
    for page in source:
        if isinstance(page, Page) and page.path in seen:
            page = Bad(page.origin, f"path {page.path} is already taken by {seen[page.path]}")
        if isinstance(page, Bad):
            summary.bad.append(page)
            kept.add(page.path)
            continue
        seen[page.path] = page.origin
        digest = _digest(page)
        if page.path in known and known[page.path].digest == digest:
            summary.unchanged += 1
            continue
        try:
            parts = sections.split(page.markdown, page.title)
        except RecursionError:
            summary.bad.append(Bad(page.origin, "is nested too deeply", page.path))
            continue
        prepared.append((_document(project, page, digest, known.get(page.path)), parts))
        if len(prepared) % 50 == 0:
            progress(f"{len(prepared)} pages read")
    if not seen:
        raise ValueError("no readable page in the source; nothing was changed")

    gone = [document for path, document in known.items() if path not in seen and path not in kept]
    entries = [_entries(document, parts) for document, parts in prepared]
    if not prepared and not gone:
        return summary
    progress(f"writing {len(prepared)} pages")
    with transaction.atomic():
        now = Project.objects.select_for_update().get(pk=project.pk)
        if now.index_generation != generation:
            raise ValueError("another ingest changed the index meanwhile; run it again")
        engine = backends.current()
        stale = [document.pk for document, _ in prepared if document.pk] + [document.pk for document in gone]
        _remove(project, engine, stale)
        Document.objects.filter(pk__in=[document.pk for document in gone]).delete()
        for (document, parts), terms in zip(prepared, entries, strict=True):
            summary.changed += bool(document.pk)
            summary.added += not document.pk
            document.save()
            rows = Section.objects.bulk_create(
                Section(
                    document=document,
                    position=position,
                    heading=part.heading[:500],
                    anchor=part.anchor[:300],
                    trail=list(part.trail),
                    body=part.body,
                    text=part.text,
                )
                for position, part in enumerate(parts)
            )
            engine.write(project, [Entry(row.pk, *fields) for row, fields in zip(rows, terms, strict=True)])
            summary.sections += len(rows)
        summary.removed = len(gone)
        Project.objects.filter(pk=project.pk).update(index_generation=generation + 1, indexed_at=timezone.now())
    return summary


def _remove(project: Project, engine: ModuleType, document_ids: list[int]) -> None:
    stale = Section.objects.filter(document_id__in=document_ids)
    engine.remove(project, list(stale.values_list("pk", flat=True)))
    stale.delete()


def _digest(page: Page) -> str:
    fields = [
        FORMAT,
        analysis.VERSION,
        page.title,
        page.description,
        page.version,
        page.language,
        page.tags,
        page.markdown,
    ]
    return hashlib.sha256(json.dumps(fields).encode()).hexdigest()


def _document(project: Project, page: Page, digest: str, old: Document | None) -> Document:
    return Document(
        pk=old.pk if old else None,
        project=project,
        path=page.path,
        title=(page.title or _title(page))[:500],
        description=page.description,
        version=page.version[:100],
        language=page.language[:35],
        tags=list(page.tags),
        content=page.markdown.strip(),
        digest=digest,
    )


def _title(page: Page) -> str:
    """The first heading, or else the last word of the path."""
    for line in sections.clean(page.markdown).split("\n"):
        if line.startswith("# "):
            return sections.anchor_and_heading(sections.plain(line), {})[1]
    return page.path.rsplit("/", 1)[-1].replace("-", " ").replace("_", " ").capitalize() or "Home"


def _entries(document: Document, parts: list[sections.Part]) -> list[tuple[str, str, str, str]]:
    """Terms of each section: title with path, heading trail, body (the intro with the page's description), facets."""
    language = document.language or "en"

    def joined(text: str) -> str:
        return " ".join(analysis.terms(text, language))

    title = joined(document.title)
    path_words = joined(" ".join(document.path.split("/")[-2:]))
    facets = " ".join(
        [
            facet("v", document.version),
            facet("l", document.language),
            *(facet("t", tag) for tag in document.tags),
        ]
    )
    return [
        (
            title,
            joined(" ".join(part.trail)),
            " ".join([joined(part.text), *([joined(document.description), path_words] if position == 0 else [])]),
            facets,
        )
        for position, part in enumerate(parts)
    ]
