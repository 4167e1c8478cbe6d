"""How a request arrives here, for `manage.py doctor`, which asks this service through its proxies.

`/health/live` adds it to its response if the request has a token that was signed with our key a moment ago.
"""

from typing import Any

from django.core import signing

from docsite.core.http import client_address
from docsite.core.http.open_sockets import header

HEADER = "X-Docs-Doctor"
_NAME = HEADER.lower().encode()
_MAX_AGE_SECONDS = 60
_SALT = "docsite.server.health.reflection"


def create_token() -> str:
    """A value of the header. It is valid for a minute."""
    return signing.dumps("doctor", salt=_SALT)


def describe(scope: dict[str, Any]) -> dict[str, Any]:
    """The peer, whether it is a trusted proxy, and what it forwarded; empty without a valid token.

    `client` is the address that is read from it, empty if that is none.
    """
    token = header(scope, _NAME)
    if not token:
        return {}
    try:
        signing.loads(token, salt=_SALT, max_age=_MAX_AGE_SECONDS)
    except signing.BadSignature:
        return {}
    peer, forwarded_for = (scope.get("client") or ("",))[0], client_address.forwarded_for(scope)
    return {
        "peer": peer,
        "isTrusted": client_address.is_trusted(client_address.parse_address(peer)),
        "forwardedFor": forwarded_for,
        "client": str(client_address.find_client(peer, forwarded_for) or ""),
        "scheme": client_address.scheme(scope),
        "host": header(scope, b"host"),
    }
