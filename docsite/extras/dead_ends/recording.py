"""Count requests for addresses without a page. They are added up in memory and stored every few seconds.

Strangers choose the addresses, so a network may ask for a few in a minute, and each project has a limited number of
them: those that are asked for least go first.
"""

import re
import threading
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db import connection, transaction
from django.db.models import F

from analytics import agents
from docsite.core.db import Row, Value, insert_groups
from docsite.core.tenants.models import Project
from docsite.core.tenants.validators import origin_of
from docsite.core.unicode.addresses import urlsplit
from docsite.extras.dead_ends.models import MissingPage
from search.missing_pages import MissingRequest
from search.models import Document

MAX_WAITING = 2_000  # addresses that are not stored yet; requests for further ones are lost
MAX_ASKED = 2_000  # addresses of a project that never had a page
MAX_A_MINUTE = 20  # addresses of a network; requests for further ones are lost
_FREED = 200  # that go at once when there are too many
_LENGTH = 300

Kind = MissingPage.Kind


@dataclass
class _Tally:
    """The requests for one address that are not stored yet."""

    last_at: datetime
    people: int = 0
    agents: int = 0
    crawlers: int = 0
    agent: str = ""
    linked_from: str = ""


_waiting: dict[tuple[int, str], _Tally] = {}
_spent: Counter[str] = Counter()  # addresses by network, in this minute
_minute = 0
_lock = threading.Lock()


def record(project: Project, requests: Iterable[MissingRequest]) -> None:
    """Count requests of people, AI clients and search engines for addresses that look like pages.

    An address with personal data is not kept, if the owner has chosen that.
    """
    for request in requests:
        verdict = agents.classify(request.user_agent)
        reads_markdown = request.wants_markdown and agents.is_markdown_fetch(verdict.client_class, "md")
        is_ai = verdict.client_class in agents.AI_CLASSES or reads_markdown
        if not (is_ai or verdict.client_class in ("human", "search_crawler")) or not is_page_like(request.path):
            continue
        if project.redact(request.path) != request.path:
            continue
        linked_from = _describe_referrer(project, request.referrer)
        with _lock:
            tally = _waiting.get((project.pk, request.path))
            if tally is None:
                if len(_waiting) >= MAX_WAITING or not _spend(request.network):
                    continue
                tally = _waiting[project.pk, request.path] = _Tally(request.at)
            tally.last_at = max(tally.last_at, request.at)
            tally.people += verdict.client_class == "human" and not is_ai
            tally.agents += is_ai
            tally.crawlers += verdict.client_class == "search_crawler"
            tally.agent = (is_ai and verdict.agent) or tally.agent
            tally.linked_from = linked_from or tally.linked_from


def _spend(network: str) -> bool:
    """Whether a network may ask for one more address in this minute."""
    global _minute
    if (minute := int(time.monotonic() // 60)) != _minute:
        _minute = minute
        _spent.clear()
    _spent[network] += bool(network)
    return _spent[network] <= MAX_A_MINUTE


def is_page_like(path: str) -> bool:
    """Whether a normalized path may be that of a page: no file, no hidden folder, nothing that is not text."""
    return (
        1 < len(path) <= _LENGTH
        and path.startswith("/")
        and path.isprintable()
        and "/." not in path
        and "\\" not in path
        and not re.search(r"\.[A-Za-z][A-Za-z0-9]{0,9}$", path)
    )


def flush() -> None:
    """Store what was counted."""
    with _lock:
        waiting = dict(_waiting)
        _waiting.clear()
    by_project: dict[int, dict[str, _Tally]] = {}
    for (project_id, path), tally in waiting.items():
        by_project.setdefault(project_id, {})[path] = tally
    for project in Project.objects.filter(pk__in=by_project):
        tallies = by_project[project.pk]
        # protected pages, too: who asked may not have seen one
        pages = Document.indexed.filter(project=project, path__in=tallies)
        missing = sorted(tallies.keys() - set(pages.values_list("path", flat=True)))
        if missing:
            _store(project.pk, {path: tallies[path] for path in missing})


def _store(project: int, tallies: dict[str, _Tally]) -> None:
    """Add requests to those that are stored, with one statement. In order of path, so that no process waits for two."""
    table, adapt = MissingPage._meta.db_table, connection.ops.adapt_datetimefield_value
    shared: dict[str, Value] = {
        "project_id": project,
        "address": "",
        "title": "",
        "sketch": b"",
        "nearest": "",
        "confidence": 0,
    }
    columns = ("path", "kind", "people", "agents", "crawlers", "agent", "linked_from", "last_at")
    rows: list[Row] = [
        (
            path,
            _kind_of(one),
            one.people,
            one.agents,
            one.crawlers,
            one.agent,
            one.linked_from,
            adapt(one.last_at) or "",
        )
        for path, one in tallies.items()
    ]
    sums = [f"{name} = {table}.{name} + excluded.{name}" for name in ("people", "agents", "crawlers")]
    latest = [
        f"{name} = CASE WHEN {condition} THEN excluded.{name} ELSE {table}.{name} END"
        for name, condition in (
            ("agent", "excluded.agent <> ''"),
            ("linked_from", "excluded.linked_from <> ''"),
            ("last_at", f"excluded.last_at > {table}.last_at"),
            ("kind", f"{table}.kind = '{Kind.INVENTED.value}'"),
        )
    ]
    changes = ", ".join([*sums, *latest])
    with transaction.atomic():
        on_conflict = f"(project_id, path) DO UPDATE SET {changes}"
        insert_groups(table, tuple(shared), columns, {tuple(shared.values()): rows}, on_conflict)
        asked = MissingPage.objects.filter(project=project).exclude(kind=Kind.MOVED)
        if (surplus := asked.count() - MAX_ASKED) > 0:
            by_requests = asked.order_by(F("people") + F("agents") + F("crawlers"), "last_at")
            least = by_requests.values_list("pk", flat=True)[: surplus + _FREED]
            MissingPage.objects.filter(pk__in=list(least)).delete()


def _kind_of(tally: _Tally) -> str:
    return (Kind.BROKEN if tally.people or tally.crawlers or tally.linked_from else Kind.INVENTED).value


def _describe_referrer(project: Project, referrer: str) -> str:
    """The page of the site that has the link, or the origin of another site. Nothing else of an address is stored."""
    try:
        parts = urlsplit(referrer[:_LENGTH])
        origin = origin_of(referrer[:_LENGTH])
    except ValueError:
        return ""
    if parts.scheme not in ("http", "https") or not origin.isprintable():
        return ""
    return project.path_of(referrer[:_LENGTH]) if origin in project.origins else origin
