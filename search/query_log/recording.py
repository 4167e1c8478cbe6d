"""Record what readers search for, and the result that they open.

A search does not wait for the database: searches gather in memory, and a thread
stores them together.
"""

import hashlib
import re
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.crypto import salted_hmac

from docsite.core.components.erasure import EVERYTHING, Subject
from docsite.core.group_commit import GroupCommit
from docsite.core.http.client_address import Address, network_of
from docsite.core.tenants.models import Project
from docsite.core.tenants.retention import list_cutoffs
from search.hits import Filters
from search.models import Document, SearchQuery, SearchSettings
from search.query_log.folding import fold_for_storage
from search.query_log.search_as_you_type import TYPING_PAUSE, AnsweredSearch, continues_typing, lock_callers, store

CLICKABLE = timedelta(hours=1)  # after a search, a click is stored with it; then the caller is erased
MAX_LENGTH = 400
MAX_WAITING = 10_000  # searches that wait for the database; further ones are lost
BATCH = 500
FLUSH_SECONDS = 0.3

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")


def clean(project: Project, text: str) -> tuple[str, str]:
    """A query as it is stored and as it was typed: single spaces, no control characters, at most 400 characters."""
    line = " ".join(_CONTROL.sub(" ", text).split())
    stored = project.redact(line)  # before the cut: half an e-mail address could not be recognized
    return stored[:MAX_LENGTH].rstrip(), line[:MAX_LENGTH].rstrip()


def hash_caller(project: Project, address: Address, user_agent: str) -> int:
    """A keyed hash of the reader. It cannot be reversed, nor joined with the visitors of the same site.

    The key is the project's, derived from `SECRET_KEY`: the database does not hold it.
    """
    identity = f"{network_of(address)}\n{user_agent}".encode("utf-8", "replace")
    key = salted_hmac("search.callers", project.project_id, settings.SECRET_KEY, algorithm="sha256").digest()
    return int.from_bytes(
        hashlib.blake2b(identity, key=key, digest_size=8, person=b"search").digest(), "big", signed=True
    )


def forget_callers(project: Project) -> None:
    """Erase the callers of searches. The searches and clicks of the last hour stay, linked to nobody."""
    SearchQuery.objects.filter(project=project, caller__isnull=False).update(caller=None)


def erase(subject: Subject) -> dict[str, int]:
    """Delete the searches and clicks of a subject. Of a visitor, those of the last one to two hours are known."""
    flush()
    searches = find_searches(subject)
    return {} if searches is None else {"searches": searches.delete()[0]}


def find_searches(subject: Subject) -> "QuerySet[SearchQuery] | None":
    """The stored searches of a visitor, or of a whole project; None for subjects that do not search."""
    searches = SearchQuery.objects.filter(project=subject.project)
    if subject.address:
        return searches.filter(caller=hash_caller(subject.project, subject.address, subject.user_agent))
    return searches if subject.whose == EVERYTHING else None


def record(
    project: Project,
    caller: int,
    query: str,
    result_count: int,
    caller_kind: SearchQuery.CallerKind | None = None,
    filters: Filters = Filters(),
    first_score: float | None = None,
) -> None:
    """Record a search with its number of results, unless it is empty. Returns at once, and never fails.

    `first_score` is the score of the first result (0..1).
    """
    text, typed = clean(project, query)
    if text:
        now = timezone.now()
        _searches.submit(
            AnsweredSearch(project.pk, caller, text, result_count, now, typed, caller_kind, filters, first_score)
        )


def flush() -> None:
    """Store the searches that wait in this process. Returns when they are committed."""
    _searches.flush()


def record_click(project: Project, caller: int, query: str, path: str, position: int) -> None:
    """Store the result that a caller opened, in the row of the caller's search. It is committed when this returns.

    A later click replaces an earlier one. A path that is not a page of the project is ignored.
    """
    flush()
    (text, typed), now = clean(project, query), timezone.now()
    if not text or not Document.indexed.filter(project=project, path=path).exists():
        return
    with transaction.atomic():
        lock_callers([caller])
        row = _find_clicked_row(project, caller, text, typed, now)
        row.folded = fold_for_storage(row.text)
        if (row.clicked_path, row.position) != (path, position):
            row.clicked_path, row.position, row.clicked_at = path, position, now
            row.save()


def _find_clicked_row(project: Project, caller: int, text: str, typed: str, now: datetime) -> SearchQuery:
    """The caller's latest search for that text, else the one being typed, else a new one."""
    rows = list(SearchQuery.objects.filter(project=project, caller=caller, at__gte=now - CLICKABLE)[:50])
    for row in rows:
        if row.text.casefold() == text.casefold():
            return row
    for row in rows:
        is_continued = continues_typing(row.text, typed) or continues_typing(row.text, text)
        if not row.clicked_path and now - row.at <= TYPING_PAUSE and is_continued:
            row.text, row.at, row.result_count = text, now, None  # the search itself has not arrived yet
            return row
    return SearchQuery(project=project, caller=caller, text=text, at=now, caller_kind=SearchQuery.CallerKind.WEB)


def sweep() -> None:
    """Forget the callers of searches older than an hour. Delete searches after the retention time of their project."""
    now = timezone.now()
    SearchQuery.objects.filter(caller__isnull=False, at__lt=now - CLICKABLE).update(caller=None)
    cutoffs = dict(list_cutoffs(SearchSettings, "search_days"))
    for project_id, oldest in cutoffs.items():
        SearchQuery.objects.filter(project=project_id, at__lt=oldest).delete()
    default = now - timedelta(days=settings.ENV.search_retention_days)
    SearchQuery.objects.filter(at__lt=default).exclude(project__in=list(cutoffs)).delete()


def _store_searches(searches: list[AnsweredSearch]) -> list[None]:
    store(searches)
    return [None] * len(searches)


_searches = GroupCommit(
    "searches",
    _store_searches,
    delay=FLUSH_SECONDS,
    min_group_weight=BATCH,
    max_group_weight=BATCH,
    capacity=MAX_WAITING,
    keep_waiting=True,  # a lost search is not reported to anybody
)
