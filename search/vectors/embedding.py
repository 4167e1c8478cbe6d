"""Make the vectors that the sections of a project lack. An unchanged section keeps its vector."""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from django.db import transaction
from django.db.models import F
from django.db.models.functions import Length

from docsite.core.background import leases
from docsite.core.tenants.models import Project
from search.models import Generation, Section, SectionVector, VectorIndex, is_indexed
from search.vectors.embedders import Embedder, EmbeddingError
from search.vectors.nearest import MAX_SECTIONS
from search.vectors.texts import build_text

LEASE = timedelta(minutes=3)  # longer than a batch takes
STORE_SECONDS = 2.0  # between transactions; and no more vectors at once than
STORE_VECTORS = 64
_DELETE_VECTORS = 500

logger = logging.getLogger(__name__)


class RunSuperseded(Exception):
    """Another run makes the vectors of this project now, or the project was deleted."""


def is_complete(project: Project, embedder: Embedder) -> bool:
    """Whether every section of the present index has its vector."""
    number = Generation.objects.filter(project=project).values_list("number", flat=True).first() or 0
    return VectorIndex.objects.filter(project=project, model=embedder.model, generation=number).exists() or not number


def embed(
    project: Project,
    embedder: Embedder,
    progress: Callable[[int, int], None] = lambda done, total: None,
    should_stop: Callable[[], bool] = lambda: False,
    *,
    seconds: float = 0.0,
    take_over: bool = False,
) -> int | None:
    """Make the missing vectors of a project and delete those that no section uses. Returns how many were made.

    None: another run makes them; with `take_over` that run ends instead. `progress` gets the number of vectors that
    exist and that the project needs: at the beginning, and after so many seconds again. `should_stop` is called after
    each batch and may wait. Raises EmbeddingError, and RunSuperseded when another run takes over; what was made until
    then is stored.
    """
    row: VectorIndex | None
    row, _ = VectorIndex.objects.get_or_create(project=project)
    if take_over:
        leases.take(row, LEASE)
    else:
        row = leases.claim(VectorIndex.objects.filter(project=project), LEASE)
    if row is None:
        return None
    try:
        return _Run(project, embedder, row).embed_missing(progress, should_stop, seconds)
    finally:
        leases.release(row)


@dataclass
class _Run:
    """One run that makes vectors."""

    project: Project
    embedder: Embedder
    row: VectorIndex

    def embed_missing(
        self, progress: Callable[[int, int], None], should_stop: Callable[[], bool], seconds: float
    ) -> int:
        made = 0
        shown = time.monotonic()
        while True:  # until no ingest replaced the index meanwhile
            generation = Generation.objects.filter(project=self.project).values_list("number", flat=True).first() or 0
            missing, total = self.find_missing()
            waiting: list[SectionVector] = []
            due = time.monotonic() + STORE_SECONDS
            progress(total - len(missing), total)
            for at in range(0, len(missing), self.embedder.batch_size):
                try:
                    waiting += self.embed_sections(missing[at : at + self.embedder.batch_size])
                except EmbeddingError:
                    self.store(waiting)
                    raise
                done = min(at + self.embedder.batch_size, len(missing))
                is_stopped = should_stop()
                if is_stopped or done == len(missing) or len(waiting) >= STORE_VECTORS or time.monotonic() > due:
                    self.store(waiting)
                    made, waiting, due = made + len(waiting), [], time.monotonic() + STORE_SECONDS
                if time.monotonic() - shown >= seconds:
                    shown = time.monotonic()
                    progress(total - len(missing) + done, total)
                if is_stopped:
                    return made
            if self.finish(generation):
                return made

    def find_missing(self) -> tuple[list[int], int]:
        """The sections whose texts have no vector, one for each text, the shortest first; and the number of all texts.

        A batch takes as long as its longest text would for each.
        """
        visible = Section.objects.filter(is_indexed("document__"), document__project=self.project)
        rows = visible.annotate(size=Length("text")).order_by("-pk").values_list("digest", "size", "pk")
        sections = {digest: (size, pk) for digest, size, pk in rows if digest}
        if visible.count() > MAX_SECTIONS:
            logger.warning("%s has more than %s sections: search uses words only.", self.project, f"{MAX_SECTIONS:,}")
            return [], 0
        total = len(sections)
        stored = SectionVector.objects.filter(project=self.project, model=self.embedder.model)
        for digest in stored.values_list("digest", flat=True).iterator():
            sections.pop(digest, None)
        return [pk for _, pk in sorted(sections.values())], total

    def embed_sections(self, section_ids: list[int]) -> list[SectionVector]:
        """Rows with a signed byte for each dimension, the greatest of a vector being 127 or -127."""
        sections = list(Section.objects.filter(pk__in=section_ids).select_related("document").order_by("pk"))
        if not sections:  # an ingest has removed them
            return []
        vectors = self.embedder.embed_sections(
            [build_text(section.document.title, section.trail, section.text) for section in sections]
        )
        numbers = np.rint(vectors * (127 / np.abs(vectors).max(axis=1, keepdims=True))).astype(np.int8)
        return [
            SectionVector(project=self.project, model=self.embedder.model, digest=one.digest, vector=row.tobytes())
            for one, row in zip(sections, numbers, strict=True)
        ]

    def store(self, vectors: list[SectionVector]) -> None:
        with transaction.atomic():
            if not leases.extend(self.row, LEASE, revision=F("revision") + 1):
                raise RunSuperseded(f"another run makes the vectors of {self.project} now")
            SectionVector.objects.bulk_create(vectors, ignore_conflicts=True)

    def finish(self, generation: int) -> bool:
        """Delete vectors that no section uses. Returns False if the index was replaced since the generation."""
        used = set(Section.objects.filter(document__project=self.project).order_by().values_list("digest", flat=True))
        every = SectionVector.objects.filter(project=self.project).values_list("pk", "digest", "model").iterator()
        unused = [pk for pk, digest, model in every if digest not in used or model != self.embedder.model]
        for at in range(0, len(unused), _DELETE_VECTORS):
            SectionVector.objects.filter(pk__in=unused[at : at + _DELETE_VECTORS]).delete()
        if Generation.objects.filter(project=self.project).exclude(number=generation).exists():
            return False
        if not leases.extend(self.row, LEASE, model=self.embedder.model, generation=generation):
            raise RunSuperseded(f"another run makes the vectors of {self.project} now")
        return True
