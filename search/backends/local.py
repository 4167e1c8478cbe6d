"""A second index of a large project, in tantivy on the local disk: many times faster than the database.

The database stays the source of truth. Each process that searches a large
project builds the local index of its current generation, or waits until another
process of the host has built it. Meanwhile the database answers.
"""

import fcntl
import logging
import math
import re
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from datetime import datetime
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import connection

from docsite.core.db import snapshot
from docsite.core.tenants.models import Project
from search.models import Generation, Section
from search.text.terms import EngineQuery, Entry

if TYPE_CHECKING:
    import tantivy

INSTALLED = find_spec("tantivy") is not None
_WEIGHTS = {"title": 10, "heading": 5, "trail": 3, "about": 3, "body": 1}  # how often a term of the field is repeated
_MEMORY = 64_000_000  # bytes, while an index is built
_BATCH = 500  # sections read at once
_RETRY_SECONDS = 10  # after which a process tries to build the index itself

_log = logging.getLogger(__name__)


class LocalIndex:
    """The local index of one generation. It is built in the background when `is_ready` is first called."""

    def __init__(self, project: Project, generation: int, indexed_at: datetime) -> None:
        self.project = project
        self.generation = generation
        # The time as well: a database that was restored may come to the same generation with other pages.
        self.folder = _home() / f"{project.pk}-{generation}-{int(indexed_at.timestamp() * 1_000_000)}"
        self._tried_at = 0.0
        self._lock = threading.Lock()

    def is_ready(self) -> bool:
        """Whether it can be searched. If not, this starts to build it."""
        if "_index" in self.__dict__:
            return True
        if self.folder.exists():
            try:
                self._index  # noqa: B018  # opens it
            except (OSError, ValueError):  # a newer generation has just replaced it
                return False
            return True
        with self._lock:
            now = time.monotonic()
            if not self._tried_at or now - self._tried_at > _RETRY_SECONDS:
                self._tried_at = now
                threading.Thread(target=self._build, name="local-index", daemon=True).start()
        return False

    def candidates(
        self, project: Project, query: EngineQuery, facets: Sequence[Sequence[str]], limit: int
    ) -> list[int]:
        """The likeliest sections by BM25, best first."""
        from tantivy import Occur, Query

        schema, searcher = self._index
        scored = [(Occur.Should, Query.term_query(schema, "terms", term, "freq")) for term in query.scored]
        required = [(Occur.Must, Query.boolean_query(scored))]
        for alternatives in facets:
            one = Query.term_set_query(schema, "facets", list(alternatives))
            required.append((Occur.Must, Query.const_score_query(one, 0.0)))
        found = searcher.search(Query.boolean_query(required) if facets else required[0][1], limit, count=False).hits
        ids = searcher.fast_field_values("section", [address for _, address in found])
        return [int(pk) for pk in ids if pk is not None]

    @cached_property
    def _index(self) -> "tuple[tantivy.Schema, tantivy.Searcher]":
        import tantivy

        index = tantivy.Index.open(str(self.folder))
        return index.schema, index.searcher()

    def _build(self) -> None:
        try:
            _home().mkdir(exist_ok=True)
            with (_home() / f"{self.project.pk}.lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                if not self.folder.exists():
                    self._write()
        except BlockingIOError:
            pass  # another process builds it
        except Exception:
            self._tried_at = math.inf  # never again: the database answers
            _log.exception("The local index of %s could not be built", self.project.domain)
        finally:
            connection.close()

    def _write(self) -> None:
        import tantivy

        for old in _home().glob(f"{self.project.pk}-*"):
            if _parse_generation(old) < self.generation or old.suffix:
                shutil.rmtree(old, ignore_errors=True)
        draft = self.folder.with_suffix(".draft")
        draft.mkdir()
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("terms", tokenizer_name="whitespace", index_option="freq")
        builder.add_text_field("facets", tokenizer_name="whitespace", index_option="basic")
        builder.add_integer_field("section", fast=True)
        schema = builder.build()
        writer = tantivy.Index(schema, str(draft)).writer(_MEMORY, 1)
        with snapshot():
            if not Generation.objects.filter(pk=self.project.pk, number=self.generation).exists():
                return
            for entry in _load_entries(self.project):
                terms = [text for name, weight in _WEIGHTS.items() for text in [getattr(entry, name)] * weight]
                writer.add_document(
                    tantivy.Document(terms=" ".join(terms), facets=entry.facets, section=entry.section_id)
                )
        writer.commit()
        writer.wait_merging_threads()
        draft.rename(self.folder)


def open_local_index(
    project: Project, sections: int, generation: int, indexed_at: datetime | None
) -> LocalIndex | None:
    """The local index of a generation; None for small projects or without tantivy."""
    if not INSTALLED or indexed_at is None or sections < settings.ENV.tantivy_sections:
        return None
    return LocalIndex(project, generation, indexed_at)


def drop(project: Project) -> None:
    """Delete the local indexes of the project on this host."""
    for folder in _home().glob(f"{project.pk}-*"):
        shutil.rmtree(folder, ignore_errors=True)


def _load_entries(project: Project) -> Iterator[Entry]:
    from search import backends

    ids = list(Section.objects.filter(document__project=project, document__build="").values_list("pk", flat=True))
    for at in range(0, len(ids), _BATCH):
        yield from backends.current().entries(project, ids[at : at + _BATCH])


def _home() -> Path:
    return Path(settings.DATA_DIR) / "tantivy"


def _parse_generation(folder: Path) -> int:
    return int(re.split("[-.]", folder.name)[1])
