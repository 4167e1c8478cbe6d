"""SQLite FTS5, one index for each project, inside the service's own database."""

from collections.abc import Iterable, Sequence

from django.db import connection, transaction

from docsite.projects.models import Project
from search.terms import Entry, Query

# Terms arrive ready-made: the tokenizer only has to keep letters, digits and marks together.
_TOKENIZER = "unicode61 remove_diacritics 0 categories ''L* N* Co M*''"


def _table(project: Project) -> str:
    return f"search_terms_{int(project.pk)}"


def _ensure(project: Project) -> None:
    table = _table(project)
    with connection.cursor() as cursor:
        cursor.execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS {table} "
            f"USING fts5(title, headings, body, facets, tokenize = '{_TOKENIZER}')"
        )
        cursor.execute(f"CREATE VIRTUAL TABLE IF NOT EXISTS {table}_vocabulary USING fts5vocab({table}, row)")


def _exists(project: Project) -> bool:
    """Whether anything was ever indexed."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1 FROM sqlite_master WHERE name = %s", [_table(project)])
        return cursor.fetchone() is not None


def write(project: Project, entries: Iterable[Entry]) -> None:
    """Add sections."""
    _ensure(project)
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {_table(project)} (rowid, title, headings, body, facets) VALUES (%s, %s, %s, %s, %s)",
            [(e.section_id, e.title, e.headings, e.body, e.facets) for e in entries],
        )


def remove(project: Project, section_ids: Iterable[int]) -> None:
    """Take sections out."""
    if _exists(project):
        with connection.cursor() as cursor:
            cursor.executemany(f"DELETE FROM {_table(project)} WHERE rowid = %s", [(pk,) for pk in section_ids])


def drop(project: Project) -> None:
    """Forget the project."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {_table(project)}_vocabulary")
        cursor.execute(f"DROP TABLE IF EXISTS {_table(project)}")


def candidates(project: Project, query: Query, facets: Sequence[Sequence[str]], most: int) -> list[Entry]:
    """The likeliest sections by BM25, best first."""
    if not query or not _exists(project):
        return []
    any_term = " OR ".join(f'"{spelling}"' for term in query for spelling in term)
    match = f"({{title headings body}} : ({any_term}))"
    for alternatives in facets:
        match += " AND (facets : (" + " OR ".join(f'"{value}"' for value in alternatives) + "))"
    table = _table(project)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT rowid, title, headings, body FROM {table} WHERE {table} MATCH %s "
            f"ORDER BY bm25({table}, 10.0, 5.0, 1.0, 0.0), rowid LIMIT %s",
            [match, most],
        )
        return [Entry(*row) for row in cursor.fetchall()]


def frequencies(project: Project, terms: Iterable[str]) -> tuple[int, dict[str, int]]:
    """Number of sections, and in how many each term occurs."""
    if not _exists(project):
        return 0, {}
    table = _table(project)
    wanted = list(terms)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table}_docsize")
        sections = int(cursor.fetchone()[0])
        marks = ", ".join(["%s"] * len(wanted))
        cursor.execute(f"SELECT term, doc FROM {table}_vocabulary WHERE term IN ({marks})", wanted)
        return sections, {term: int(count) for term, count in cursor.fetchall()}
