"""Asks users to prove who they are before they change credentials ("sudo mode").

An open session alone, at an unlocked computer or by a stolen cookie, must give nobody a lasting way in. The proof is
the password, or a log-in at the provider for accounts that have none.
"""

import time
from collections.abc import Callable
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

PROOF_SECONDS = 600.0  # that a proof counts
_PROVED_AT = "proved_at"

_guarded: dict[str, Callable[[HttpRequest], bool]] = {}


def guard(*names: str, when: Callable[[HttpRequest], bool] = lambda request: True) -> None:
    """Require a recent proof of identity to open the pages of the admin with these names, and to post to them.

    `when` says which posts need it: those that change credentials. To open a page always does.
    """
    _guarded.update(dict.fromkeys(names, when))


def note_proof(request: HttpRequest, at: float | None = None) -> None:
    """Store when the user of the session has shown who they are: `at`, as Unix time, or now; the latest time counts."""
    now = time.time()
    request.session[_PROVED_AT] = max(request.session.get(_PROVED_AT, 0), now if at is None else min(at, now))


def has_proof(request: HttpRequest) -> bool:
    """Whether the user of the session has shown who they are in the last `PROOF_SECONDS`."""
    return bool(time.time() - request.session.get(_PROVED_AT, 0) < PROOF_SECONDS)


def find_proof_url(request: HttpRequest) -> str:
    """The address of the page that asks for a proof, if this request needs one. Else empty."""
    match = request.resolver_match
    changes_credentials = _guarded.get((match and match.url_name) or "")
    if changes_credentials is None or has_proof(request):
        return ""
    return proof_url(request.get_full_path()) if request.method != "POST" or changes_credentials(request) else ""


def proof_url(after: str) -> str:
    """The address of the page that asks for a proof, and then leads to the address `after`."""
    return f"{reverse('log_in_proof')}?{urlencode({'next': after})}"
