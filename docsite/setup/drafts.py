"""What the wizard knows of a site before its project exists. It is stored in the session of the user."""

import re
import secrets
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Self

from django.conf import settings
from django.http import Http404, HttpRequest

from docsite.core.tenants.models import Project
from docsite.core.unicode.addresses import urlsplit
from search.sources.request import SourceRequest

_KEY = "new_projects"
MAX_DRAFTS = 5  # of a session; the oldest is forgotten


@dataclass(frozen=True)
class Draft:
    """A site that becomes a project. `found` is its `search.sources.detection.Detection` as JSON.

    `domain` is that of the project, once it exists.
    """

    location: str
    generator: str = ""
    docs_url: str = ""
    language: str = ""
    found: dict[str, Any] = field(default_factory=dict)
    domain: str = ""

    def look(self) -> Self:
        """Look at the site, and fill in what the draft leaves open. Raises ValueError with a sentence."""
        request = SourceRequest(
            self.location,
            self.docs_url,
            generator=self.generator,
            private_hosts=settings.ENV.crawl_private_hosts,
        )
        from search.sources.detection import detect  # with the readers of all formats, which serve no request

        found = detect(request)
        return replace(
            self,
            docs_url=self.docs_url or found.base_url,
            language=self.language or found.language,
            found=found.to_json(),
        )


def save(request: HttpRequest, draft: Draft, token: str = "") -> str:
    """Store a draft, and return the token in its address."""
    token = token or secrets.token_hex(6)
    drafts = dict(request.session.get(_KEY, {}))
    drafts.pop(token, None)
    drafts[token] = asdict(draft)
    request.session[_KEY] = dict(list(drafts.items())[-MAX_DRAFTS:])
    return token


def load(request: HttpRequest, token: str) -> Draft:
    """The user's draft. Raises 404."""
    values = request.session.get(_KEY, {}).get(token)
    if values is None:
        raise Http404
    return Draft(**values)


def list_open(request: HttpRequest) -> list[tuple[str, Draft]]:
    """The drafts that have no project yet, the latest first, with their tokens."""
    drafts = [(token, Draft(**values)) for token, values in request.session.get(_KEY, {}).items()]
    return [(token, draft) for token, draft in reversed(drafts) if not draft.domain]


def propose_domain(docs_url: str) -> str:
    """A free domain from the host of a site: `acme` for `https://docs.acme.example`.

    Words that say nothing about the site, and the top-level domain, are left out.
    """
    host = (urlsplit(docs_url).hostname or "").lower()
    labels = [label for label in host.split(".")[:-1] if label not in ("www", "docs", "doc", "documentation", "help")]
    names = [re.sub("[^a-z0-9-]", "", label).strip("-") for label in labels]
    name = next((name for name in names if name and not name.isdigit()), "docs")[:50]
    taken = set(Project.objects.filter(domain__startswith=name).values_list("domain", flat=True))
    return next(
        free for free in (name, *(f"{name}-{number}" for number in range(2, len(taken) + 3))) if free not in taken
    )
