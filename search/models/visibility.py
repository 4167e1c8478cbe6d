"""The conditions that a page is in the index, and that the present reader sees it."""

import json

from django.db import connection, models
from django.db.models.expressions import RawSQL

from docsite.core.access.readers import reader_groups
from search.staged_index import staged_index


def is_visible(document: str = "") -> models.Q:
    """The condition that the present reader sees a page; `document` leads to it, such as `document__`."""
    return is_indexed(document) & may_be_read(document)


def may_be_read(document: str = "") -> models.Q:
    """The condition that a page is public, or of a group of the present reader (`docsite.core.access.readers`)."""
    groups = reader_groups()
    if groups is None:
        return models.Q()
    readable = models.Q(**{f"{document}groups": ""})
    for group in sorted(groups):
        readable |= models.Q(**{f"{document}groups__contains": f"\n{group}\n"})
    return readable


def is_indexed(document: str = "") -> models.Q:
    """The condition that a page is in the index that is searched, whoever may read it."""
    staged = staged_index()
    visible = models.Q(**{f"{document}build": ""})
    if staged is None:
        return visible
    if connection.vendor == "postgresql":
        replaced = RawSQL("SELECT unnest(%s::bigint[])", [list(staged.replaced)])
    else:  # one parameter, since there may be more pages than SQLite takes parameters
        replaced = RawSQL("SELECT value FROM json_each(%s)", [json.dumps(list(staged.replaced))])
    new = models.Q(**{f"{document}build": staged.build})
    return new | (visible & ~models.Q(**{f"{document}pk__in": replaced}))
