"""A new index, staged in small steps where readers do not see it, then swapped in at once."""

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone

from docsite.core.tenants.models import Project
from search.indexing import entries, link_texts
from search.indexing.outcome import IngestSuperseded
from search.models import Document, Generation, Index, Section
from search.postings import storage
from search.postings.segments import Segment
from search.postings.storage import SegmentList
from search.signals import IndexEffect, IndexWarning, index_compared, index_staged
from search.staged_index import StagedIndex, search_in
from search.text import analysis, sections
from search.text.vocabulary import IndexVocabulary
from search.vectors.texts import compute_digest

FORMAT = 12  # raise it when sections are cut or stored differently: every page is then indexed again
ANALYSER_VERSION = f"{FORMAT}.{analysis.VERSION}"  # stored as `Index.analyser`
PAGES_PER_STEP, SECTIONS_PER_STEP = 50, 1000  # of one transaction, so that other writers never wait for long


@dataclass(frozen=True)
class Replacement:
    """The pages that a swap replaces, by id, with the vocabulary and the segments of the new index."""

    pages: list[int]
    vocabulary: IndexVocabulary
    segments: SegmentList


class IndexBuild:
    """The build of one ingest. The name of the build marks its pages until they are swapped in.

    Every method raises IngestSuperseded when another build of the project has begun, except `clean`.
    """

    def __init__(self, project: Project) -> None:
        self.project = project
        self.name = secrets.token_hex(7)
        self.staged_words = IndexVocabulary()
        self.staged_segments: list[Segment] = []
        with transaction.atomic():
            index, _ = Index.objects.update_or_create(project=project, defaults={"builder": self.name})
        self.clean()
        self.is_current = index.analyser == ANALYSER_VERSION

    def claim(self) -> None:
        """Raise if another build began; else none can begin until the end of the transaction."""
        own = Index.objects.select_for_update().filter(project=self.project, builder=self.name)
        if not own.values_list("pk").first():  # a row would have the vocabulary
            raise IngestSuperseded("another ingest of this project began meanwhile")

    def stage(self, pages: Sequence[tuple[Document, list[sections.Part]]]) -> int:
        """Store some pages where readers do not see them. Returns the number of their sections."""
        for document, _ in pages:
            document.project, document.build = self.project, self.name
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
                    digest=compute_digest(document.title, part.trail, part.text),
                )
                for document, (_, parts) in zip(documents, pages, strict=True)
                for position, part in enumerate(parts)
            )
        # The first section of a page also has what other pages call it, which is known at the end.
        later = [row for row in rows if row.position > 0]
        for at in range(0, len(later), SECTIONS_PER_STEP):
            self._index(later[at : at + SECTIONS_PER_STEP])
        return len(rows)

    def _index(self, rows: Sequence[Section]) -> None:
        """Analyse some staged sections, outside of any transaction, so that others can write meanwhile."""
        analysed = [(row, *entries.analyse(row.document, row)) for row in rows]
        self.staged_segments.append(Segment.build(entry for _, entry, _ in analysed))
        for row, _, words in analysed:
            self.staged_words.add(row.document.groups, [words])

    def _stage_again(self, pages: list[int]) -> None:
        """Stage copies of visible pages, because they have other texts of links now. Their content is the same."""
        for ids in batches(pages):
            documents = {document.pk: document for document in Document.every.filter(pk__in=ids)}
            rows = list(Section.objects.filter(document__in=ids).order_by("pk"))
            for document in documents.values():
                document.pk, document.build = None, self.name
            with transaction.atomic():
                self.claim()
                Document.every.bulk_create(documents.values())
                for row in rows:
                    row.pk, row.document = None, documents[row.document_id]
                Section.objects.bulk_create(rows)
            self._index([row for row in rows if row.position > 0])

    def _index_beginnings(self, replaced: set[str]) -> set[str]:
        """Index the first section of each page of the new index. The texts of links to the page count as its text, too.

        A visible page to which links with other texts lead now is indexed again. Returns the paths of such pages.
        """
        texts = link_texts.find_changes(self.project, self.name, replaced)
        staged = Document.every.filter(project=self.project, build=self.name)
        again = texts.keys() - set(staged.values_list("path", flat=True))
        visible = Document.indexed.filter(project=self.project).values_list("path", "pk") if again else []
        self._stage_again([pk for path, pk in visible if path in again])
        for ids in batches(list(staged.values_list("pk", flat=True))):
            first = Section.objects.filter(document__in=ids, position=0).order_by("pk")
            rows = list(first.select_related("document").defer("document__content"))
            changed = [row.document for row in rows if row.document.path in texts]
            for document in changed:
                document.link_texts = texts[document.path]
            with transaction.atomic():
                self.claim()
                Document.every.bulk_update(changed, ["link_texts"])
            self._index(rows)
        return set(again)

    def prepare(self, replaced: set[str]) -> Replacement:
        """Get ready to swap, with the paths of the pages that leave the index."""
        replaced = replaced | self._index_beginnings(replaced)
        visible = list(Document.indexed.filter(project=self.project).values_list("pk", "path"))
        pages = [pk for pk, path in visible if path in replaced]
        stale = [
            pk for ids in batches(pages) for pk in Section.objects.filter(document__in=ids).values_list("pk", flat=True)
        ]
        vocabulary = self.staged_words if len(pages) == len(visible) else self._vocabulary_without(pages)
        generation = Generation.objects.filter(pk=self.project.pk).values_list("number", flat=True).first() or 0
        segments = storage.extend(self.project, self.staged_segments, stale, generation + 1, self.claim)
        return Replacement(pages, vocabulary, segments)

    def _vocabulary_without(self, pages: list[int]) -> IndexVocabulary:
        """The words of the present index and the staged pages, without those of the pages that leave."""
        vocabulary = IndexVocabulary.decode(bytes(Index.objects.get(project=self.project).vocabulary))
        for ids in batches(pages):
            for row in Section.objects.filter(document__in=ids).select_related("document"):
                vocabulary.add(row.document.groups, [entries.analyse(row.document, row)[1]], -1)
        vocabulary.merge(self.staged_words)
        return vocabulary

    def check(self, replacement: Replacement) -> list[IndexWarning]:
        """Have other apps check the staged index (`search.signals`). Holds no lock."""
        responses = index_staged.send_robust(Project, project=self.project, preview=self._preview(replacement))
        failed = IndexWarning("The new index could not be checked; the log says why.")  # `send_robust` logs it
        return [
            warning
            for _, response in responses
            for warning in ([failed] if isinstance(response, Exception) else response)
        ]

    def compare(self, replacement: Replacement, removed: Sequence[str], *, is_preview: bool) -> list[IndexEffect]:
        """Have other apps compare the staged index with the visible one. Holds no lock. The log has what fails."""
        facts = {"preview": self._preview(replacement), "removed": removed, "is_preview": is_preview}
        responses = index_compared.send_robust(Project, project=self.project, **facts)
        return [effect for _, effects in responses if not isinstance(effects, Exception) for effect in effects]

    def _preview(self, replacement: Replacement) -> Callable[[], AbstractContextManager[None]]:
        pages, vocabulary, segments = replacement.pages, replacement.vocabulary, replacement.segments
        return lambda: search_in(StagedIndex(self.project.pk, self.name, pages, vocabulary, segments.encode()))

    def swap(self, replacement: Replacement, analyser_version: str) -> None:
        """Make the staged index visible, inside a transaction that began with `claim`."""
        for ids in batches(replacement.pages):
            Document.every.filter(pk__in=ids).update(build=f"-{self.name}")
        Document.every.filter(project=self.project, build=self.name).update(build="")
        vocabulary, segments = replacement.vocabulary.encode(), replacement.segments.encode()
        index = Index.objects.filter(project=self.project)
        index.update(vocabulary=vocabulary, segments=segments, analyser=analyser_version)
        generation, _ = Generation.objects.get_or_create(project=self.project)  # `claim` has locked the index
        generation.number = replacement.segments.generation
        generation.indexed_at = timezone.now()
        generation.save(update_fields=["number", "indexed_at"])

    def clean(self) -> None:
        """Delete retired pages, and what this build or one that died has staged; in small steps."""
        pages: list[int] = []
        with suppress(IngestSuperseded), transaction.atomic():
            self.claim()
            storage.discard(self.project)
            hidden = Document.every.filter(project=self.project).exclude(build="")
            pages = list(hidden.values_list("pk", flat=True))  # read now: a later build may stage pages soon
        for ids in batches(pages):
            Document.every.filter(pk__in=ids).delete()


def batches(ids: list[int]) -> Iterator[list[int]]:
    """The ids of pages, as many at once as one step takes."""
    return (ids[at : at + PAGES_PER_STEP] for at in range(0, len(ids), PAGES_PER_STEP))
