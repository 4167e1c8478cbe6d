"""Requests that their client has signed (RFC 9421), where a part of the service checks such signatures.

Signed is the third grade of an agent, beside claimed and verified by its address.
"""

from collections.abc import Callable
from datetime import datetime
from typing import NamedTuple

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest

from docsite.core.tenants.models import Project
from docsite.core.unicode.addresses import urljoin, urlsplit

_OWN_HEADERS = ("Signature", "Signature-Input", "Signature-Agent")


class SignedRequest(NamedTuple):
    """A GET request with what its signature may cover. `url` is absolute, or a path on the project's site."""

    url: str
    headers: tuple[tuple[str, str], ...]


class Signer(NamedTuple):
    """Who signed a request: the host of its `Signature-Agent`, and the thumbprint of the key."""

    host: str
    key_id: str


Verify = Callable[[SignedRequest, datetime, str], Signer | None]

_verify: Verify | None = None


def install(verify: Verify) -> None:
    """Let a part check signatures. It may block for a short time. Call it in `AppConfig.ready`."""
    global _verify
    _verify = verify


def read(request: HttpRequest) -> SignedRequest | None:
    """The request with its signature; None if it has none, or is not a GET."""
    if _verify is None or request.method != "GET" or not all(name in request.headers for name in _OWN_HEADERS):
        return None
    try:
        return SignedRequest(request.build_absolute_uri(), tuple(request.headers.items()))
    except DisallowedHost:
        return None


def find_signer(project: Project, request: SignedRequest, at: datetime, view_id: str) -> Signer | None:
    """Who signed a request for the project's site at a time; None unless the signature holds. It blocks."""
    if _verify is None:
        return None
    try:
        absolute = request._replace(url=urljoin(project.docs_url, request.url))
        host = urlsplit(absolute.url).netloc.lower()
    except ValueError:
        return None
    if host not in {urlsplit(origin).netloc for origin in project.origins}:  # it was signed for another site
        return None
    return _verify(absolute, at, view_id)
