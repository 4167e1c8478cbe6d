"""Checks the tokens that an owner's site signs for its readers: JWTs with the groups of a reader (RFC 7519, RFC 8037).

The key decides the algorithm, never the token. A token is for one project (`aud` is its domain) and lives at most
a day. Nothing of a token is stored or logged.
"""

import time
from typing import Any

from docsite.core.access import authentication
from docsite.core.access.readers import MAX_GROUPS, PUBLIC, Groups, normalize_groups
from docsite.core.http.errors import ApiError
from docsite.core.tenants.models import Project, ReaderKey

READER_TOKEN_HEADER = "X-Reader-Token"
MAX_LENGTH = 8192  # characters of a token
MAX_SECONDS = 24 * 3600  # from now to the end of a token
LEEWAY = 30  # seconds that the owner's clock may differ from ours
MAX_SUBJECT = 255  # characters of `sub`
_FAULTS = {  # by the exceptions of PyJWT
    "InvalidAlgorithmError": "has another algorithm than its key",
    "InvalidSignatureError": "has a wrong signature",
    "ExpiredSignatureError": "has expired",
    "ImmatureSignatureError": "is not valid yet: compare the clocks",
    "InvalidAudienceError": "is not for this project: `aud` must be its domain",
}


class ReaderTokenRefused(ApiError):
    """401. The sentence says what is wrong, and nothing of what the token holds."""

    def __init__(self, fault: str) -> None:
        super().__init__(
            401, f"The reader token {fault}.", headers={"WWW-Authenticate": 'Bearer error="invalid_token"'}
        )


def find_groups(project: Project, token: str | None) -> Groups:
    """The groups of a reader by their token; none without a token. Raises `ReaderTokenRefused`."""
    if not token:
        return PUBLIC
    return _read_groups(_decode(project, token))


def _decode(project: Project, token: str) -> dict[str, Any]:
    """The claims of a token whose signature and times are right."""
    import jwt  # with its parts of cryptography it takes 10 MB, and most services have no reader keys

    if len(token) > MAX_LENGTH:
        raise ReaderTokenRefused(f"has more than {MAX_LENGTH} characters")
    try:
        kid = jwt.get_unverified_header(token).get("kid")
        key = _find_key(project, kid)
        claims: dict[str, Any] = jwt.decode(
            token,
            key.verification_key,
            algorithms=[key.algorithm],
            audience=project.domain,
            leeway=LEEWAY,
            options={"require": ["exp", "aud"]},
        )
    except jwt.MissingRequiredClaimError as missing:
        raise ReaderTokenRefused(f"lacks the claim `{missing.claim}`") from None
    except (jwt.PyJWTError, ValueError, TypeError, OverflowError, RecursionError) as wrong:
        fault = _FAULTS.get(type(wrong).__name__, "is not a JWT with the claims that it needs")
        raise ReaderTokenRefused(fault) from None
    ends = claims["exp"]
    if isinstance(ends, bool) or not isinstance(ends, int | float) or ends > time.time() + MAX_SECONDS + LEEWAY:
        raise ReaderTokenRefused("must end within 24 hours: `exp` is later")
    return claims


def _find_key(project: Project, kid: Any) -> ReaderKey:
    """The key of an id; without one, the only key of the project."""
    keys: tuple[ReaderKey, ...] = authentication.ttl_cache.get(
        ("reader-keys", project.pk),
        lambda: tuple(ReaderKey.objects.filter(project=project, revoked_at=None)),
    )
    named = [key for key in keys if kid is None or key.kid == kid]
    if not named:
        raise ReaderTokenRefused("is not signed with a key of this project")
    if len(named) > 1:
        raise ReaderTokenRefused("names no key: the project has several, so `kid` must be in its header")
    return named[0]


def _read_groups(claims: dict[str, Any]) -> Groups:
    subject, groups = claims.get("sub", ""), claims.get("groups", [])
    if not isinstance(subject, str) or len(subject) > MAX_SUBJECT:
        raise ReaderTokenRefused(f"has a `sub` that is not a text of at most {MAX_SUBJECT} characters")
    if not isinstance(groups, list) or not all(isinstance(group, str) for group in groups) or len(groups) > MAX_GROUPS:
        raise ReaderTokenRefused(f"has `groups` that are not a list of at most {MAX_GROUPS} texts")
    try:
        return frozenset(normalize_groups(groups))
    except ValueError as wrong:
        raise ReaderTokenRefused(str(wrong)) from None
