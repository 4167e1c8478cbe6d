"""The table of redirects: from addresses without a page to pages, above a confidence, without chains and loops."""

import time
from collections.abc import Mapping
from typing import NamedTuple

from docsite.core.access.readers import PUBLIC, read_as
from docsite.core.tenants.models import Project
from docsite.extras.dead_ends.models import MissingPage
from search.models import Document, Redirect

CONFIDENCE = 0.9  # from which on a page is taken for the one that is meant
CACHE_SECONDS = 60.0
MAX_CACHED = 100  # projects


class Target(NamedTuple):
    """Where an address leads, and how sure that is: 1 for what the documentation itself says."""

    path: str
    confidence: float


def build(project: Project, confidence: float = CONFIDENCE) -> dict[str, Target]:
    """The redirects of a project to public pages, by path. No path is that of a page, protected ones included."""
    found = MissingPage.objects.filter(project=project, confidence__gte=confidence).exclude(nearest="")
    rows = found.values_list("path", "nearest", "confidence")
    steps = {path: Target(target, confidence) for path, target, confidence in rows}
    own = Redirect.objects.filter(project=project).values_list("path", "target")
    steps |= {path: Target(target, 1.0) for path, target in own}
    with read_as(PUBLIC):
        public = set(Document.objects.filter(project=project).values_list("path", flat=True))
    existing = set(Document.indexed.filter(project=project).values_list("path", flat=True))
    resolved = {path: resolve(path, steps, public) for path in sorted(steps.keys() - existing)}
    return {path: target for path, target in resolved.items() if target and target.confidence >= confidence}


def resolve(path: str, steps: Mapping[str, Target], pages: set[str]) -> Target | None:
    """Follow steps to a page. The confidence is the product of those of the steps.

    None for a loop, and where the steps end before a page.
    """
    seen, confidence = {path}, 1.0
    while step := steps.get(path):
        path, confidence = step.path, confidence * step.confidence
        if path in pages:
            return Target(path, confidence)
        if path in seen:
            return None
        seen.add(path)
    return None


_cache: dict[int, tuple[float, dict[str, Target]]] = {}


def find_replacement(project: Project, path: str) -> str:
    """The page to which an address leads, if the present reader sees it; else empty. The table may be a minute old."""
    now = time.monotonic()
    read_at, table = _cache.get(project.pk, (float("-inf"), {}))
    if now - read_at > CACHE_SECONDS:
        table = build(project)
        if len(_cache) >= MAX_CACHED:
            _cache.clear()
        _cache[project.pk] = (now, table)
    target = table.get(path)
    if target is None or not Document.objects.filter(project=project, path=target.path).exists():
        return ""
    return target.path


def forget_cached() -> None:
    """Build the tables anew at their next use."""
    _cache.clear()
