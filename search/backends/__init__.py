"""Search engines that store the terms of a project's sections. Each module has the same functions.

    stage(project, entries)              add sections to the index that is being built
    prepare(project, stale, claim)       get ready to swap; returns whether the staged index can be searched now. Each
                                         transaction begins with `claim`, which raises when another ingest has begun
    complete(project, stale, claim)      make the staged index searchable where `prepare` did not
    swap(project, stale, is_complete)    replace the stale sections by the staged ones, inside a transaction
    discard(project)                     delete what was staged
    drop(project)                        delete everything of the project
    candidates(project, query, facets, limit)    ids of the likeliest sections, best first
    entries(project, section_ids)        those sections, in any order

The last two read the staged index within a preview (`search.staged_index`).

Others import `local`, too: an index on the local disk for large projects.
Scoring is done in `search.retrieval.ranking`, the same for every engine.
"""

from types import ModuleType
from typing import TYPE_CHECKING

from django.db import connection

from docsite.core.tenants.models import Project
from search.text.terms import Query

if TYPE_CHECKING:
    from search.backends.local import LocalIndex


def current() -> ModuleType:
    """The engine of the configured database."""
    if connection.vendor == "postgresql":
        from search.backends import postgres

        return postgres
    from search.backends import sqlite

    return sqlite


def candidates(project: Project, query: Query, limit: int, local_index: "LocalIndex | None" = None) -> list[int]:
    """Ids of the likeliest sections, best first; from the local index, where it is ready."""
    find = local_index.candidates if local_index and local_index.is_ready() else current().candidates
    found: list[int] = []
    for engine_query in query.engine_queries:
        found = find(project, engine_query, query.facets, limit)
        if len(found) == limit:
            break
    return found
