"""A thread in each process that serves. It makes the vectors that are missing, behind the index of words."""

import logging
import os
import sys
import threading
import time

from django.conf import settings
from django.db import close_old_connections, connection
from django.db.models import F

from search.models import Generation
from search.vectors import embedding, registry
from search.vectors.embedders import Embedder, EmbeddingError

logger = logging.getLogger(__name__)

POLL_SECONDS = 5.0
RETRY_SECONDS = 60.0  # after an error, such as an unreachable model server
STOP_SECONDS = 10.0  # for the present batch to end
LINE_SECONDS = 60.0  # between lines of progress in the log
REST = 0.2  # of the time that a batch took: the other threads of the process go first
MAX_REST_SECONDS = 1.0
NICENESS = 19


class _Background:
    """A thread that makes vectors of one project after the other, in small batches with pauses."""

    def __init__(self) -> None:
        self.stopping = threading.Event()
        self.thread: threading.Thread | None = None
        self.rested_at = 0.0  # as time.monotonic()

    def start(self) -> None:
        """Start the thread, unless it runs or vectors are switched off."""
        if self.thread is None and settings.ENV.embeddings != "none":
            self.stopping.clear()
            self.thread = threading.Thread(target=self._run, name="vectors", daemon=True)
            self.thread.start()

    def stop(self) -> None:
        """Stop the thread after its present batch. What it made is stored."""
        self.stopping.set()
        if self.thread:
            self.thread.join(STOP_SECONDS)
            if not self.thread.is_alive():
                self.thread = None

    def _run(self) -> None:
        if sys.platform == "linux":  # elsewhere the priority of a thread cannot be set this way
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), NICENESS)
        embedder = registry.get_embedder()  # loaded here, so that the first search need not wait
        pause = 0.0
        while embedder is not None and not self.stopping.wait(pause):
            pause = POLL_SECONDS
            close_old_connections()
            try:
                self._embed_due(embedder)
            except EmbeddingError as error:
                logger.warning("Vectors could not be made: %s. Search uses words where they are missing.", error)
                pause = RETRY_SECONDS
            except Exception:  # the thread lives as long as the process
                logger.exception("Vectors could not be made.")
                pause = RETRY_SECONDS
            close_old_connections()
        connection.close()

    def _embed_due(self, embedder: Embedder) -> None:
        for generation in find_due(embedder):
            if self.stopping.is_set():
                return
            progress = _Progress(generation.project.domain)
            self.rested_at = time.monotonic()
            try:
                made = embedding.embed(generation.project, embedder, progress.log, self._rest)
            except embedding.RunSuperseded:
                continue
            if made:
                logger.info("%s: %s vectors made.", generation.project.domain, f"{made:,}")

    def _rest(self) -> bool:
        """Pause after a batch. Returns whether to stop."""
        worked = time.monotonic() - self.rested_at
        is_stopped = self.stopping.wait(min(worked * REST, MAX_REST_SECONDS))
        self.rested_at = time.monotonic()
        return is_stopped


class _Progress:
    """Logs the first number of vectors that are missing, and then a line now and then."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.due = 0.0

    def log(self, done: int, total: int) -> None:
        if done < total and time.monotonic() > self.due:
            self.due = time.monotonic() + LINE_SECONDS
            logger.info("%s: %s of %s vectors exist.", self.name, f"{done:,}", f"{total:,}")


def find_due(embedder: Embedder) -> list[Generation]:
    """The generations of indexes whose vectors are not complete."""
    complete = {"project__vector_index__generation": F("number"), "project__vector_index__model": embedder.model}
    return list(Generation.objects.exclude(**complete).select_related("project").order_by("indexed_at"))


_background = _Background()
start, stop = _background.start, _background.stop
