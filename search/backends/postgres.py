"""PostgreSQL: the same terms in a `tsvector` under a GIN index. It finds candidates; scoring is ours.

PostgreSQL's own ranking ignores how rare a term is and how long a section is. So
the BM25 weight of each term is computed when a section is stored, and encoded in
the labels of the term's positions; a query multiplies it by the rarity. A section
is visible when its document is.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import chain, combinations_with_replacement
from typing import Any

from django.db import connection

from docsite.core.tenants.models import Project
from search.staged_index import staged_index
from search.text.terms import EngineQuery, Entry

_COLUMNS = (
    "section_id, document_id, position, title, heading, trail, about, body, facets, path, names, "
    "language, version, boost"
)
_FIELDS = {
    "title": 10,
    "heading": 5,
    "trail": 3,
    "about": 3,
    "body": 1,
}  # BM25 weights, as in `sqlite`
_SATURATION, _LENGTH, _TYPICAL_LENGTH = 1.2, 0.75, 150
_LABELS = {"A": 1.0, "B": 0.75, "C": 0.5, "D": 0.25}
_MAX_POSITIONS = 3
_MAX_BYTES = 900_000  # of a tsvector, which may have one MiB
_HIDDEN = "SELECT id FROM search_document WHERE project_id = %s AND build <> ''"


def _compute_steps() -> list[str]:
    """Position labels for each weight that a term may have, in hundredths of the maximum.

    For a single term ts_rank adds the weights of its labels, each divided by the
    square of its position, as long as none is greater than the first.
    """
    sums: dict[float, str] = {}
    for size in range(1, _MAX_POSITIONS + 1):
        for labels in combinations_with_replacement(_LABELS, size):
            total = sum(_LABELS[label] / place**2 for place, label in enumerate(labels, 1))
            sums.setdefault(total, ",".join(f"{place}{label}" for place, label in enumerate(labels, 1)))
    maximum = max(sums)
    return [sums[min(sums, key=lambda total: abs(total - maximum * step / 100))] for step in range(101)]


_WEIGHTS = "{0.25, 0.5, 0.75, 1}"  # of D, C, B and A
_STEPS = _compute_steps()


def stage(project: Project, entries: Iterable[Entry]) -> None:
    """Add sections to the index that is being built."""
    with connection.cursor() as cursor, cursor.copy(f"COPY search_entries ({_COLUMNS}, terms) FROM STDIN") as copy:
        for e in entries:
            copy.write_row((
                *(e.section_id, e.document_id, e.position, e.title, e.heading, e.trail, e.about, e.body, e.facets),
                *(e.path, e.names, e.language, e.version, e.boost, _build_vector(project, e)),
            ))  # fmt: skip


def prepare(project: Project, stale: Sequence[int], claim: Callable[[], None]) -> bool:
    """Do nothing: a change of any size holds up nobody here."""
    return True


def complete(project: Project, stale: Sequence[int], claim: Callable[[], None]) -> None:
    """Do nothing: one table holds every section, and a search chooses by their documents."""


def swap(project: Project, stale: Sequence[int], is_complete: bool) -> None:
    """Replace the stale sections by the staged ones, inside a transaction: their documents say which."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM search_entries WHERE section_id = ANY(%s)", [list(stale)])


def discard(project: Project) -> None:
    """Delete what was staged."""
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM search_entries WHERE document_id IN ({_HIDDEN})", [project.pk])


def drop(project: Project) -> None:
    """Delete everything of the project."""
    with connection.cursor() as cursor:
        cursor.execute(
            "DELETE FROM search_entries WHERE document_id IN (SELECT id FROM search_document WHERE project_id = %s)",
            [project.pk],
        )


def candidates(project: Project, query: EngineQuery, facets: Sequence[Sequence[str]], limit: int) -> list[int]:
    """The likeliest sections by BM25, best first."""
    match = " & ".join(f"({_any(project, terms)})" for terms in [sorted(query.needed), *facets])
    rank = []
    values: list[str | float] = []
    for rarity, terms in _group_by_rarity(query.scored).items():
        rank.append("%s * ts_rank(%s, terms, (%s)::tsquery)")
        values += [rarity * len(terms), _WEIGHTS, _any(project, terms)]  # ts_rank gives their mean
    hidden, hidden_values = _hidden(project)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT section_id FROM search_entries WHERE terms @@ (%s)::tsquery AND document_id NOT IN ({hidden}) "
            f"ORDER BY {' + '.join(rank)} DESC, section_id LIMIT %s",
            [match, *hidden_values, *values, limit],
        )
        return [pk for (pk,) in cursor.fetchall()]


def entries(project: Project, section_ids: Iterable[int]) -> list[Entry]:
    """The sections of these ids."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {_COLUMNS} FROM search_entries WHERE section_id = ANY(%s)", [list(section_ids)])
        return [Entry(*row) for row in cursor.fetchall()]


def _hidden(project: Project) -> tuple[str, list[Any]]:
    """SQL for the documents that a search must not find, and its values."""
    if staged := staged_index():
        sql = "SELECT id FROM search_document WHERE project_id = %s AND (build NOT IN ('', %s) OR id = ANY(%s))"
        return sql, [project.pk, staged.build, list(staged.replaced)]
    return _HIDDEN, [project.pk]


def _build_vector(project: Project, entry: Entry) -> str:
    """The terms as PostgreSQL writes a tsvector. Each begins with its project's number, so that no other's are read."""
    counts: Counter[str] = Counter()
    length = 0
    for name, weight in _FIELDS.items():
        terms = getattr(entry, name).split()
        length += len(terms)
        for term in terms:
            counts[term] += weight
    norm = _SATURATION * (1 - _LENGTH + _LENGTH * length / _TYPICAL_LENGTH)
    found = chain(
        (f"'{project.pk}:{term}'" for term in entry.facets.split()),
        (f"'{project.pk}:{term}':{_STEPS[round(100 * count / (count + norm))]}" for term, count in counts.items()),
    )
    vector = " ".join(found)
    return vector if len(vector) < _MAX_BYTES else _truncate(vector)


def _truncate(vector: str) -> str:
    """The part of a tsvector that PostgreSQL stores, cut at a term."""
    return vector.encode()[:_MAX_BYTES].decode(errors="ignore").rpartition(" ")[0]


def _group_by_rarity(scored: Mapping[str, float]) -> dict[float, list[str]]:
    """The terms by their rarity: terms of the same rarity are ranked in one call."""
    groups: defaultdict[float, list[str]] = defaultdict(list)
    for term, rarity in sorted(scored.items()):
        groups[_idf(rarity)].append(term)
    return groups


def _idf(rarity: float) -> float:
    """The inverse document frequency as SQLite's `bm25` has it: about 0 for a term in half of the sections."""
    return max(0.01, math.log(math.expm1(rarity)))


def _any(project: Project, terms: Iterable[str]) -> str:
    return " | ".join(f"'{project.pk}:{term}'" for term in terms)
