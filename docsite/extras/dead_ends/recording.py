"""Count requests for addresses without a page. They are added up in memory and stored every few seconds.

Strangers choose the addresses, so each project has a limited number of them: those that are asked for least go first.
"""

import re
import threading
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import F
from django.db.models.functions import Greatest

from analytics import agents
from docsite.core.tenants.models import Project
from docsite.core.tenants.validators import origin_of
from docsite.core.unicode.addresses import urlsplit
from docsite.extras.dead_ends.models import MissingPage
from search.missing_pages import MissingRequest
from search.models import Document

MAX_WAITING = 2_000  # addresses that are not stored yet; requests for further ones are lost
MAX_ASKED = 2_000  # addresses of a project that never had a page
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
_lock = threading.Lock()


def record(project: Project, requests: Iterable[MissingRequest]) -> None:
    """Count requests of people, AI clients and search engines for addresses that look like pages.

    An address with personal data is not kept, if the owner has chosen that.
    """
    for request in requests:
        verdict = agents.classify(request.user_agent)
        is_ai = verdict.client_class in agents.AI_CLASSES
        if not (is_ai or verdict.client_class in ("human", "search_crawler")) or not is_page_like(request.path):
            continue
        if project.redact(request.path) != request.path:
            continue
        linked_from = _describe_referrer(project, request.referrer)
        with _lock:
            tally = _waiting.get((project.pk, request.path))
            if tally is None:
                if len(_waiting) >= MAX_WAITING:
                    continue
                tally = _waiting[project.pk, request.path] = _Tally(request.at)
            tally.last_at = max(tally.last_at, request.at)
            tally.people += verdict.client_class == "human"
            tally.agents += is_ai
            tally.crawlers += verdict.client_class == "search_crawler"
            tally.agent = verdict.agent if is_ai else tally.agent
            tally.linked_from = linked_from or tally.linked_from


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
        pages = Document.indexed.filter(
            project=project, path__in=tallies
        )  # who asked may not have seen a protected one
        for path in tallies.keys() - set(pages.values_list("path", flat=True)):
            _store(project.pk, path, tallies[path])


def _store(project: int, path: str, tally: _Tally) -> None:
    rows = MissingPage.objects.filter(project=project, path=path)
    known = {name: value for name in ("agent", "linked_from") if (value := getattr(tally, name))}
    added = {name: F(name) + getattr(tally, name) for name in ("people", "agents", "crawlers")}
    if not rows.exists():
        _make_room(project)
        MissingPage.objects.bulk_create(
            [MissingPage(project_id=project, path=path, kind=Kind.INVENTED, last_at=tally.last_at)],
            ignore_conflicts=True,  # another process was first
        )
    rows.update(**added, **known, last_at=Greatest("last_at", tally.last_at))
    was_linked = rows.filter(kind=Kind.INVENTED).exclude(people=0, crawlers=0, linked_from="")
    was_linked.update(kind=Kind.BROKEN)


def _make_room(project: int) -> None:
    asked = MissingPage.objects.filter(project=project).exclude(kind=Kind.MOVED)
    if asked.count() >= MAX_ASKED:
        by_requests = asked.order_by(F("people") + F("agents") + F("crawlers"), "last_at")
        MissingPage.objects.filter(pk__in=list(by_requests.values_list("pk", flat=True)[:_FREED])).delete()


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
