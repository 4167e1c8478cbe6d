"""What readers searched for: one row a settled search, and the result that was opened.

Search as you type sends `ins`, `inst`, `install`: only what it settled on
counts. Which row a search belongs to is decided in the database, since each
letter may reach another process. Nobody waits for it: searches gather in memory
and a thread stores them together.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db import connection, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac

from docsite.core.group_commit import GroupCommit
from docsite.core.http.client_address import Address, network_of
from docsite.core.tenants.models import Project
from search.models import Document, SearchQuery

SETTLED = timedelta(seconds=5)  # then what follows is another search
CLICKABLE = timedelta(hours=1)  # for which a click finds its search; then the caller is forgotten
LONGEST = 400
MAX_WAITING = 10_000  # the database has been away for long; further searches are lost
BATCH = 500
FLUSH_SECONDS = 0.3

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True)
class Searched:
    """A search as it was answered."""

    project_id: int
    caller: int
    text: str
    result_count: int
    at: datetime


def clean(text: str) -> str:
    """A query as it is kept: single spaces, no control characters, at most 400 characters."""
    return " ".join(_CONTROL.sub(" ", text).split())[:LONGEST].rstrip()


def caller_of(project: Project, address: Address, user_agent: str) -> int:
    """A keyed hash of who searches. It cannot be reversed, nor be joined with the visitors of the same site.

    The key is the project's, derived from `SECRET_KEY`: the database does not hold it.
    """
    told = f"{network_of(address)}\n{user_agent}".encode("utf-8", "replace")
    key = salted_hmac("search.callers", project.project_id, algorithm="sha256").digest()
    return int.from_bytes(hashlib.blake2b(told, key=key, digest_size=8, person=b"search").digest(), "big", signed=True)


def forget_callers(project: Project) -> None:
    """Erase who searched: the searches and clicks of the last hour stay, but are linked to nobody."""
    SearchQuery.objects.filter(project=project, caller__isnull=False).update(caller=None)


def record(project: Project, caller: int, query: str, result_count: int) -> None:
    """Keep a search that was answered; an empty one is none. Returns at once, and never fails."""
    if text := clean(query):
        _searches.submit(Searched(project.pk, caller, text, result_count, timezone.now()))


def flush() -> None:
    """Return when the searches that wait here are stored."""
    _searches.flush()


def record_click(project: Project, caller: int, query: str, path: str, position: int) -> None:
    """Settle the caller's search on the result that was opened; committed when this returns.

    The latest click of a search counts, and the same one counts once. A path
    that is no page of the project is not kept.
    """
    flush()
    text, now = clean(query), timezone.now()
    if not text or not Document.objects.filter(project=project, path=path).exists():
        return
    with transaction.atomic():
        _one_by_one([caller])
        row = _clicked_row(project, caller, text, now)
        if (row.clicked_path, row.position) != (path, position):
            row.clicked_path, row.position, row.clicked_at = path, position, now
            row.save()


def _clicked_row(project: Project, caller: int, text: str, now: datetime) -> SearchQuery:
    """The caller's latest search for that text, else the one being typed, else a new one."""
    rows = list(SearchQuery.objects.filter(project=project, caller=caller, at__gte=now - CLICKABLE)[:50])
    for row in rows:
        if row.text.casefold() == text.casefold():
            return row
    for row in rows:
        if not row.clicked_path and now - row.at <= SETTLED and _continues(row.text, text):
            row.text, row.at, row.result_count = text, now, None  # its own search is still on the way
            return row
    return SearchQuery(project=project, caller=caller, text=text, at=now)


def store(searches: Sequence[Searched]) -> None:
    """Store searches in one transaction, each as a row of its own or as the next step of one that is there."""
    callers = {search.caller for search in searches}
    since = min(search.at for search in searches) - SETTLED
    with transaction.atomic():
        _one_by_one(callers)
        rows: dict[tuple[int, int | None], list[SearchQuery]] = defaultdict(list)
        for row in SearchQuery.objects.filter(caller__in=callers, at__gte=since).order_by("at"):
            rows[row.project_id, row.caller].append(row)
        new: list[SearchQuery] = []
        changed: dict[int, SearchQuery] = {}
        for search in sorted(searches, key=lambda search: search.at):
            known = rows[search.project_id, search.caller]
            for row in reversed(known):
                if _belongs(search, row):
                    _advance(row, search)
                    if row.pk:
                        changed[row.pk] = row
                    break
            else:
                row = SearchQuery(project_id=search.project_id, caller=search.caller, text=search.text, at=search.at)
                row.result_count = search.result_count
                known.append(row)
                new.append(row)
        SearchQuery.objects.bulk_create(new)
        SearchQuery.objects.bulk_update(changed.values(), ["text", "at", "result_count"])


def _belongs(search: Searched, row: SearchQuery) -> bool:
    """Whether a search is a step towards that row, or one further; a step may arrive late, from another process."""
    if abs(search.at - row.at) > SETTLED:
        return False
    if search.text.casefold() == row.text.casefold():
        return True
    if search.at < row.at:
        return _continues(search.text, row.text)
    return not row.clicked_path and _continues(row.text, search.text)


def _continues(before: str, after: str) -> bool:
    """Whether somebody is still typing: more or fewer letters, the same words, or away from a single letter."""
    before, after = before.casefold(), after.casefold()
    return (
        after.startswith(before)
        or before.startswith(after)
        or sorted(before.split()) == sorted(after.split())
        or len(before) == 1
    )


def _advance(row: SearchQuery, search: Searched) -> None:
    if search.text.casefold() == row.text.casefold() or search.at >= row.at:
        row.text, row.result_count = search.text, search.result_count
        row.at = max(row.at, search.at)


def _one_by_one(callers: Iterable[int]) -> None:
    """Let other processes wait with these callers until this transaction ends. SQLite has one writer anyway."""
    if connection.vendor == "postgresql":
        with connection.cursor() as cursor:
            for caller in sorted(callers):
                cursor.execute("SELECT pg_advisory_xact_lock(%s)", [caller])


def sweep() -> None:
    """Forget who searched more than an hour ago, and what was searched before the time that searches are kept."""
    now = timezone.now()
    SearchQuery.objects.filter(caller__isnull=False, at__lt=now - CLICKABLE).update(caller=None)
    SearchQuery.objects.filter(at__lt=now - timedelta(days=settings.ENV.search_retention_days)).delete()


def _store_searches(searches: list[Searched]) -> list[None]:
    store(searches)
    return [None] * len(searches)


_searches = GroupCommit(
    "searches",
    _store_searches,
    delay=FLUSH_SECONDS,
    enough=BATCH,
    largest=BATCH,
    capacity=MAX_WAITING,
    keep_waiting=True,  # nobody is told of a search that is lost
)
