"""SQLite FTS5, one index for each project, inside the service's own database."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from django.db import connection, transaction

from docsite.core.tenants.models import Project
from search.staged_index import staged_index
from search.text.terms import EngineQuery, Entry

# Terms arrive analysed: the tokenizer only has to keep letters, digits and marks together.
_TOKENIZER = "unicode61 remove_diacritics 0 categories ''L* N* Co M*''"
_TERMS = ("title", "heading", "trail", "about", "body", "facets")
_WEIGHTS = "10, 5, 3, 3, 1, 0"
_STORED = ("document_id", "position", "path", "names", "language", "version", "boost")
_COLUMNS = ", ".join((*_TERMS, *_STORED))
LARGE = 2_000  # sections; for a larger change the whole new index is staged, so that no writer waits long
BATCH = 500


def stage(project: Project, entries: Iterable[Entry]) -> None:
    """Add sections to the index that is being built."""
    _create(_staged_table(project))
    marks = ", ".join(["%s"] * (1 + len(_TERMS) + len(_STORED)))
    with connection.cursor() as cursor:
        cursor.executemany(
            f"INSERT INTO {_staged_table(project)} (rowid, {_COLUMNS}) VALUES ({marks})",
            [
                (
                    *(e.section_id, e.title, e.heading, e.trail, e.about, e.body, e.facets),
                    *(e.document_id, e.position, e.path, e.names, e.language, e.version, e.boost),
                )
                for e in entries
            ],
        )


def prepare(project: Project, stale: Sequence[int], claim: Callable[[], None]) -> bool:
    """Complete the staged index where much changes. Returns whether it is complete."""
    with transaction.atomic():
        claim()
        _create(_visible_table(project))
        _create(_staged_table(project))
        staged = _count(_staged_table(project))
    if max(len(stale), staged) < LARGE:
        return False
    complete(project, stale, claim)
    return True


def complete(project: Project, stale: Sequence[int], claim: Callable[[], None]) -> None:
    """Copy the sections that stay into the staged index, so that it can be searched and put in place as a whole."""
    live = _visible_table(project)
    gone = set(stale)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT id FROM {live}_docsize")
        stay = [rowid for (rowid,) in cursor.fetchall() if rowid not in gone]
    for batch in _batches(stay):
        with transaction.atomic(), connection.cursor() as cursor:
            claim()
            cursor.execute(
                f"INSERT INTO {_staged_table(project)} (rowid, {_COLUMNS}) "
                f"SELECT rowid, {_COLUMNS} FROM {live} WHERE rowid IN ({', '.join(map(str, batch))})"
            )


def swap(project: Project, stale: Sequence[int], is_complete: bool) -> None:
    """Replace the stale sections by the staged ones, inside a transaction."""
    live, staged = _visible_table(project), _staged_table(project)
    with connection.cursor() as cursor:
        if is_complete:
            cursor.execute(f"DROP TABLE {live}")
            cursor.execute(f"ALTER TABLE {staged} RENAME TO {live}")
            return
        cursor.executemany(f"DELETE FROM {live} WHERE rowid = %s", [(pk,) for pk in stale])
        cursor.execute(f"INSERT INTO {live} (rowid, {_COLUMNS}) SELECT rowid, {_COLUMNS} FROM {staged}")
        cursor.execute(f"DROP TABLE {staged}")


def discard(project: Project) -> None:
    """Delete what was staged."""
    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {_staged_table(project)}")


def drop(project: Project) -> None:
    """Delete everything of the project."""
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {_visible_table(project)}")
        cursor.execute(f"DROP TABLE IF EXISTS {_staged_table(project)}")


def candidates(project: Project, query: EngineQuery, facets: Sequence[Sequence[str]], limit: int) -> list[int]:
    """The likeliest sections by BM25, best first."""
    match = _match_any_field(query.needed)
    if query.needed != query.scored.keys():
        match += f" AND {_match_any_field(query.scored)}"  # excludes nothing; BM25 counts all terms of it
    for alternatives in facets:
        match += f" AND (facets : ({_any(alternatives)}))"
    table = _searched_table(project)
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT rowid FROM {table} WHERE {table} MATCH %s ORDER BY bm25({table}, {_WEIGHTS}), rowid LIMIT %s",
            [match, limit],
        )
        return [rowid for (rowid,) in cursor.fetchall()]


def entries(project: Project, section_ids: Iterable[int]) -> list[Entry]:
    """The sections of these ids."""
    ids = ", ".join(str(int(pk)) for pk in section_ids)
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT rowid, document_id, position, title, heading, trail, about, body, facets, "
            f"path, names, language, version, boost FROM {_searched_table(project)} WHERE rowid IN ({ids})"
        )
        return [Entry(*row) for row in cursor.fetchall()]


def _visible_table(project: Project) -> str:
    return f"search_terms_{int(project.pk)}"


def _searched_table(project: Project) -> str:
    return _staged_table(project) if staged_index() else _visible_table(project)


def _staged_table(project: Project) -> str:
    return f"{_visible_table(project)}_next"


def _create(table: str) -> None:
    columns = ", ".join([*_TERMS, *(f"{name} UNINDEXED" for name in _STORED)])
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE VIRTUAL TABLE IF NOT EXISTS {table} USING fts5({columns}, tokenize = '{_TOKENIZER}')")


def _count(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT count(*) FROM {table}_docsize")
        return int(cursor.fetchone()[0])


def _match_any_field(terms: Iterable[str]) -> str:
    return f"({{title heading trail about body}} : ({_any(sorted(terms))}))"


def _any(terms: Iterable[str]) -> str:
    return " OR ".join(f'"{term}"' for term in terms)


def _batches(ids: Sequence[int]) -> Iterator[Sequence[int]]:
    return (ids[at : at + BATCH] for at in range(0, len(ids), BATCH))
