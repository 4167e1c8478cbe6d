"""What every search needs from an index, cached in the process until the index changes."""

import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from weakref import WeakKeyDictionary

from django.db import connection
from django.db.models import Count, QuerySet

from docsite.core.access.readers import PUBLIC, Groups, decode_groups, reader_groups
from docsite.core.postgresql import primary
from docsite.core.sized_cache import SizedCache
from docsite.core.tenants.models import Project
from search.models import Document, Index
from search.postings.search_index import SearchIndex
from search.postings.storage import SegmentList, decode_current, load_index
from search.staged_index import StagedIndex, staged_index
from search.text.vocabulary import Vocabulary

MAX_BYTES = 256 * 1024 * 1024  # of all indexes in memory or mapped, or one index that is larger
MAX_STATE_BYTES = 256 * 1024 * 1024  # of all states, which are mostly words, or one state that is larger
MAX_READER_BYTES = 16 * 1024 * 1024  # of the states of readers, which share their words with the former
_STATE_BYTES = 4_000  # without the words


@dataclass(frozen=True)
class IndexState:
    """A project's index at one generation.

    `languages` are two-letter codes, or English where no page names one. `site_language` is that of the front page,
    else the commonest. `indexed_at` is None before the first ingest, and for a staged index.
    """

    generation: int
    vocabulary: Vocabulary
    languages: tuple[str, ...]
    site_language: str
    latest_version: str
    segments: SegmentList
    indexed_at: datetime | None
    page_count: int
    groups: Groups = PUBLIC  # every group that a page names


_states: SizedCache[int, IndexState] = SizedCache()
_reader_states: SizedCache[tuple[int, Groups], IndexState] = SizedCache()  # of projects with protected pages
_staged_states: WeakKeyDictionary[StagedIndex, IndexState] = WeakKeyDictionary()
_indexes: SizedCache[int, tuple[SegmentList, SearchIndex]] = SizedCache()
_staged_indexes: WeakKeyDictionary[StagedIndex, SearchIndex] = WeakKeyDictionary()
_load_lock = threading.Lock()
primary.forget_with(_states.clear)
primary.forget_with(_reader_states.clear)


def get_state(project: Project) -> IndexState:
    """The state of the index in the current snapshot of the database; within a preview, of the staged index.

    Its facts about pages are those of the pages that the present reader sees. The vocabulary is that of all pages.
    """
    state, groups = _get_whole_state(project), reader_groups()
    if groups is None or not state.groups:
        return state
    key = (project.pk, groups & state.groups)
    known = _reader_states.get(key)
    if not known or known.generation != state.generation or staged_index():
        known = replace(state, **_describe_pages(Document.objects.filter(project=project)))
        if not staged_index():
            _reader_states.put(key, known, _STATE_BYTES, MAX_READER_BYTES)
    return known


def find_reader_groups(project: Project) -> Groups:
    """The groups of the present reader that pages of the project name."""
    groups = reader_groups()
    if groups == PUBLIC:
        return PUBLIC
    named = _get_whole_state(project).groups
    return named if groups is None else named & groups


def _get_whole_state(project: Project) -> IndexState:
    if staged := staged_index():
        if staged not in _staged_states:
            _staged_states[staged] = _load_state(
                project, 0, None, staged.vocabulary, SegmentList.decode(staged.segments)
            )
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
                state = _load_visible_state(project)
                _states.put(project.pk, state, _STATE_BYTES + state.vocabulary.nbytes, MAX_STATE_BYTES)
    return state


def get_index(project: Project, state: IndexState) -> SearchIndex:
    """The postings of a state. Call it in the database snapshot in which the state was read."""
    known = _indexes.get(project.pk)
    if staged := staged_index():
        if staged not in _staged_indexes:
            _staged_indexes[staged] = load_index(project, state.segments, known[1].by_name if known else {})
        return _staged_indexes[staged]
    if known and known[0] == state.segments:
        return known[1]
    with _load_lock:  # one thread loads it, the others wait
        known = _indexes.get(project.pk)
        if not known or known[0] != state.segments:
            known = state.segments, load_index(project, state.segments, known[1].by_name if known else {})
            _indexes.put(project.pk, known, known[1].nbytes, MAX_BYTES)
    return known[1]


def _load_visible_state(project: Project) -> IndexState:
    """The state that one statement reads, so that its parts are of one generation."""
    columns = ("vocabulary", "segments", "project__generation__number", "project__generation__indexed_at")
    row = Index.objects.filter(pk=project.pk).values_list(*columns).first()
    vocabulary, segments, generation, indexed_at = row or (None, None, None, None)
    words = Vocabulary.decode(bytes(vocabulary or b""))
    return _load_state(project, generation or 0, indexed_at, words, decode_current(segments, generation))


def _load_state(
    project: Project,
    generation: int,
    indexed_at: datetime | None,
    vocabulary: Vocabulary,
    segments: SegmentList,
) -> IndexState:
    documents = Document.indexed.filter(project=project)
    columns = documents.exclude(groups="").values_list("groups", flat=True).distinct()
    groups = frozenset(group for column in columns for group in decode_groups(column))
    facts = _describe_pages(documents)
    return IndexState(generation, vocabulary, segments=segments, indexed_at=indexed_at, groups=groups, **facts)


def _describe_pages(documents: "QuerySet[Document]") -> dict[str, Any]:
    """The fields of a state that are facts about some pages."""
    languages = {language.lower() for language in documents.values_list("language", flat=True).distinct()}
    front = documents.filter(path="/").values_list("language", flat=True).first()
    commonest = documents.values_list("language").annotate(pages=Count("pk")).order_by("-pages", "language").first()
    versions = documents.exclude(version="").values_list("version", flat=True).distinct()
    return {
        "languages": tuple(sorted({language[:2] or "en" for language in languages})) or ("en",),
        "site_language": (front or (commonest[0] if commonest else "")).lower(),
        "latest_version": find_latest(versions),
        "page_count": documents.count(),
    }


def find_latest(versions: Iterable[str]) -> str:
    """The newest of some versions by their numbers: 0.12 after 0.9, 2.0 after 2.0-rc1, numbers after names."""
    return max(versions, key=_version_key, default="").lower()


def _version_key(version: str) -> list[tuple[int, int, str]]:
    """Its parts, made comparable: a word sorts before the end of the version, and a number after it."""
    parts = re.findall(r"[0-9]{1,18}|[^0-9.]+", version.lower().removeprefix("v"))
    return [*((2, int(part), "") if "0" <= part[0] <= "9" else (0, 0, part) for part in parts), (1, 0, "")]
