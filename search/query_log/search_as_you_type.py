"""Store a search as one row while the reader types it.

Search as you type sends `ins`, `inst`, `install`: one row is stored, with the
text that the reader stopped at. Each letter may reach another process, so the
database decides which row a search belongs to.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import islice

from django.db import connection, transaction
from django.db.models import F, QuerySet, Window
from django.db.models.functions import RowNumber

from docsite.core import sql
from docsite.core.sql import update_rows
from search.hits import Filters
from search.models import SearchQuery
from search.query_log.folding import fold_for_storage

TYPING_PAUSE = timedelta(seconds=5)  # after a longer pause, a search is a new one
# An office or a server is one caller, but many readers. A search may continue one of the latest rows of its caller in a
# project; if more readers type at once, some of their letters become rows of their own.
MAX_OPEN_ROWS = 20
MAX_VERSION, MAX_LANGUAGE = 100, 35  # characters


@dataclass(frozen=True)
class AnsweredSearch:
    """A search and the number of its results. `caller` is a keyed hash of the reader.

    `typed` is the text before personal data was redacted, where that is so. It is never stored.
    """

    project_id: int
    caller: int
    text: str
    result_count: int
    at: datetime
    typed: str = ""
    caller_kind: str | None = None
    filters: Filters = field(default_factory=Filters)
    first_score: float | None = None


def store(searches: Sequence[AnsweredSearch]) -> None:
    """Store searches in one transaction: each gets a row, or updates the row of the text being typed."""
    callers = {search.caller for search in searches}
    since = min(search.at for search in searches) - TYPING_PAUSE
    with transaction.atomic():
        lock_callers(callers)
        rows: dict[tuple[int, int | None], list[SearchQuery]] = defaultdict(list)
        for row in _load_latest(callers, since):
            rows[row.project_id, row.caller].append(row)
        new: list[SearchQuery] = []
        changed: dict[int, SearchQuery] = {}
        for search in sorted(searches, key=lambda search: search.at):
            typed = rows[search.project_id, search.caller]
            for row in islice(reversed(typed), MAX_OPEN_ROWS):
                if _is_same_search(search, row):
                    if search.at >= row.at:
                        typed.remove(row)
                        typed.append(row)  # it is the latest one now
                    _update(row, search)
                    if row.pk:
                        changed[row.pk] = row
                    break
            else:
                row = SearchQuery(project_id=search.project_id, caller=search.caller, at=search.at)
                _describe(row, search)
                typed.append(row)
                new.append(row)
        SearchQuery.objects.bulk_create(new)
        for pk, row in sorted(changed.items()):  # others that lock several rows do it in the same order
            update_rows(SearchQuery, {"id": pk}, {name: getattr(row, name) for name in ("at", *_DESCRIPTION)})


def _load_latest(callers: Iterable[int], since: datetime) -> QuerySet[SearchQuery]:
    """The latest searches of each caller in each project, at most `MAX_OPEN_ROWS`, in the order of time."""
    place = Window(RowNumber(), partition_by=[F("project"), F("caller")], order_by=[F("at").desc(), F("pk").desc()])
    known = SearchQuery.objects.filter(caller__in=callers, at__gte=since)
    return known.alias(place=place).filter(place__lte=MAX_OPEN_ROWS).order_by("at", "pk")


def _is_same_search(search: AnsweredSearch, row: SearchQuery) -> bool:
    """Whether a search is part of typing the row's text. It may arrive late, from another process."""
    if abs(search.at - row.at) > TYPING_PAUSE:
        return False
    if search.text.casefold() == row.text.casefold():
        return True
    if search.at < row.at:
        return continues_typing(search.text, row.text)
    # The row may have half of what is redacted now, or what was redacted before.
    texts = (search.text, search.typed or search.text)
    return not row.clicked_path and any(continues_typing(row.text, text) for text in texts)


def continues_typing(before: str, after: str) -> bool:
    """Whether `after` continues `before`: more or fewer letters, the same words, or anything after a single letter."""
    before, after = before.casefold(), after.casefold()
    return (
        after.startswith(before)
        or before.startswith(after)
        or sorted(before.split()) == sorted(after.split())
        or len(before) == 1
    )


_DESCRIPTION = ("text", "folded", "result_count", "first_score", "filter_version", "filter_language", "caller_kind")


def _describe(row: SearchQuery, search: AnsweredSearch) -> None:
    """Set the columns of `_DESCRIPTION`."""
    row.text, row.folded = search.text, fold_for_storage(search.text)
    row.result_count, row.first_score = search.result_count, search.first_score
    row.filter_version = (search.filters.version or "")[:MAX_VERSION]
    row.filter_language = (search.filters.language or "")[:MAX_LANGUAGE]
    row.caller_kind = search.caller_kind


def _update(row: SearchQuery, search: AnsweredSearch) -> None:
    if search.text.casefold() == row.text.casefold() or search.at >= row.at:
        _describe(row, search)
        row.at = max(row.at, search.at)


def lock_callers(callers: Iterable[int]) -> None:
    """Lock the rows of these callers for other processes until the transaction ends. SQLite has one writer anyway."""
    if connection.vendor == "postgresql":
        for caller in sorted(callers):
            sql.execute("SELECT pg_advisory_xact_lock(%s)", [caller])
