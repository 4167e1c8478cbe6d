"""Which web origins may call a project: those that its owner lists and, in a demo, this machine."""

import re

from docsite.core import context
from docsite.core.access.authentication import allow_stale, find_cached_project, project_by_domain
from docsite.core.db import in_db
from docsite.core.tenants.models import Project

_LOOPBACK = re.compile(r"https?://(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?\Z", re.ASCII)
_loopback_domains: set[str] = set()


async def allows_origin(domain: str, origin: str) -> bool:
    """Whether web pages from this origin may call the project of a domain. False if there is no such project."""
    token = allow_stale(True)  # the check of the endpoint decides about the rest
    try:
        project = find_cached_project(domain) or await in_db(project_by_domain)(domain)
    finally:
        context.allows_stale.reset(token)
    return project is not None and is_allowed_origin(project, origin)


def allow_loopback(domain: str) -> None:
    """Let pages on any port of the reader's own machine call a project while this process runs."""
    _loopback_domains.add(domain)


def allows_loopback(domain: str) -> bool:
    """Whether this process is a demo with that project: its reader sits at this machine."""
    return domain in _loopback_domains


def is_allowed_origin(project: Project, origin: str) -> bool:
    """Whether pages on that origin may call a project.

    The spelling must be that of browsers, which send the scheme and the host in lower case.
    """
    return origin in project.origins or (allows_loopback(project.domain) and bool(_LOOPBACK.match(origin)))
