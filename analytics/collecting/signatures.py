"""Requests that their client has signed (RFC 9421), where a part of the service checks such signatures.

Signed is the third grade of an agent, beside claimed and verified by its address.
"""

import logging
import time
from datetime import datetime
from typing import NamedTuple

from django.core.exceptions import DisallowedHost
from django.http import HttpRequest
from django.utils.module_loading import import_string

from docsite.core.tenants.models import Project
from docsite.core.unicode.addresses import urljoin, urlsplit

logger = logging.getLogger(__name__)

_OWN_HEADERS = ("Signature", "Signature-Input", "Signature-Agent")


class SignedRequest(NamedTuple):
    """A GET request with what its signature may cover. `url` is absolute, or a path on the project's site."""

    url: str
    headers: tuple[tuple[str, str], ...]


class Signer(NamedTuple):
    """Who signed a request: the host of its `Signature-Agent`, and the thumbprint of the key."""

    host: str
    key_id: str


_verify = ""


def install(verify: str) -> None:
    """Let a function check signatures, by its dotted name. Call it in `AppConfig.ready`.

    It gets the request, its time, the id of the view, and until when it may block. It is imported for signed requests.
    """
    global _verify
    _verify = verify


def read(request: HttpRequest) -> SignedRequest | None:
    """The request with its signature; None if it has none, or is not a GET."""
    if not _verify or request.method != "GET" or not all(name in request.headers for name in _OWN_HEADERS):
        return None
    try:
        return SignedRequest(request.build_absolute_uri(), tuple(request.headers.items()))
    except DisallowedHost:
        return None


def find_signer(project: Project, request: SignedRequest, at: datetime, view_id: str, deadline: float) -> Signer | None:
    """Who signed a request for the project's site at a time; None unless the signature holds, and if the check fails.

    It blocks until a deadline of the monotonic clock. After that, no signature holds.
    """
    if not _verify or time.monotonic() >= deadline:
        return None
    try:
        absolute = request._replace(url=urljoin(project.docs_url, request.url))
        host = urlsplit(absolute.url).netloc.lower()
    except ValueError:
        return None
    if host not in {urlsplit(origin).netloc for origin in project.origins}:  # it was signed for another site
        return None
    try:
        signer: Signer | None = import_string(_verify)(absolute, at, view_id, deadline)
    except Exception:  # what a stranger has signed must not lose the other views of its batch
        logger.exception("A signature could not be checked.")
        return None
    return signer
