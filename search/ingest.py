"""Pages into the index: made aside in small steps, then swapped in at once."""

import hashlib
import json
import re
import secrets
import unicodedata
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial

from django.db import transaction
from django.template.defaultfilters import pluralize
from django.utils import timezone

from docsite.projects.models import Project
from search import analysis, backends, sections, state
from search.models import Document, Index, Section
from search.signals import Warned, swapping
from search.sources import Bad, Page
from search.terms import Entry, facet
from search.vocabulary import Vocabulary

FORMAT = 5  # raise it when sections are cut or stored differently: every page is then indexed again
ANALYSER = f"{FORMAT}.{analysis.VERSION}"
PAGES_AT_ONCE = 50  # a writer elsewhere waits no longer than these take
MOST_QUESTIONS = 50  # of a section; each is one of its names
# A line in bold, as accordions and steps are titled: of three words or more it is as good as a heading.
_QUESTION = re.compile(r"(?m)^[ ]{0,3}\*\*[^*\n]+ [^*\n]+ [^*\n]+\*\*$")
Counted = tuple[set[str], set[str]]  # the terms and the forms of a section


class Superseded(ValueError):
    """Another ingest of the project began, so this one gives way."""


@dataclass
class Summary:
    """What an ingest did, in pages."""

    added: int = 0
    changed: int = 0
    unchanged: int = 0
    removed: int = 0
    sections: int = 0
    bad: list[Bad] = field(default_factory=list)
    warnings: list[Warned] = field(default_factory=list)


class Refused(ValueError):
    """A strict ingest was warned of its index, so the old one stays."""

    def __init__(self, summary: Summary) -> None:
        super().__init__("the new index was refused; the old one stays")
        self.summary = summary


def ingest(
    project: Project,
    source: Iterable[Page | Bad],
    progress: Callable[[str], None] = lambda line: None,
    *,
    anew: bool = False,
    strict: bool = False,
) -> Summary:
    """Make the project's index hold exactly the source's pages.

    Unchanged pages are skipped, unless everything is to be indexed `anew`. Pages
    that vanished from the source go; a page whose file is bad this time keeps its last good state. Readers see the old
    index until the whole new one is there. Raises ValueError when the source
    has no page at all, since that is rarely what was meant, Superseded when
    another ingest of the project begins meanwhile, and Refused when a `strict`
    one is warned (`search.signals`).
    """
    build = _Build(project, progress, anew, strict)
    try:
        build.read(source)
        build.swap()
    finally:
        build.clean()
    return build.summary


class _Build:
    """One ingest. Pages of its own are marked with its name until they are swapped in."""

    def __init__(self, project: Project, progress: Callable[[str], None], anew: bool, strict: bool) -> None:
        self.project = project
        self.progress = progress
        self.strict = strict
        self.name = secrets.token_hex(7)
        self.summary = Summary()
        self.engine = backends.current()
        self.added = Vocabulary()
        with transaction.atomic():
            index, _ = Index.objects.update_or_create(project=project, defaults={"builder": self.name})
        self.clean()
        self.known = dict(project.documents.values_list("path", "digest"))
        self.current = index.analyser == ANALYSER and not anew  # else every page is indexed again
        self.mixed = False  # pages that another release indexed stay, since their files are bad now
        self.stale: set[str] = set()  # paths of pages that are replaced or gone

    def read(self, source: Iterable[Page | Bad]) -> None:
        """Stage what is new or changed."""
        seen: dict[str, str] = {}
        kept: set[str] = set()
        waiting: list[tuple[Document, list[sections.Part]]] = []
        for page in source:
            if isinstance(page, Page) and page.path in seen:
                page = Bad(page.origin, f"path {page.path} is already taken by {seen[page.path]}")
            if isinstance(page, Bad):
                self.summary.bad.append(page)
                kept.add(page.path)
                continue
            seen[page.path] = page.origin
            page = _composed(page)
            digest = page.digest or _digest(page)
            if self.current and self.known.get(page.path) == digest:
                self.summary.unchanged += 1
                continue
            try:
                parts = sections.split(page.markdown, page.title)
            except RecursionError:
                self.summary.bad.append(Bad(page.origin, "is nested too deeply", page.path))
                continue
            if page.path in self.known:
                self.stale.add(page.path)
            waiting.append((self.document(page, digest), parts))
            if len(waiting) == PAGES_AT_ONCE:
                self.stage(waiting)
                waiting = []
        if not seen:
            raise ValueError("no readable page in the source; nothing was changed")
        if waiting:
            self.stage(waiting)
        gone = self.known.keys() - seen.keys() - kept
        self.mixed = not self.current and bool(kept & self.known.keys())
        self.summary.removed = len(gone)
        self.stale |= gone

    def stage(self, pages: list[tuple[Document, list[sections.Part]]]) -> None:
        """Store some pages where readers do not see them."""
        with transaction.atomic():
            self.claim()
            documents = Document.every.bulk_create(document for document, _ in pages)
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
                for document, (_, parts) in zip(documents, pages, strict=True)
                for position, part in enumerate(parts)
            )
            analysed = [_analyse(row.document, row) for row in rows]
            self.engine.stage(self.project, [entry for entry, _ in analysed])
        self.added.add(counted for _, counted in analysed)
        changed = sum(document.path in self.known for document in documents)
        self.summary.changed += changed
        self.summary.added += len(documents) - changed
        self.summary.sections += len(rows)
        done, parts = self.summary.added + self.summary.changed, self.summary.sections
        self.progress(f"{done} page{pluralize(done)}, {parts} section{pluralize(parts)}")

    def swap(self) -> None:
        """Let readers see what was staged, in one step."""
        if not self.summary.sections and not self.stale:
            return
        old = Document.objects.filter(project=self.project)
        pages = [pk for pk, path in old.values_list("pk", "path") if path in self.stale]
        stale = [
            pk
            for batch in _batches(pages)
            for pk in Section.objects.filter(document__in=batch).values_list("pk", flat=True)
        ]
        vocabulary = self.vocabulary(pages)
        self.progress("preparing the new index")
        prepared = self.engine.prepare(self.project, stale, self.claim)
        with transaction.atomic():
            self.claim()
            self.engine.swap(self.project, stale, prepared)
            for batch in _batches(pages):
                Document.every.filter(pk__in=batch).update(build=f"-{self.name}")
            Document.every.filter(project=self.project, build=self.name).update(build="")
            Index.objects.filter(project=self.project).update(
                vocabulary=vocabulary.encode(), analyser="" if self.mixed else ANALYSER
            )
            project = Project.objects.select_for_update().get(pk=self.project.pk)
            project.index_generation += 1
            project.indexed_at = timezone.now()
            project.save(update_fields=["index_generation", "indexed_at"])
            self.summary.warnings = self.warnings(project)
            if self.strict and any(warned.stops for warned in self.summary.warnings):
                raise Refused(self.summary)

    def warnings(self, project: Project) -> list[Warned]:
        """What others say of the new index, which only this transaction sees yet."""
        savepoint = transaction.savepoint()
        try:
            answers = swapping.send_robust(Project, project=project)  # which logs failures
        finally:
            transaction.savepoint_rollback(savepoint)  # PostgreSQL would not go on after an error of a receiver
            state.forget(project)
        failed = Warned("The new index could not be checked; the log says why.")
        return [warned for _, said in answers for warned in ([failed] if isinstance(said, Exception) else said)]

    def vocabulary(self, stale_pages: list[int]) -> Vocabulary:
        """The words of the index as it will be."""
        if len(stale_pages) == len(self.known):
            return self.added
        stored = Index.objects.get(project=self.project).vocabulary
        vocabulary = Vocabulary.decode(bytes(stored))
        for batch in _batches(stale_pages):
            rows = Section.objects.filter(document__in=batch).select_related("document")
            vocabulary.add((_analyse(row.document, row)[1] for row in rows), -1)
        vocabulary.merge(self.added)
        return vocabulary

    def claim(self) -> None:
        """Make sure, inside a transaction, that no other ingest began meanwhile."""
        if not Index.objects.select_for_update().filter(project=self.project, builder=self.name).first():
            raise Superseded("another ingest of this project began meanwhile")

    def clean(self) -> None:
        """Remove what was retired, and what this ingest or one that died before it has left; in small steps."""
        pages: list[int] = []
        with suppress(Superseded), transaction.atomic():
            self.claim()
            self.engine.discard(self.project)
            hidden = Document.every.filter(project=self.project).exclude(build="")
            pages = list(hidden.values_list("pk", flat=True))  # now: later there may be those of a newer ingest
        for batch in _batches(pages):
            Document.every.filter(pk__in=batch).delete()

    def document(self, page: Page, digest: str) -> Document:
        """A page as it is stored."""
        heading = _first_heading(page.markdown)
        title = page.title or heading or _from_path(page.path)
        aliases = [name for name in (heading, *page.keywords) if name and name.lower() != title.lower()]
        return Document(
            project=self.project,
            path=page.path,
            title=title[:500],
            description=page.description,
            version=page.version[:100],
            language=page.language[:35],
            tags=list(page.tags),
            aliases=aliases,
            boost=page.boost,
            content=page.markdown.strip(),
            digest=digest,
            build=self.name,
        )


def stored(project: Project) -> Iterator[Page]:
    """The pages of a project as they were last ingested: a source for indexing them anew."""
    # Batch by batch: SQLite refuses to write while a read goes on that began before somebody else wrote.
    for batch in _batches(list(project.documents.values_list("pk", flat=True))):
        for document in project.documents.filter(pk__in=batch):
            yield Page(
                origin=document.path,
                path=document.path,
                markdown=document.content,
                title=document.title,
                description=document.description,
                version=document.version,
                language=document.language,
                tags=tuple(document.tags),
                boost=document.boost,
                keywords=tuple(document.aliases),
                digest=document.digest,
            )


def outdated(project: Project) -> bool:
    """Whether the project's pages were indexed by another release's rules."""
    return project.documents.exists() and not Index.objects.filter(project=project, analyser=ANALYSER).exists()


def _composed(page: Page) -> Page:
    """The page with each accented letter as one character, as readers type it (Unicode NFC)."""
    compose = partial(unicodedata.normalize, "NFC")
    return replace(
        page, markdown=compose(page.markdown), title=compose(page.title), description=compose(page.description)
    )


def _digest(page: Page) -> str:
    fields = [
        page.title,
        page.description,
        page.version,
        page.language,
        page.tags,
        page.keywords,
        page.boost,
        page.markdown,
    ]
    return hashlib.sha256(json.dumps(fields).encode()).hexdigest()


def _first_heading(markdown: str) -> str:
    """The page's own title: the first heading of the first level outside code."""
    fence = ""
    for line in markdown.split("\n"):
        stripped = line.lstrip()
        if stripped.startswith(("```", "~~~")):
            fence = "" if fence else stripped[:3]
        elif not fence and line.startswith("# "):
            return sections.anchor_and_heading(sections.plain(sections.clean(line)), {})[1]
    return ""


def _from_path(path: str) -> str:
    return path.rsplit("/", 1)[-1].replace("-", " ").replace("_", " ").capitalize() or "Home"


def _analyse(document: Document, row: Section) -> tuple[Entry, Counted]:
    """A section as engines take it, and what it counts for in the vocabulary."""
    language = document.language or "en"
    called = [row.heading] if row.heading else [document.title, *document.aliases]
    asked = [analysis.name_of(line) for line in _QUESTION.findall(row.body)[:MOST_QUESTIONS]]
    names = list(dict.fromkeys([*(name for text in called for name in analysis.names_of(text)), *asked]))
    about = [document.description, *document.aliases, *document.path.split("/")[-2:]] if row.position == 0 else []
    texts = (document.title, row.heading, " ".join(row.trail[: -1 if row.heading else None]), " ".join(about), row.text)
    forms = [analysis.forms(text) for text in texts]
    terms = [[analysis.stem(form, language) for form in found] for found in forms]
    title, heading, trail, intro, body = (" ".join(found) for found in terms)
    facets = [
        facet("v", document.version),
        facet("l", document.language),
        *(facet("t", tag) for tag in document.tags),
        *(facet("n", name) for name in names),
    ]
    entry = Entry(
        section_id=row.pk,
        document_id=row.document_id,
        position=row.position,
        title=title,
        heading=heading,
        trail=trail,
        about=intro,
        body=body,
        facets=" ".join(facets),
        path=document.path,
        names=" ".join(names),
        language=document.language.lower(),
        version=document.version.lower(),
        boost=document.boost,
    )
    return entry, ({term for found in terms for term in found}, {form for found in forms for form in found})


def _batches(ids: list[int]) -> Iterator[list[int]]:
    return (ids[at : at + PAGES_AT_ONCE] for at in range(0, len(ids), PAGES_AT_ONCE))
