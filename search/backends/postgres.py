"""PostgreSQL: the same terms in a `tsvector` under a GIN index. It finds candidates; scoring is ours."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from django.db import connection

from docsite.projects.models import Project
from search.terms import Entry, Query

_COLUMNS = "section_id, document_id, position, title, heading, trail, about, body, facets, path, names, language, version, boost"
_LABELS = {"title": "A", "heading": "B", "trail": "C", "about": "C", "body": "D"}
_WEIGHTS = "{0.1, 0.3, 0.5, 1}"  # of D, C, B and A: those of the other engine
_MOST_POSITIONS = 255  # for a term; PostgreSQL keeps no more


def stage(project: Project, entries: Iterable[Entry]) -> None:
    """Add sections to the index that is being built."""
    _ensure()
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO search_entries ({_COLUMNS}, project_id, live, terms) VALUES "
            "(%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, false, %s::tsvector)",
            [
                (
                    *(e.section_id, e.document_id, e.position, e.title, e.heading, e.trail, e.about, e.body, e.facets),
                    *(e.path, e.names, e.language, e.version, e.boost, project.pk, _vector(e)),
                )
                for e in entries
            ],
        )


def prepare(project: Project, stale: Sequence[int], claim: Callable[[], None]) -> None:
    """Nothing: a change of any size holds up nobody here."""
    _ensure()


def swap(project: Project, stale: Sequence[int], prepared: None) -> None:
    """Let what was staged take the place of the stale sections, inside a transaction."""
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM search_entries WHERE section_id = ANY(%s)", [list(stale)])
        cursor.execute("UPDATE search_entries SET live = true WHERE project_id = %s AND NOT live", [project.pk])


def discard(project: Project) -> None:
    """Forget what was staged."""
    if _exists():
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM search_entries WHERE project_id = %s AND NOT live", [project.pk])


def drop(project: Project) -> None:
    """Forget the project."""
    if _exists():
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM search_entries WHERE project_id = %s", [project.pk])


def candidates(project: Project, query: Query, most: int) -> list[int]:
    """The likeliest sections: each term by its rarity and by the fields it stands in, best first."""
    asked = query.asked
    match = " & ".join(f"({_any(alternatives)})" for alternatives in [sorted(asked), *query.facets])
    rank: list[str] = []
    values: list[str | float] = []
    for term in query.terms:
        spellings = [spelling for spelling, _ in term.spellings if spelling in asked]
        if spellings:
            rank.append("%s * ts_rank(%s, terms, (%s)::tsquery)")
            values += [term.rarity * term.weight, _WEIGHTS, _any(spellings)]
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT section_id FROM search_entries WHERE project_id = %s AND live AND terms @@ (%s)::tsquery "
            f"ORDER BY {' + '.join(rank)} DESC, section_id LIMIT %s",
            [project.pk, match, *values, most],
        )
        return [pk for (pk,) in cursor.fetchall()]


def entries(project: Project, section_ids: Iterable[int]) -> list[Entry]:
    """The sections of these ids."""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {_COLUMNS} FROM search_entries WHERE section_id = ANY(%s)", [list(section_ids)])
        return [Entry(*row) for row in cursor.fetchall()]


def _ensure() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE IF NOT EXISTS search_entries (section_id bigint PRIMARY KEY, project_id bigint NOT NULL, "
            "live boolean NOT NULL, document_id bigint NOT NULL, position int NOT NULL, title text NOT NULL, "
            "heading text NOT NULL, trail text NOT NULL, about text NOT NULL, body text NOT NULL, "
            "facets text NOT NULL, path text NOT NULL, names text NOT NULL, "
            "language text NOT NULL, version text NOT NULL, boost double precision NOT NULL, "
            "terms tsvector NOT NULL)"
        )
        cursor.execute("CREATE INDEX IF NOT EXISTS search_entries_project ON search_entries (project_id, live)")
        cursor.execute("CREATE INDEX IF NOT EXISTS search_entries_gin ON search_entries USING gin (terms)")


def _exists() -> bool:
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('search_entries') IS NOT NULL")
        return bool(cursor.fetchone()[0])


def _vector(entry: Entry) -> str:
    """The terms as PostgreSQL writes a tsvector: each with as many positions as it occurs, labelled by field."""
    places: dict[str, list[str]] = {term: [] for term in entry.facets.split()}
    position = 0
    for name, label in _LABELS.items():
        for term, count in Counter(getattr(entry, name).split()).items():
            for _ in range(min(count, 8)):
                position = min(position + 1, 16383)
                places.setdefault(term, []).append(f"{position}{label}")
    return " ".join(f"'{term}':{','.join(at[:_MOST_POSITIONS])}" if at else f"'{term}'" for term, at in places.items())


def _any(terms: Iterable[str]) -> str:
    return " | ".join(f"'{term}'" for term in terms)
