"""How near the sections of a project are to a question in meaning: cosines of vectors, exact.

Without vectors every function returns nothing, and search uses words only.
"""

import logging
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from docsite.core import sql
from docsite.core.access.readers import Groups, decode_groups, reader_groups
from docsite.core.postgresql import primary
from docsite.core.sized_cache import SizedCache
from docsite.core.tenants.models import Project
from search.models import Section, SectionVector, is_indexed
from search.staged_index import StagedIndex, staged_index
from search.vectors import registry
from search.vectors.embedders import EmbeddingError, Vectors

MAX_SECTIONS = 100_000  # of a project; larger ones have no vectors, since a search reads each of them
MIN_SHARE = 0.9  # of a project's sections; with fewer vectors, those that have one would come before the others
MAX_BYTES = 128 * 1024 * 1024  # of all matrices in memory, or one matrix that is larger
MAX_QUERIES, MAX_QUERY_CHARACTERS = 1000, 400
RELOAD_FACTOR, RELOAD_SECONDS = 20, 2.0  # loading new vectors takes at most 1/20 of the time
RETRY_SECONDS = 30.0  # after a question that could not be embedded
# Rows that are compared at once. As floats they fit into the cache; four times as many rows take 20 times as long.
_BLOCK = 512

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class _Matrix:
    """The vectors of a project's sections. `ids` ascend; `scales` make each row of `rows` one of length 1.

    `audiences` holds the groups of pages, and `audience` the place in it for each row: not all readers see each page.
    """

    version: tuple[str, int]  # the model, and the generation of the index
    revision: int
    reload_at: float  # as time.monotonic()
    ids: NDArray[np.int64]
    rows: NDArray[np.int8]
    scales: Vectors
    audiences: Sequence[Groups]
    audience: NDArray[np.int64]

    def compare(self, query: Vectors, positions: slice | NDArray[np.intp]) -> Vectors:
        """The cosines of some rows and the query."""
        return np.asarray((self.rows[positions].astype(np.float32) @ query) * self.scales[positions], np.float32)

    def compare_all(self, query: Vectors) -> Vectors:
        """The cosines of all rows and the query."""
        starts = range(0, len(self.ids), _BLOCK)
        return np.concatenate([self.compare(query, slice(start, start + _BLOCK)) for start in starts])

    def compare_readable(self, query: Vectors) -> tuple[NDArray[np.int64], Vectors]:
        """The ids of the sections that the present reader sees, and their cosines with the query."""
        ids, cosines, groups = self.ids, self.compare_all(query), reader_groups()
        if groups is None or not any(self.audiences):
            return ids, cosines
        readable = np.array([not audience or bool(audience & groups) for audience in self.audiences])[self.audience]
        return ids[readable], cosines[readable]


_matrices: SizedCache[int, _Matrix] = SizedCache()
_staged_matrices: WeakKeyDictionary[StagedIndex, _Matrix] = WeakKeyDictionary()
_queries: SizedCache[tuple[str, str], Vectors] = SizedCache()
_load_lock = threading.Lock()
_retry_at = 0.0
primary.forget_with(_matrices.clear)


def query_vector(project: Project, text: str) -> Vectors | None:
    """The vector of a question, [dimensions]. None where the project has no vectors, or the model fails."""
    global _retry_at
    embedder, matrix = registry.get_embedder(), _get_matrix(project)
    text = " ".join(text.split())[:MAX_QUERY_CHARACTERS]
    if embedder is None or matrix is None or not text:
        return None
    key = (embedder.model, text)
    vector = _queries.get(key)
    if vector is None:
        if time.monotonic() < _retry_at:
            return None
        try:
            vector = embedder.embed_query(text)
        except EmbeddingError as error:
            logger.warning("A search used words only: %s.", error)
            _retry_at = time.monotonic() + RETRY_SECONDS
            return None
        _queries.put(key, vector, 1, MAX_QUERIES)
    return vector


def similarities(project: Project, query: Vectors, section_ids: Sequence[int]) -> dict[int, float]:
    """The cosine of each section and the query, -1 to 1. Sections without a vector are left out."""
    matrix = _get_matrix(project)
    if matrix is None or matrix.rows.shape[1:] != query.shape:
        return {}
    wanted = np.sort(np.fromiter(section_ids, np.int64))
    positions = np.searchsorted(matrix.ids, wanted).clip(max=len(matrix.ids) - 1)
    positions = positions[matrix.ids[positions] == wanted]
    return dict(zip(matrix.ids[positions].tolist(), matrix.compare(query, positions).tolist(), strict=True))


def nearest(project: Project, query: Vectors, count: int) -> list[tuple[int, float]]:
    """The ids of the sections nearest to the query that the present reader sees, the nearest first, with cosines."""
    matrix = _get_matrix(project)
    if matrix is None or matrix.rows.shape[1:] != query.shape or count < 1:
        return []
    ids, cosines = matrix.compare_readable(query)
    best = np.argpartition(-cosines, count - 1)[:count] if count < len(ids) else np.arange(len(ids))
    best = best[np.lexsort((best, -cosines[best]))]
    return list(zip(ids[best].tolist(), cosines[best].tolist(), strict=True))


def distribution(project: Project, query: Vectors) -> tuple[float, float] | None:
    """The mean and the standard deviation of the cosines of all sections and the query. None without vectors.

    With them a cosine of one model means the same as that of another: one model's lie between 0.7 and 0.9, another's
    between 0 and 0.6.
    """
    matrix = _get_matrix(project)
    if matrix is None or matrix.rows.shape[1:] != query.shape:
        return None
    _, cosines = matrix.compare_readable(query)
    if not len(cosines):
        return None
    return float(cosines.mean()), float(cosines.std())


def _get_matrix(project: Project) -> _Matrix | None:
    """The vectors of the index that this context searches, cached until the index or the vectors change."""
    embedder = registry.get_embedder()
    if embedder is None:
        return None
    row = sql.fetch_one(  # every search runs this, so it avoids the ORM
        "SELECT revision, number FROM search_vectorindex LEFT JOIN search_generation "
        "ON search_generation.project_id = search_vectorindex.project_id WHERE search_vectorindex.project_id = %s",
        [project.pk],
    )
    if row is None or not row[0]:
        return None
    revision, version = int(row[0]), (embedder.model, int(row[1] or 0))
    if staged := staged_index():
        if staged not in _staged_matrices:
            _staged_matrices[staged] = _load(project, revision, version)
        return _staged_matrices[staged] if len(_staged_matrices[staged].ids) else None
    matrix = _matrices.get(project.pk)
    if matrix is None or not _is_current(matrix, revision, version):
        with _load_lock:  # one thread loads it, the others wait
            matrix = _matrices.get(project.pk)
            if matrix is None or not _is_current(matrix, revision, version):
                matrix = _load(project, revision, version)
                _matrices.put(project.pk, matrix, matrix.rows.nbytes, MAX_BYTES)
    return matrix if len(matrix.ids) else None


def _is_current(matrix: _Matrix, revision: int, version: tuple[str, int]) -> bool:
    """Whether it can be used. While vectors are being made, some newer ones may be missing."""
    return matrix.version == version and (matrix.revision == revision or time.monotonic() < matrix.reload_at)


def _load(project: Project, revision: int, version: tuple[str, int]) -> _Matrix:
    began = time.monotonic()
    indexed = Section.objects.filter(is_indexed("document__"), document__project=project)
    sections = list(indexed.order_by("pk").values_list("pk", "digest", "document__groups"))
    vectors: dict[str, bytes] = {}
    if len(sections) <= MAX_SECTIONS:
        stored = SectionVector.objects.filter(project=project, model=version[0])
        vectors = {digest: bytes(vector) for digest, vector in stored.values_list("digest", "vector").iterator()}
    present = [(pk, vectors[digest], groups) for pk, digest, groups in sections if digest in vectors]
    size = len(present[0][1]) if present else 0
    present = [row for row in present if len(row[1]) == size]  # a server may have changed its model
    wait = max(RELOAD_SECONDS, RELOAD_FACTOR * (time.monotonic() - began)) if present else 0.0
    if len(present) < MIN_SHARE * len(sections):
        present = []
    rows = np.frombuffer(b"".join(vector for _, vector, _ in present), np.int8).reshape(len(present), size)
    lengths = [np.linalg.norm(rows[at : at + _BLOCK].astype(np.float32), axis=1) for at in range(0, len(rows), _BLOCK)]
    places = {groups: place for place, groups in enumerate(sorted({groups for _, _, groups in present}))}
    return _Matrix(
        version,
        revision,
        time.monotonic() + wait,
        np.array([pk for pk, _, _ in present], np.int64),
        rows,
        np.asarray(1 / np.concatenate(lengths) if lengths else [], np.float32),
        [frozenset(decode_groups(groups)) for groups in places],
        np.array([places[groups] for _, _, groups in present], np.int64),
    )
