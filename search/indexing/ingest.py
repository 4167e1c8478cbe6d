"""Read a source's pages into a project's index."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from functools import partial

from django.db import transaction
from django.db.models import QuerySet
from django.template.defaultfilters import pluralize
from django.utils import timezone

from docsite.core.tenants.models import Project
from search.indexing import entries, link_texts, report
from search.indexing.build import ANALYSER_VERSION, PAGES_PER_STEP, SECTIONS_PER_STEP, IndexBuild, batches
from search.indexing.changes import NewPage, SourceChanges
from search.indexing.outcome import IngestRefused, IngestSuperseded, Summary
from search.indexing.page_groups import GroupRules
from search.models import Document, Index, PageWords, Redirect, Source
from search.sources import Draft, Item, Page, Problem

STAGED_LATELY = timedelta(minutes=15)  # staged pages that are older belong to an ingest that died, or hardly moves


def ingest(
    project: Project,
    items: Iterable[Item],
    progress: Callable[[str], None] = lambda line: None,
    *,
    source: Source | None = None,
    strict: bool = False,
    fail_on: Collection[str] = (),
    compares: bool = False,
    is_preview: bool = False,
    groups: str | None = None,
) -> Summary:
    """Bring the source's pages into the project's index. The pages of its other sources stay.

    Without a `source` the pages replace those that an earlier ingest read without a source. Unchanged pages are not
    indexed again. Pages that the source no longer has are removed; a page that cannot be read this time stays as it
    was. Readers see the old index until the new one is complete. `progress` gets a line of text now and then.
    `groups` are those of the readers of pages that name none; None: as the source has them.

    With `compares` the summary has the effects of the new index (`search.signals`). With `is_preview` the new index is
    discarded in the end; the `source` need not be stored then.

    Raises IngestRefused when the source has no page, since that is rarely intended; with `strict` also when a check
    stops it (`search.signals`), with `fail_on` also when the report has such a loss (`report.KINDS`). Raises
    IngestSuperseded when another ingest of the project begins meanwhile.
    """
    group_rules = GroupRules.load(project)
    ingest = _Ingest(
        project,
        progress,
        source,
        is_strict=strict or bool(fail_on),
        fail_on=fail_on,
        compares=compares,
        is_preview=is_preview,
        groups=groups,
    )
    try:
        return ingest.run(items)
    finally:
        if GroupRules.load(project) != group_rules:  # the owner has protected a folder meanwhile
            with suppress(IngestSuperseded):  # by one that has the new rules
                apply_groups(project)


def reindex(project: Project, progress: Callable[[str], None] = lambda line: None) -> Summary:
    """Index every stored page again, of all sources. Raises IngestSuperseded when another ingest begins meanwhile."""
    return _Reindex(project, progress, is_current=False).run(stored_pages(project))


def set_words(project: Project, path: str, words: str) -> bool:
    """Store the words that the owner adds to a page, one name a line, and index the page again.

    Returns False while an ingest of the project runs, which would have to end: then the next ingest indexes the page.
    """
    if words:
        PageWords.objects.update_or_create(project=project, path=path, defaults={"words": words})
    else:
        for stored in PageWords.objects.filter(project=project, path=path):
            stored.delete()
    if Document.every.filter(project=project).exclude(build="").exists():
        return False
    _Reindex(project, path=path).run(stored_pages(project, path), may_be_empty=True)
    return True


def apply_groups(project: Project) -> bool:
    """Give the stored pages the groups of the present rules. No source is read, and no vector is computed again.

    Returns False while an ingest of the project runs, since it would have to end. Then that ingest does it in the end,
    whatever its result.
    """
    staged = Document.every.filter(project=project, ingested_at__gt=timezone.now() - STAGED_LATELY).exclude(build="")
    if staged.exists():
        return False
    _Reindex(project).run(_stored_drafts(project), may_be_empty=True)
    return True


def withdraw(source: Source) -> Summary:
    """Take a source's pages and redirects out of the index.

    Raises IngestSuperseded when another ingest begins meanwhile.
    """
    named = None if source.by_command else source
    return _Ingest(source.project, lambda line: None, named).run([], may_be_empty=True)


@dataclass
class _Ingest:
    project: Project
    progress: Callable[[str], None]
    source: Source | None = None  # None also for one that is not stored yet
    is_strict: bool = False
    fail_on: Collection[str] = ()
    compares: bool = False
    is_preview: bool = False
    groups: str | None = None

    def __post_init__(self) -> None:
        self.summary = Summary()
        self.build = IndexBuild(self.project)
        self.group_rules = GroupRules.load(self.project)
        if self.groups is not None:
            self.group_rules = self.group_rules.with_source(self.source.pk if self.source else None, self.groups)
        self.is_new_source = self.source is not None and self.source.pk is None
        self.source = None if self.is_new_source else self.source
        self.changes = self.find_changes()

    def find_changes(self) -> SourceChanges:
        own = Document.indexed.filter(project=self.project, source=self.source)
        replaceable = own.none() if self.is_new_source else own
        return self.compare_with(replaceable, is_current=self.build.is_current)

    def compare_with(self, replaceable: "QuerySet[Document]", *, is_current: bool) -> SourceChanges:
        return SourceChanges(self.project, replaceable, self.find_groups, is_current=is_current, summary=self.summary)

    def find_groups(self, path: str, own_groups: Sequence[str] | None) -> str:
        """The groups of a page, as a column holds them."""
        return self.group_rules.find(path, self.source.pk if self.source else None, own_groups)

    def run(self, items: Iterable[Item], *, may_be_empty: bool = False) -> Summary:
        try:
            self.stage(items)
            self.make_report()
            if self.changes.is_empty and not may_be_empty:
                raise IngestRefused("no readable page in the source; nothing was changed", self.summary)
            self.publish()
        finally:
            self.build.clean()
        return self.summary

    def stage(self, items: Iterable[Item]) -> None:
        """Stage the new and changed pages, some at a time."""
        waiting: list[NewPage] = []
        for page in self.changes.pages(items):
            waiting.append(page)
            if len(waiting) == PAGES_PER_STEP or sum(len(one.parts) for one in waiting) > SECTIONS_PER_STEP:
                self.stage_some(waiting)
                waiting = []
        if waiting:
            self.stage_some(waiting)

    def stage_some(self, pages: list[NewPage]) -> None:
        summary = self.summary
        summary.sections += self.build.stage([(self.build_document(page), page.parts) for page in pages])
        for one in pages:
            kind = "changed" if one.page.path in self.changes.digests else "added"
            summary.paths[kind].append(one.page.path)
        summary.added, summary.changed = (len(summary.paths[kind]) for kind in ("added", "changed"))
        done = summary.added + summary.changed
        self.progress(f"{done} page{pluralize(done)}, {summary.sections} section{pluralize(summary.sections)}")

    def build_document(self, new: NewPage) -> Document:
        document = entries.build_document(new.page)
        document.source, document.digest = self.source, new.digest
        document.diagnostics = report.diagnose(new.page, new.parts)
        document.words = self.changes.words.get(document.path, "")
        document.links = link_texts.list_links(self.project, new.page)
        document.groups = self.find_groups(document.path, document.own_groups)
        return document

    def publish(self) -> None:
        """Check what was staged, and let readers see it in one step."""
        summary = self.summary
        replacement = None
        if summary.sections or self.changes.replaced:
            self.progress("preparing the new index")
            replacement = self.build.prepare(self.changes.replaced)
            summary.warnings += self.build.check(replacement)
            if self.compares:
                self.progress("comparing the new index with the old one")
                removed = summary.paths["removed"]
                summary.effects = self.build.compare(replacement, removed, is_preview=self.is_preview)
        if self.is_preview:
            return
        with transaction.atomic():
            self.build.claim()
            if self.is_strict and any(warning.stops for warning in summary.warnings):
                raise IngestRefused("the new index was refused; the old one stays", summary)
            if replacement:
                self.build.swap(replacement, "" if self.changes.has_old_pages else ANALYSER_VERSION)
            self.update_redirects()

    def make_report(self) -> None:
        """Say what was read and lost, and warn of what is less than before."""
        builds = [self.build.name] if self.is_new_source else [self.build.name, ""]
        documents = Document.every.filter(project=self.project, source=self.source, build__in=builds)
        found = report.build(self.project, documents, self.changes.replaced, self.summary, self.changes.redirects)
        self.summary.report = found
        self.summary.warnings = report.compare(found)
        self.summary.warnings += report.find_failures(found, self.fail_on)

    def update_redirects(self) -> None:
        """Store the source's redirects, except from paths that another source redirects already."""
        own = Redirect.objects.filter(project=self.project, source=self.source)
        others = set(self.project.redirects.exclude(pk__in=own.values("pk")).values_list("path", flat=True))
        redirects = {path: target for path, target in self.changes.redirects.items() if path not in others}
        self.summary.redirects = len(redirects)
        if dict(own.values_list("path", "target")) == redirects:
            return
        own.delete()
        Redirect.objects.bulk_create(
            Redirect(project=self.project, source=self.source, path=path, target=target)
            for path, target in redirects.items()
        )


class _Reindex(_Ingest):
    """An ingest of the project's own pages, each of which keeps its source. Redirects stay as they are.

    With a `path` it is one page. Pages whose words and groups did not change stay, unless `is_current` is False.
    """

    def __init__(
        self,
        project: Project,
        progress: Callable[[str], None] = lambda line: None,
        *,
        path: str = "",
        is_current: bool = True,
    ) -> None:
        self.pages = Document.indexed.filter(project=project, **({"path": path} if path else {}))
        self.sources = dict(self.pages.values_list("path", "source"))
        self.may_be_current = is_current
        super().__init__(project, progress)

    def find_changes(self) -> SourceChanges:
        return self.compare_with(self.pages, is_current=self.may_be_current and self.build.is_current)

    def find_groups(self, path: str, own_groups: Sequence[str] | None) -> str:
        return self.group_rules.find(path, self.sources.get(path), own_groups)

    def build_document(self, new: NewPage) -> Document:
        document = super().build_document(new)
        document.source_id = self.sources.get(new.page.path)
        return document

    def make_report(self) -> None:
        pass

    def update_redirects(self) -> None:
        pass


def _stored_drafts(project: Project) -> Iterator[Draft]:
    """The pages of a project as drafts, of which only those that changed are loaded."""
    for path, digest in list(Document.indexed.filter(project=project).values_list("path", "digest")):
        yield Draft(path, path, digest, partial(_load_stored, project, path))


def _load_stored(project: Project, path: str) -> Page:
    return next(stored_pages(project, path))


def stored_pages(project: Project, path: str = "") -> Iterator[Page]:
    """The pages of a project as they were last ingested, or the one at a path."""
    # Batch by batch: SQLite refuses to write during a read that began before somebody else wrote.
    documents = Document.indexed.filter(project=project, **({"path": path} if path else {}))
    for ids in batches(list(documents.values_list("pk", flat=True))):
        for document in documents.filter(pk__in=ids):
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
                groups=None if document.own_groups is None else tuple(document.own_groups),
                anchors=tuple((document.diagnostics or {}).get("ids", ())),
                problems=tuple(Problem(*fields) for fields in (document.diagnostics or {}).get("problems", ())),
            )


def needs_reindex(project: Project) -> bool:
    """Whether pages of the project were indexed by the rules of another release."""
    has_pages = Document.indexed.filter(project=project).exists()
    return has_pages and not Index.objects.filter(project=project, analyser=ANALYSER_VERSION).exists()
