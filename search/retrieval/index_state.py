"""What every search needs from an index, cached in the process until the index changes.

Where pages are protected, readers have states of their own: one for those who see public pages only, and one for each
set of groups that searches. All that a search counts comes from the pages that the reader sees, so scores, completions
and corrections do not depend on any other page.
"""

import logging
import re
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any
from weakref import WeakKeyDictionary

from django.db.models import Count, QuerySet

from docsite.core import sql
from docsite.core.access.readers import PUBLIC, Groups, decode_groups, reader_groups
from docsite.core.postgresql import primary
from docsite.core.sized_cache import SizedCache
from docsite.core.tenants.models import Project
from search.models import Document, Index
from search.postings.search_index import SearchIndex
from search.postings.storage import SegmentList, load_index
from search.staged_index import StagedIndex, staged_index
from search.text.terms import group_facets
from search.text.vocabulary import IndexVocabulary, Vocabulary

MAX_BYTES = 256 * 1024 * 1024  # of all cached indexes; a single larger one is cached alone
MAX_STATE_BYTES = 256 * 1024 * 1024  # of all cached states, which are mostly words; a single larger one is cached alone
MAX_GROUP_SETS = 8  # of readers of a project, whose states are in memory
SET_IDLE_SECONDS = 600.0  # without a search, after which a set gives its place to another one
_REFUSAL = (
    "More than %s sets of readers' groups search %s within %.0f minutes. Each search of a further set takes longer, "
    "since what it needs is not kept in memory."
)
MAX_UNNAMED = 4  # pages without a language for each one in the commonest language, which is then still the site's
_STATE_BYTES = 4_000  # without the words

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class IndexState:
    """A project's index at one generation, as some readers see it.

    `languages` are two-letter codes, or English where no page names one. `site_language` is that of the front page,
    else the commonest outside of the folders of translations. `indexed_at` is None before the first ingest, and for a
    staged index.
    """

    generation: int
    vocabulary: Vocabulary
    languages: tuple[str, ...]
    site_language: str
    latest_version: str
    segments: SegmentList
    indexed_at: datetime | None
    page_count: int
    index: SearchIndex | None = None  # of the sections that the readers see; None: of all sections

    @property
    def nbytes(self) -> int:
        """About the memory that it takes."""
        return _STATE_BYTES + self.vocabulary.nbytes + (self.index.part_nbytes if self.index else 0)


@dataclass(eq=False)
class ReaderStates:
    """The states of one generation of an index by the groups of readers, and what they are made of.

    Those who see every page have the key None; so has everybody where no page is protected.
    `columns` maps each value of `Document.groups` to the names of groups in it.
    """

    generation: int
    indexed_at: datetime | None
    words: IndexVocabulary
    segments: SegmentList
    columns: dict[str, Groups]
    by_groups: dict[Groups | None, IndexState] = field(default_factory=dict)
    used_at: dict[Groups | None, float] = field(default_factory=dict)  # as time.monotonic()
    refused: int = 0  # searches by readers whose set of groups had no place

    @cached_property
    def groups(self) -> Groups:
        """Every group that a page names."""
        return PUBLIC.union(*self.columns.values())

    @property
    def nbytes(self) -> int:
        """About the memory that they take."""
        return sum(map(len, self.words.stored.values())) + sum(state.nbytes for state in self.by_groups.values())

    def make_room(self, groups: Groups | None) -> bool:
        """Whether a state may be kept for these groups.

        Drops the set that was used longest ago if it has been idle for `SET_IDLE_SECONDS`.
        """
        sets = {by_group: self.used_at[by_group] for by_group in self.by_groups if by_group}
        if not groups or len(sets) < MAX_GROUP_SETS:
            return True
        oldest = min(sets, key=sets.__getitem__)
        if time.monotonic() - sets[oldest] < SET_IDLE_SECONDS:
            return False
        del self.by_groups[oldest], self.used_at[oldest]
        return True


_states: SizedCache[int, ReaderStates] = SizedCache()
_staged_states: WeakKeyDictionary[StagedIndex, ReaderStates] = WeakKeyDictionary()
_indexes: SizedCache[int, tuple[SegmentList, SearchIndex]] = SizedCache()
_staged_indexes: WeakKeyDictionary[StagedIndex, SearchIndex] = WeakKeyDictionary()
_load_lock = threading.RLock()  # what makes a state loads an index
primary.forget_with(_states.clear)


def get_state(project: Project) -> IndexState:
    """The state of the index in the current snapshot of the database; within a preview, of the staged index.

    It knows only the pages that the present reader sees. If `MAX_GROUP_SETS` other sets of groups are in use, the state
    is built for this call and not kept.
    """
    states, groups = _get_states(project), reader_groups()
    groups = groups & states.groups if groups is not None and states.columns else None
    state = states.by_groups.get(groups)
    if state is None:
        with _load_lock:  # one thread makes it, the others wait
            state = states.by_groups.get(groups)
            if state is None and states.make_room(groups):
                states.used_at[groups] = time.monotonic()
                state = states.by_groups[groups] = _build_state(project, states, groups)
                if _states.get(project.pk) is states:
                    _states.put(project.pk, states, states.nbytes, MAX_STATE_BYTES)
        if state is None:
            states.refused += 1
            if states.refused == 1:
                logger.warning(_REFUSAL, MAX_GROUP_SETS, project.domain, SET_IDLE_SECONDS / 60)
            return _build_state(project, states, groups)
    if groups:
        states.used_at[groups] = time.monotonic()
    return state


def get_scope(project: Project) -> tuple[int, Groups]:
    """The generation of the index, and the groups of the present reader that its pages name."""
    states, groups = _get_states(project), reader_groups()
    return states.generation, states.groups if groups is None else states.groups & groups


def find_reader_groups(project: Project) -> Groups:
    """The groups of the present reader that pages of the project name."""
    return PUBLIC if reader_groups() == PUBLIC else get_scope(project)[1]


def count_group_sets(project: Project) -> tuple[int, int]:
    """The sets of groups that have a state in this process, and the searches of others since the index changed."""
    states = _states.get(project.pk)
    return (sum(map(bool, [*states.by_groups])), states.refused) if states else (0, 0)


def _get_states(project: Project) -> ReaderStates:
    if staged := staged_index():
        if staged not in _staged_states:
            segments = SegmentList.decode(staged.segments)
            _staged_states[staged] = ReaderStates(0, None, staged.vocabulary, segments, _load_columns(project))
        return _staged_states[staged]
    # Every search runs this, and the ORM would take five times as long.
    row = sql.fetch_one("SELECT number FROM search_generation WHERE project_id = %s", [project.pk])
    generation = int(row[0]) if row else 0
    states = _states.get(project.pk)
    if not states or states.generation != generation:
        with _load_lock:  # one thread loads it, the others wait
            states = _states.get(project.pk)
            if not states or states.generation != generation:
                states = _load_states(project)
                _states.put(project.pk, states, states.nbytes, MAX_STATE_BYTES)
    return states


def get_index(project: Project, state: IndexState) -> SearchIndex:
    """The postings of a state. Call it in the database snapshot in which the state was read."""
    return state.index or _get_whole_index(project, state.segments)


def _get_whole_index(project: Project, segments: SegmentList) -> SearchIndex:
    known = _indexes.get(project.pk)
    if staged := staged_index():
        if staged not in _staged_indexes:
            _staged_indexes[staged] = load_index(project, segments, known[1].by_name if known else {})
        return _staged_indexes[staged]
    if known and known[0] == segments:
        return known[1]
    with _load_lock:  # one thread loads it, the others wait
        known = _indexes.get(project.pk)
        if not known or known[0] != segments:
            known = segments, load_index(project, segments, known[1].by_name if known else {})
            _indexes.put(project.pk, known, known[1].nbytes, MAX_BYTES)
    return known[1]


def _load_states(project: Project) -> ReaderStates:
    """The states of the current generation, still empty.

    One statement reads words, segments and generation, so that they fit each other; a second one reads the groups.
    """
    columns = ("vocabulary", "segments", "project__generation__number", "project__generation__indexed_at")
    row = Index.objects.filter(pk=project.pk).values_list(*columns).first()
    vocabulary, segments, generation, indexed_at = row or (None, None, None, None)
    words = IndexVocabulary.decode(bytes(vocabulary or b""))
    return ReaderStates(generation or 0, indexed_at, words, SegmentList.decode(segments), _load_columns(project))


def _load_columns(project: Project) -> dict[str, Groups]:
    protected = Document.indexed.filter(project=project).exclude(groups="")
    return {
        column: frozenset(decode_groups(column)) for column in protected.values_list("groups", flat=True).distinct()
    }


def _build_state(project: Project, states: ReaderStates, groups: Groups | None) -> IndexState:
    """The state for the present reader, whose groups these are."""
    words, columns = states.words, states.columns
    if groups is None:
        vocabulary, index = words.select(words.columns | {""}), None
    else:
        seen = [column for column, names in columns.items() if not names.isdisjoint(groups)]
        vocabulary = words.select(["", *seen])
        facets = [*group_facets(()), *group_facets(sorted(groups))]
        index = _get_whole_index(project, states.segments).restrict(facets)
    documents = Document.indexed if groups is None else Document.objects
    facts = _describe_pages(documents.filter(project=project))
    return IndexState(
        states.generation, vocabulary, segments=states.segments, indexed_at=states.indexed_at, index=index, **facts
    )


def _describe_pages(documents: "QuerySet[Document]") -> dict[str, Any]:
    """The fields of a state that are facts about some pages."""
    counts = dict(documents.values_list("language").order_by("language").annotate(pages=Count("pk")))
    front = documents.filter(path="/").values_list("language", flat=True).first()

    def count(language: str) -> tuple[int, int]:
        """The pages of a language: those outside of its folder, where translations are, and all."""
        outside = documents.filter(language=language).exclude(path__icontains=f"/{language}/")
        return outside.count() if len(counts) > 1 else 0, counts[language]

    commonest = max(counts.keys() - {""}, key=count, default="")
    if MAX_UNNAMED * counts.get(commonest, 0) < counts.get("", 0):
        commonest = ""
    versions = documents.exclude(version="").values_list("version", flat=True).distinct()
    return {
        "languages": tuple(sorted({language[:2].lower() or "en" for language in counts})) or ("en",),
        "site_language": (front or commonest).lower(),
        "latest_version": find_latest(versions),
        "page_count": documents.count(),
    }


def find_latest(versions: Iterable[str]) -> str:
    """The newest of some versions by their numbers: 0.12 after 0.9, 2.0 after 2.0-rc1, numbers after names.

    `next`, as Docusaurus calls what is not released, is only taken if there is no other.
    """
    return max(versions, key=lambda version: (version != "next", _version_key(version)), default="").lower()


def _version_key(version: str) -> list[tuple[int, int, str]]:
    """Its parts, made comparable: a word sorts before the end of the version, and a number after it."""
    parts = re.findall(r"[0-9]{1,18}|[^0-9.]+", version.lower().removeprefix("v"))
    return [*((2, int(part), "") if "0" <= part[0] <= "9" else (0, 0, part) for part in parts), (1, 0, "")]
