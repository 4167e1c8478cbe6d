"""What every search needs from an index, cached in the process until the index changes."""

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from weakref import WeakKeyDictionary

from django.db import connection
from django.db.models import Count

from docsite.core.tenants.models import Project
from search import backends
from search.backends.local import LocalIndex, open_local_index
from search.models import Document, Generation, Index
from search.retrieval.ranking import Candidate
from search.staged_index import StagedIndex, staged_index
from search.text.vocabulary import Vocabulary

MAX_PROJECTS = 64
MAX_CANDIDATES = 10_000  # about 60 MB


@dataclass(frozen=True)
class IndexState:
    """A project's index at one generation.

    `languages` are two-letter codes, or English where no page names one. `site_language` is that of the front page,
    else the commonest. `local_index` answers in place of the database where the project is large. `indexed_at` is None
    before the first ingest, and for a staged index.
    """

    generation: int
    vocabulary: Vocabulary
    languages: tuple[str, ...]
    site_language: str
    latest_version: str
    local_index: LocalIndex | None
    indexed_at: datetime | None
    page_count: int


_states: OrderedDict[int, IndexState] = OrderedDict()
_staged_states: WeakKeyDictionary[StagedIndex, IndexState] = WeakKeyDictionary()
_candidates: OrderedDict[int, Candidate] = OrderedDict()
_lock = threading.Lock()
_load_lock = threading.Lock()


def get_state(project: Project) -> IndexState:
    """The state of the index in the current snapshot of the database; within a preview, of the staged index."""
    if staged := staged_index():
        if staged not in _staged_states:
            _staged_states[staged] = _load_state(project, 0, None, staged.vocabulary)
        return _staged_states[staged]
    with connection.cursor() as cursor:  # every search runs this, and the ORM would take five times as long
        cursor.execute("SELECT number FROM search_generation WHERE project_id = %s", [project.pk])
        row = cursor.fetchone()
    generation = int(row[0]) if row else 0
    state = _states.get(project.pk)
    if not state or state.generation != generation:
        with _load_lock:  # one thread loads it, the others wait
            state = _states.get(project.pk)
            if not state or state.generation != generation:
                stored = Index.objects.filter(pk=project.pk).values_list("vocabulary", flat=True).first()
                vocabulary = Vocabulary.decode(bytes(stored or b""))
                indexed_at = Generation.objects.filter(pk=project.pk).values_list("indexed_at", flat=True).first()
                state = _load_state(project, generation, indexed_at, vocabulary)
    with _lock:
        _states[project.pk] = state
        _states.move_to_end(project.pk)
        while len(_states) > MAX_PROJECTS:
            _states.popitem(last=False)
    return state


def load_candidates(project: Project, section_ids: list[int]) -> list[Candidate]:
    """Sections ready to be scored, in the order of the ids. Cached: the terms of a section id never change."""
    with _lock:
        known = {pk: _candidates[pk] for pk in section_ids if pk in _candidates}
        for pk in known:
            _candidates.move_to_end(pk)
    missing = [pk for pk in section_ids if pk not in known]
    if missing:
        loaded = {entry.section_id: Candidate(entry) for entry in backends.current().entries(project, missing)}
        known |= loaded
        with _lock:
            _candidates.update(loaded)
            while len(_candidates) > MAX_CANDIDATES:
                _candidates.popitem(last=False)
    return [known[pk] for pk in section_ids]


def _load_state(project: Project, generation: int, indexed_at: datetime | None, vocabulary: Vocabulary) -> IndexState:
    documents = Document.objects.filter(project=project)
    languages = {language.lower() for language in documents.values_list("language", flat=True).distinct()}
    front = documents.filter(path="/").values_list("language", flat=True).first()
    commonest = documents.values_list("language").annotate(pages=Count("pk")).order_by("-pages", "language").first()
    versions = documents.exclude(version="").values_list("version", flat=True).distinct()
    return IndexState(
        generation,
        vocabulary,
        tuple(sorted({language[:2] or "en" for language in languages})) or ("en",),
        (front or (commonest[0] if commonest else "")).lower(),
        find_latest(versions),
        open_local_index(project, vocabulary.sections, generation, indexed_at),
        indexed_at,
        documents.count(),
    )


def find_latest(versions: Iterable[str]) -> str:
    """The newest of some versions by their numbers: 0.12 after 0.9, 2.0 after 2.0-rc1, numbers after names."""
    return max(versions, key=_version_key, default="").lower()


def _version_key(version: str) -> list[tuple[int, int, str]]:
    """Its parts, made comparable: a word sorts before the end of the version, and a number after it."""
    parts = re.findall(r"[0-9]{1,18}|[^0-9.]+", version.lower().removeprefix("v"))
    return [*((2, int(part), "") if "0" <= part[0] <= "9" else (0, 0, part) for part in parts), (1, 0, "")]
