"""PostgreSQL: the same terms in a `tsvector` under a GIN index. It finds candidates; ranking is ours."""

from collections.abc import Iterable, Sequence

from django.db import connection

from docsite.projects.models import Project
from search.terms import Entry, Query


def _ensure() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE IF NOT EXISTS search_terms (section_id bigint PRIMARY KEY, project_id bigint NOT NULL, "
            "title text NOT NULL, headings text NOT NULL, body text NOT NULL, terms tsvector NOT NULL)"
        )
        cursor.execute("CREATE INDEX IF NOT EXISTS search_terms_project ON search_terms (project_id)")
        cursor.execute("CREATE INDEX IF NOT EXISTS search_terms_gin ON search_terms USING gin (terms)")


def _exists(project: Project) -> bool:
    """Whether anything was ever indexed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT to_regclass('search_terms') IS NOT NULL")
        return bool(cursor.fetchone()[0])


def write(project: Project, entries: Iterable[Entry]) -> None:
    """Add sections."""
    _ensure()
    with connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO search_terms (section_id, project_id, title, headings, body, terms) "
            "VALUES (%s, %s, %s, %s, %s,"
            " setweight(array_to_tsvector(%s), 'A') || setweight(array_to_tsvector(%s), 'B')"
            " || setweight(array_to_tsvector(%s), 'D') || array_to_tsvector(%s))",
            [
                (
                    *(e.section_id, project.pk, e.title, e.headings, e.body),
                    *(sorted(set(field.split())) for field in (e.title, e.headings, e.body, e.facets)),
                )
                for e in entries
            ],
        )


def remove(project: Project, section_ids: Iterable[int]) -> None:
    """Take sections out."""
    if _exists(project):
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM search_terms WHERE section_id = ANY(%s)", [list(section_ids)])


def drop(project: Project) -> None:
    """Forget the project."""
    if _exists(project):
        with connection.cursor() as cursor:
            cursor.execute("DELETE FROM search_terms WHERE project_id = %s", [project.pk])


def _any(terms: Iterable[str]) -> str:
    return " | ".join(f"'{term}'" for term in terms)


def candidates(project: Project, query: Query, facets: Sequence[Sequence[str]], most: int) -> list[Entry]:
    """Sections that hold any term, those with most distinct terms first."""
    if not query or not _exists(project):
        return []
    spellings = [spelling for term in query for spelling in term]
    match = " & ".join(f"({_any(alternatives)})" for alternatives in [spellings, *facets])
    rank = " + ".join("CASE WHEN terms @@ (%s)::tsquery THEN %s ELSE 0 END" for _ in query)
    _, found = frequencies(project, spellings)
    weights: list[str | float] = []
    for term in query:
        count = sum(found.get(spelling, 0) for spelling in term)
        weights += [_any(term), 1.0 / (1 + count) ** 0.5]
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT section_id, title, headings, body FROM search_terms "
            "WHERE project_id = %s AND terms @@ (%s)::tsquery "
            f"ORDER BY {rank} DESC, ts_rank(terms, (%s)::tsquery) DESC, section_id LIMIT %s",
            [project.pk, match, *weights, _any(spellings), most],
        )
        return [Entry(*row) for row in cursor.fetchall()]


def frequencies(project: Project, terms: Iterable[str]) -> tuple[int, dict[str, int]]:
    """Number of sections, and in how many each term occurs."""
    if not _exists(project):
        return 0, {}
    counts = {}
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM search_terms WHERE project_id = %s", [project.pk])
        sections = int(cursor.fetchone()[0])
        for term in set(terms):
            cursor.execute(
                "SELECT count(*) FROM search_terms WHERE project_id = %s AND terms @@ (%s)::tsquery",
                [project.pk, _any([term])],
            )
            counts[term] = int(cursor.fetchone()[0])
    return sections, {term: count for term, count in counts.items() if count}
