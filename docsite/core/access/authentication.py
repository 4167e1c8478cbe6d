"""Authenticates API keys: token, kind, expiry, address, scope and tenant."""

import ipaddress
import math
import threading
import time
from collections.abc import Callable
from contextlib import nullcontext
from contextvars import Token
from dataclasses import dataclass
from typing import Any

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest
from django.utils import timezone

from docsite.core import availability, context, ids
from docsite.core.access.last_uses import note_use
from docsite.core.access.readers import PUBLIC, Groups
from docsite.core.http.client_address import Address
from docsite.core.http.errors import Forbidden, NotFound, Unauthorized
from docsite.core.logs import describe
from docsite.core.tenants.models import ApiKey, Project, digest

CACHE_SECONDS = 1.5  # every process must refuse a revoked key within two seconds, but for `allow_stale`
TRY_SECONDS = 1.0  # for the database, where an old value may serve
STALE_SECONDS = 86_400.0  # that a value may serve for where `allow_stale` permits it, while the database is away


@dataclass(frozen=True)
class Caller:
    """An admitted request: its key, its project, and the address it came from.

    It has no key where the owner of the project demands none, as for agents.
    """

    key: ApiKey | None
    project: Project
    address: Address
    groups: Groups | None = PUBLIC  # whose pages the caller sees beside the public ones; None: every page


class _TtlCache:
    """Caches values for `CACHE_SECONDS`: a busy key or project costs one query in that time."""

    def __init__(self) -> None:
        self._values: dict[Any, tuple[float, Any]] = {}
        self._lock = threading.Lock()

    def get(self, key: Any, load: Callable[[], Any]) -> Any:
        """The cached value, otherwise the result of `load`. None is not cached.

        While the database is away, a stale value serves where `allow_stale` permits it.
        """
        now = time.monotonic()
        value = self.peek(key)
        if value is not None:
            return value
        stale = self.peek(key, STALE_SECONDS) if context.allows_stale.get() else None
        if stale is not None and not availability.database.claim_attempt():
            return stale
        try:
            with context.limit_database_time(TRY_SECONDS) if stale is not None else nullcontext():
                value = load()
        except (OperationalError, InterfaceError) as failure:
            if stale is None:
                raise
            availability.database.report_failure(describe(failure))
            return stale
        if context.allows_stale.get():  # `in_db` does not report it then
            availability.database.report_success()
        with self._lock:
            if len(self._values) > 10_000:
                self._values.clear()
            if value is None:
                self._values.pop(key, None)  # a stale one must not come back
            else:
                self._values[key] = (now, value)
        return value

    def peek(self, key: Any, max_seconds: float = CACHE_SECONDS) -> Any:
        """The cached value; None when there is none of that age."""
        loaded_at, value = self._values.get(key, (-math.inf, None))
        return value if time.monotonic() - loaded_at < max_seconds else None

    def clear(self) -> None:
        """Forget all values."""
        self._values.clear()


ttl_cache = _TtlCache()
_relations = ["organization"]
_log_checks: list[Callable[[], bool]] = []  # each says whether a log in front of the database stores views


def allow_stale(is_allowed: bool) -> "Token[bool]":
    """While the database is away, let the rest of this request use keys, projects and secrets read within the last day.

    Only for requests that write nothing but a log in front of the database, since a key that was revoked meanwhile
    still works. Without such a log it has no effect. Returns the token that resets it.
    """
    return context.allows_stale.set(is_allowed and any(has_log() for has_log in _log_checks))


def allow_stale_if(has_log: Callable[[], bool]) -> None:
    """Let `allow_stale` have an effect while `has_log` says so. Call it in `AppConfig.ready`."""
    _log_checks.append(has_log)


def load_with_project(relation: str) -> None:
    """Let the look-ups below load a related row of each project in the same query. For apps."""
    _relations.append(relation)


def project_by_domain(domain: str) -> Project | None:
    """The project of a domain, at most `CACHE_SECONDS` old."""
    return _find_project("domain", domain)


def find_cached_project(domain: str) -> Project | None:
    """The project of a domain if it is cached and at most `CACHE_SECONDS` old. The event loop may call it."""
    project: Project | None = ttl_cache.peek(("domain", domain))
    return project


def project_by_id(project_id: str) -> Project | None:
    """The project of a projectId, at most `CACHE_SECONDS` old."""
    return _find_project("project_id", project_id)


def _find_project(field: str, value: str) -> Project | None:
    project: Project | None = ttl_cache.get(
        (field, value), lambda: Project.objects.select_related(*_relations).filter(**{field: value}).first()
    )
    return project


def bearer_token(request: HttpRequest) -> str:
    """The token of the Authorization header. Raises 401."""
    header = str(request.META.get("HTTP_AUTHORIZATION", ""))
    if not header.strip():
        raise Unauthorized(sent=False)
    scheme, _, token = header.strip().partition(" ")
    if scheme.lower() != "bearer" or not token.strip():
        raise Unauthorized(sent=False)
    return token.strip()


def authenticate(token: str, address: Address, kind: ApiKey.Kind) -> ApiKey:
    """The active key of a token. Raises 401, or 403 for a key of the other kind or an address that is not allowed."""
    if not token.startswith("svc_") or not ids.is_token(token):
        raise Unauthorized(sent=True)
    hashed = digest(token)
    key: ApiKey | None = ttl_cache.get(
        ("key", hashed),
        lambda: ApiKey.objects.select_related("organization", "project").filter(digest=hashed).first(),
    )
    if key is None or not key.is_live(timezone.now()):
        raise Unauthorized(sent=True)
    if key.kind != kind:
        raise Forbidden(f"This endpoint takes an {kind} key ({ApiKey.PREFIX[kind]}…).")
    if key.networks and not any(address in ipaddress.ip_network(text, strict=False) for text in key.networks):
        raise Forbidden("This API key may not be used from your address.")
    note_use(key)
    return key


def assistant_caller(token: str, domain: str, address: Address) -> Caller:
    """The caller of an assistant key on its own domain. Raises 404 for every other domain, existing or not."""
    key = authenticate(token, address, ApiKey.Kind.ASSISTANT)
    project = project_by_domain(domain)
    if project is None or key.project_id != project.pk:
        raise NotFound("No such domain.")
    return Caller(key, project, address)


def admin_caller(token: str, project_id: str, address: Address, *, write: bool) -> Caller:
    """The caller of an admin key on a project of its organization. Raises 404 for every other project."""
    key = authenticate(token, address, ApiKey.Kind.ADMIN)
    if key.scopes and not ("write" in key.scopes or (not write and "read" in key.scopes)):
        raise Forbidden(f"This API key lacks the scope {'write' if write else 'read'}.")
    project = project_by_id(project_id)
    if project is None or key.organization_id != project.organization_id:
        raise NotFound("No such project.")
    return Caller(key, project, address, groups=None)


def collecting_caller(token: str, project_id: str, address: Address) -> Caller:
    """The caller of a collecting key on its own project, or of an admin key that may write. Raises 404 for others."""
    if not token.startswith(ApiKey.PREFIX[ApiKey.Kind.COLLECTING]):
        return admin_caller(token, project_id, address, write=True)
    key = authenticate(token, address, ApiKey.Kind.COLLECTING)
    project = project_by_id(project_id)
    if project is None or key.project_id != project.pk:
        raise NotFound("No such project.")
    return Caller(key, project, address)
