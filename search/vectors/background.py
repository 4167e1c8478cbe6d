"""A thread in each process that serves. It makes the vectors that are missing, behind the index of words."""

import logging
import os
import sys
import threading
import time

from django.conf import settings
from django.db.models import F

from docsite.core.background import BackgroundThread
from search.models import Generation
from search.vectors import embedding, registry
from search.vectors.embedders import Embedder, EmbeddingError

logger = logging.getLogger(__name__)

LINE_SECONDS = 60.0  # between lines of progress in the log
REST = 0.2  # of the time that a batch took: the other threads of the process go first
MAX_REST_SECONDS = 1.0
NICENESS = 19


class _Embedding(BackgroundThread):
    """A thread that makes vectors of one project after the other, in small batches with pauses.

    What it made is stored after each batch.
    """

    name = "vectors"
    seconds = 5.0
    embedder: Embedder | None = None
    rested_at = 0.0  # as time.monotonic()

    def start(self) -> None:
        """Start the thread, unless it runs or vectors are switched off."""
        if settings.ENV.embeddings != "none":
            super().start()

    def work(self) -> None:
        """Make the vectors that are missing. Without a model the thread ends."""
        if self.embedder is None:
            if sys.platform == "linux":  # elsewhere the priority of a thread cannot be set this way
                os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
            self.embedder = registry.get_embedder()  # loaded here, so that the first search need not wait
        if self.embedder is None:
            self.stopping.set()
            return
        try:
            self._embed_due(self.embedder)
        except EmbeddingError as error:
            logger.warning("Vectors could not be made: %s. Search uses words where they are missing.", error)
            self.stopping.wait(self.retry_seconds)

    def _embed_due(self, embedder: Embedder) -> None:
        for generation in find_due(embedder):
            if self.stopping.is_set():
                return
            name = generation.project.domain
            self.rested_at = time.monotonic()

            def log(done: int, total: int, name: str = name) -> None:
                if done < total:
                    logger.info("%s: %s of %s vectors exist.", name, f"{done:,}", f"{total:,}")

            try:
                made = embedding.embed(generation.project, embedder, log, self._rest_after_batch, seconds=LINE_SECONDS)
            except embedding.RunSuperseded:
                continue
            if made:
                logger.info("%s: %s vectors made.", name, f"{made:,}")

    def _rest_after_batch(self) -> bool:
        """Pause after a batch. Returns whether to stop."""
        worked = time.monotonic() - self.rested_at
        is_stopped = self.stopping.wait(min(worked * REST, MAX_REST_SECONDS))
        self.rested_at = time.monotonic()
        return is_stopped


def find_due(embedder: Embedder) -> list[Generation]:
    """The generations of indexes whose vectors are not complete."""
    complete = {"project__vector_index__generation": F("number"), "project__vector_index__model": embedder.model}
    return list(Generation.objects.exclude(**complete).select_related("project").order_by("indexed_at"))


thread = _Embedding()
