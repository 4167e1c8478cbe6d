"""Pages into the index: made aside in small steps, then swapped in at once."""

import secrets
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass, field, replace

from django.db import transaction
from django.db.models import QuerySet
from django.template.defaultfilters import pluralize
from django.utils import timezone

from docsite.core.paths import MAX_LENGTH
from docsite.core.tenants.models import Project
from search import backends
from search.indexing import entries, storable
from search.models import Document, Index, Redirect, Section, Source
from search.preview import StagedIndex, search_in
from search.signals import IndexWarning, index_staged
from search.sources import Bad, Draft, Item, LeftOut, Moved, Page
from search.text import analysis, sections
from search.text.vocabulary import Vocabulary

FORMAT = 6  # raise it when sections are cut or stored differently: every page is then indexed again
ANALYSER = f"{FORMAT}.{analysis.VERSION}"
LONGEST_PATH = MAX_LENGTH - 2  # what `normalize` has cut is as long as it lets it be, or ended in a slash there
PAGES_AT_ONCE, SECTIONS_AT_ONCE = 50, 1000  # a writer elsewhere waits no longer than these take

Staged = tuple[Document, list[sections.Part]]


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
    redirects: int = 0
    bad: list[Bad] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    warnings: list[IndexWarning] = field(default_factory=list)


class Refused(ValueError):
    """The new index was not taken, so the old one stays. The summary tells of what was read."""

    def __init__(self, reason: str, summary: Summary) -> None:
        super().__init__(reason)
        self.summary = summary


def ingest(
    project: Project,
    items: Iterable[Item],
    progress: Callable[[str], None] = lambda line: None,
    *,
    source: Source | None = None,
    strict: bool = False,
) -> Summary:
    """Make the project's index hold exactly the source's pages, beside those of the project's other sources.

    Without a `source` the pages take the place of those that were read without one before. Unchanged pages are
    skipped. Pages that vanished from the source go; a page whose file is bad this time keeps its last good state.
    Readers see the old index until the whole new one is there. Raises Refused when the source
    has no page at all, since that is rarely what was meant, and when a `strict` ingest is warned
    (`search.signals`); and Superseded when another ingest of the project begins meanwhile.
    """
    build = _Build(project, progress, source, strict)
    try:
        build.read(items)
        if not build.seen:
            raise Refused("no readable page in the source; nothing was changed", build.summary)
        build.swap()
    finally:
        build.clean()
    return build.summary


def reindex(project: Project, progress: Callable[[str], None] = lambda line: None) -> Summary:
    """Index every stored page again, of all sources. Raises Superseded when an ingest begins meanwhile."""
    build = _Again(project, progress)
    try:
        build.read(stored(project))
        build.swap()
    finally:
        build.clean()
    return build.summary


def withdraw(source: Source) -> Summary:
    """Take a source's pages and redirects out of the index. Raises Superseded when an ingest begins meanwhile."""
    build = _Build(source.project, lambda line: None, source)
    try:
        build.read([])
        build.swap()
    finally:
        build.clean()
    return build.summary


class _Build:
    """One ingest. Pages of its own are marked with its name until they are swapped in."""

    def __init__(
        self, project: Project, progress: Callable[[str], None], source: Source | None = None, strict: bool = False
    ) -> None:
        self.project = project
        self.progress = progress
        self.source = source
        self.strict = strict
        self.name = secrets.token_hex(7)
        self.summary = Summary()
        self.engine = backends.current()
        self.added = Vocabulary()
        with transaction.atomic():
            index, _ = Index.objects.update_or_create(project=project, defaults={"builder": self.name})
        self.clean()
        self.known = dict(self.own().values_list("path", "digest"))
        others = project.documents.exclude(pk__in=self.own().values("pk"))
        self.foreign = dict(others.values_list("path", "source__name"))
        self.current = index.analyser == ANALYSER  # else every page is indexed again
        self.mixed = not self.current and bool(self.foreign)  # pages that another release indexed stay
        self.stale: set[str] = set()  # paths of pages that are replaced or gone
        self.seen: dict[str, str] = {}  # paths of the source, and what each was made of
        self.kept: set[str] = set()  # those whose files are bad this time
        self.moved: dict[str, str] = {}

    def own(self) -> "QuerySet[Document]":
        """The pages that the source's take the place of."""
        return self.project.documents.filter(source=self.source)

    def read(self, items: Iterable[Item]) -> None:
        """Stage what is new or changed."""
        waiting: list[Staged] = []
        for item in items:
            if page := self.page(item):
                waiting.append(page)
            if len(waiting) == PAGES_AT_ONCE or sum(len(parts) for _, parts in waiting) > SECTIONS_AT_ONCE:
                self.stage(waiting)
                waiting = []
        if waiting:
            self.stage(waiting)
        gone = self.known.keys() - self.seen.keys() - self.kept
        self.mixed = self.mixed or (not self.current and bool(self.kept & self.known.keys()))
        self.summary.removed = len(gone)
        self.stale |= gone

    def page(self, item: Item) -> Staged | None:
        """A page that is new or changed, with its sections; of everything else a note is taken."""
        if isinstance(item, Moved):
            if max(len(item.path), len(item.target)) <= LONGEST_PATH and storable.is_storable(item):
                self.moved[item.path] = item.target
            return None
        if isinstance(item, Page | Draft):
            if len(item.path) > LONGEST_PATH:
                item = Bad(item.origin, f"has a path of more than {LONGEST_PATH} characters")
            elif taken := self.taken(item.path):
                item = Bad(item.origin, f"path {item.path} is already taken by {taken}")
            elif item.digest and self.is_known(item.path, item.digest, item.origin):
                return None
            elif isinstance(item, Draft):
                item = _made(item)
        if isinstance(item, Page) and not storable.is_storable(item):
            item = Bad(item.origin, storable.REASON, item.path)
        if isinstance(item, Bad):
            self.skip(item)
            return None
        if isinstance(item, LeftOut):
            self.summary.left_out.append(storable.told(item))
            return None
        page = entries.composed(item)
        digest = page.digest or entries.page_digest(page)
        if self.is_known(page.path, digest, page.origin):
            return None
        try:
            parts = sections.split(page.markdown, page.title)
        except RecursionError:
            self.skip(Bad(page.origin, "is nested too deeply", page.path))
            return None
        self.seen[page.path] = page.origin
        if page.path in self.known:
            self.stale.add(page.path)
        return self.document(page, digest), parts

    def skip(self, bad: Bad) -> None:
        """Leave a page as it is."""
        self.summary.bad.append(storable.told(bad))
        self.kept.add(bad.path)

    def is_known(self, path: str, digest: str, origin: str) -> bool:
        """Whether the index has a page just as it is, so that it can stay."""
        if not self.current or self.known.get(path) != digest:
            return False
        self.seen[path] = origin
        self.summary.unchanged += 1
        return True

    def taken(self, path: str) -> str:
        """What has a path already, in words; empty when nothing has."""
        if path in self.foreign:
            return f"the source {self.foreign[path]}" if self.foreign[path] else "what was read without a source"
        return self.seen.get(path, "")

    def stage(self, pages: list[Staged]) -> None:
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
        for at in range(0, len(rows), SECTIONS_AT_ONCE):
            # Analysed outside of any transaction, so that others may write meanwhile.
            analysed = [entries.analyse(row.document, row) for row in rows[at : at + SECTIONS_AT_ONCE]]
            with transaction.atomic():
                self.claim()
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
            with transaction.atomic():
                self.claim()
                self.redirect()
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
        is_complete = self.engine.prepare(self.project, stale, self.claim)

        @contextmanager
        def preview() -> Iterator[None]:
            nonlocal is_complete
            if not is_complete:
                self.engine.complete(self.project, stale, self.claim)
                is_complete = True
            with search_in(StagedIndex(self.project.pk, self.name, pages, vocabulary)):
                yield

        self.summary.warnings = self.warnings(preview)
        with transaction.atomic():
            self.claim()
            if self.strict and any(warning.stops for warning in self.summary.warnings):
                raise Refused("the new index was refused; the old one stays", self.summary)
            self.engine.swap(self.project, stale, is_complete)
            for batch in _batches(pages):
                Document.every.filter(pk__in=batch).update(build=f"-{self.name}")
            Document.every.filter(project=self.project, build=self.name).update(build="")
            Index.objects.filter(project=self.project).update(
                vocabulary=vocabulary.encode(), analyser="" if self.mixed else ANALYSER
            )
            self.redirect()
            project = Project.objects.select_for_update().get(pk=self.project.pk)
            project.index_generation += 1
            project.indexed_at = timezone.now()
            project.save(update_fields=["index_generation", "indexed_at"])

    def redirect(self) -> None:
        """Let the redirects be those of the source. One whose path is another source's already is passed over."""
        own = Redirect.objects.filter(project=self.project, source=self.source)
        foreign = set(self.project.redirects.exclude(pk__in=own.values("pk")).values_list("path", flat=True))
        moved = {path: target for path, target in self.moved.items() if path not in foreign}
        self.summary.redirects = len(moved)
        if dict(own.values_list("path", "target")) == moved:
            return
        own.delete()
        Redirect.objects.bulk_create(
            Redirect(project=self.project, source=self.source, path=path, target=target)
            for path, target in moved.items()
        )

    def warnings(self, preview: Callable[[], AbstractContextManager[None]]) -> list[IndexWarning]:
        """The warnings of other apps, which check the staged index."""
        responses = index_staged.send_robust(Project, project=self.project, preview=preview)  # logs failures
        failed = IndexWarning("The new index could not be checked; the log says why.")
        return [
            warning
            for _, response in responses
            for warning in ([failed] if isinstance(response, Exception) else response)
        ]

    def vocabulary(self, stale_pages: list[int]) -> Vocabulary:
        """The words of the index as it will be."""
        if len(stale_pages) == len(self.known) and not self.foreign:
            return self.added
        stored = Index.objects.get(project=self.project).vocabulary
        vocabulary = Vocabulary.decode(bytes(stored))
        for batch in _batches(stale_pages):
            rows = Section.objects.filter(document__in=batch).select_related("document")
            vocabulary.add((entries.analyse(row.document, row)[1] for row in rows), -1)
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
        document = entries.document_of(page)
        document.project, document.source = self.project, self.source
        document.digest, document.build = digest, self.name
        return document


class _Again(_Build):
    """Every page of the project once more; each stays its source's."""

    def __init__(self, project: Project, progress: Callable[[str], None]) -> None:
        super().__init__(project, progress)
        self.sources = dict(project.documents.values_list("path", "source"))
        self.current = self.mixed = False

    def own(self) -> "QuerySet[Document]":
        """All of them."""
        return self.project.documents.all()

    def redirect(self) -> None:
        """They stay as they are."""

    def document(self, page: Page, digest: str) -> Document:
        """A page as it is stored, of the source that it had."""
        document = super().document(page, digest)
        document.source_id = self.sources.get(page.path)
        return document


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
                address=document.address,
                validator=document.validator,
            )


def outdated(project: Project) -> bool:
    """Whether the project's pages were indexed by another release's rules."""
    return project.documents.exists() and not Index.objects.filter(project=project, analyser=ANALYSER).exists()


def _made(draft: Draft) -> Page | Bad | LeftOut:
    """The page of a draft, known again by the draft's digest."""
    try:
        page = draft.make()
    except RecursionError:
        return Bad(draft.origin, "is nested too deeply", draft.path)
    return replace(page, path=draft.path, digest=draft.digest) if isinstance(page, Page) else page


def _batches(ids: list[int]) -> Iterator[list[int]]:
    return (ids[at : at + PAGES_AT_ONCE] for at in range(0, len(ids), PAGES_AT_ONCE))
