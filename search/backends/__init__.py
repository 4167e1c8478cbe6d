"""Engines that hold the terms of a project's sections. Each module has the same five functions.

    write(project, entries)                  add sections
    remove(project, section_ids)             take sections out
    drop(project)                            forget the project
    candidates(project, query, facets, most) the likeliest sections, best first, as entries
    frequencies(project, terms)              number of sections, and in how many each term occurs

`facets` is a list of alternatives: an entry qualifies when it has one of each.
Ranking is done in `search.ranking`, the same for every engine.
"""

from types import ModuleType

from django.db import connection


def current() -> ModuleType:
    """The engine that lives in the configured database."""
    if connection.vendor == "postgresql":
        from search.backends import postgres

        return postgres
    from search.backends import sqlite

    return sqlite
