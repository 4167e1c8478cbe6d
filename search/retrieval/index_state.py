"""What every search needs to know of an index, kept in the process while the index stays as it is."""

import re
import threading
from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass
from weakref import WeakKeyDictionary

from django.db import connection
from django.db.models import Count

from docsite.core.tenants.models import Project
from search import backends
from search.backends.local import Copy, copy_of
from search.models import Document, Index
from search.preview import StagedIndex, staged_index
from search.retrieval.ranking import Candidate
from search.text.vocabulary import Vocabulary

MOST_PROJECTS = 64
MOST_CANDIDATES = 10_000  # about 60 MB


@dataclass(frozen=True)
class State:
    """A project's index at one generation: its words, languages, versions, the language of its front page.

    `copy` answers for the database where the project is large.
    """

    generation: int
    vocabulary: Vocabulary
    languages: tuple[str, ...]
    home: str
    latest: str
    copy: Copy | None


_states: OrderedDict[int, State] = OrderedDict()
_staged_states: WeakKeyDictionary[StagedIndex, State] = WeakKeyDictionary()
_candidates: OrderedDict[int, Candidate] = OrderedDict()
_lock = threading.Lock()
_reading = threading.Lock()


def of(project: Project) -> State:
    """The state of the index as the current snapshot of the database has it."""
    if staged := staged_index():
        if staged not in _staged_states:
            _staged_states[staged] = _read(project, project.index_generation, staged.vocabulary, copy=None)
        return _staged_states[staged]
    with connection.cursor() as cursor:  # asked by every search: the ORM would take five times as long
        cursor.execute("SELECT index_generation FROM projects_project WHERE id = %s", [project.pk])
        generation = int(cursor.fetchone()[0])
    known = _states.get(project.pk)
    if not known or known.generation != generation:
        with _reading:  # by one thread; the others wait for it
            known = _states.get(project.pk)
            if not known or known.generation != generation:
                stored = Index.objects.filter(pk=project.pk).values_list("vocabulary", flat=True).first()
                vocabulary = Vocabulary.decode(bytes(stored or b""))
                known = _read(project, generation, vocabulary, copy_of(project, vocabulary.sections))
    with _lock:
        _states[project.pk] = known
        _states.move_to_end(project.pk)
        while len(_states) > MOST_PROJECTS:
            _states.popitem(last=False)
    return known


def candidates(project: Project, section_ids: list[int]) -> list[Candidate]:
    """Sections ready to be scored, in the order given. A section's terms never change under its id."""
    with _lock:
        known = {pk: _candidates[pk] for pk in section_ids if pk in _candidates}
        for pk in known:
            _candidates.move_to_end(pk)
    missing = [pk for pk in section_ids if pk not in known]
    if missing:
        read = {entry.section_id: Candidate(entry) for entry in backends.current().entries(project, missing)}
        known |= read
        with _lock:
            _candidates.update(read)
            while len(_candidates) > MOST_CANDIDATES:
                _candidates.popitem(last=False)
    return [known[pk] for pk in section_ids]


def _read(project: Project, generation: int, vocabulary: Vocabulary, copy: Copy | None) -> State:
    documents = Document.objects.filter(project=project)
    languages = {language.lower() for language in documents.values_list("language", flat=True).distinct()}
    front = documents.filter(path="/").values_list("language", flat=True).first()
    commonest = documents.values_list("language").annotate(pages=Count("pk")).order_by("-pages", "language").first()
    versions = documents.exclude(version="").values_list("version", flat=True).distinct()
    return State(
        generation,
        vocabulary,
        tuple(sorted({language[:2] or "en" for language in languages})) or ("en",),
        (front or (commonest[0] if commonest else "")).lower(),
        latest(versions),
        copy,
    )


def latest(versions: Iterable[str]) -> str:
    """The newest of some versions by their numbers: 0.12 after 0.9, 2.0 after 2.0-rc1, numbers after names."""
    return max(versions, key=_version_key, default="").lower()


def _version_key(version: str) -> list[tuple[int, int, str]]:
    """Its parts in order: a number comes after the end of the version, and that after a word."""
    parts = re.findall(r"[0-9]{1,18}|[^0-9.]+", version.lower().removeprefix("v"))
    return [*((2, int(part), "") if "0" <= part[0] <= "9" else (0, 0, part) for part in parts), (1, 0, "")]
