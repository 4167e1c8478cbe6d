"""Check the signature of a request: RFC 9421 as Web Bot Auth uses it.

A signature counts if it has the tag `web-bot-auth`, covers the host and `Signature-Agent`, is of this time and of an
Ed25519 key that the site in `Signature-Agent` publishes, and was not seen before.
"""

import hashlib
import logging
from base64 import urlsafe_b64encode
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

import http_sf
from django.utils import timezone
from http_message_signatures import (
    HTTPMessageVerifier,
    HTTPSignatureKeyResolver,
    InvalidSignature,
    VerifyResult,
    algorithms,
)
from http_message_signatures.exceptions import HTTPMessageSignaturesException

from analytics.collecting.signatures import SignedRequest, Signer
from docsite.core.tenants.validators import origin_of
from docsite.core.unicode.addresses import urlsplit
from docsite.extras.web_bot_auth import directories
from docsite.extras.web_bot_auth.models import UsedSignature

logger = logging.getLogger(__name__)

TAG = "web-bot-auth"
CLOCK_SKEW = timedelta(seconds=30)
MAX_LIFETIME = timedelta(days=1)  # of a signature
MAX_DELAY = timedelta(hours=1)  # of a view that a server reports
MAX_HEADER, MAX_COVERED = 4_000, 20
_HOST = ("@authority", "@target-uri")  # either binds a signature to a host
_MAX_HOST = 80  # characters, as of the name of an agent


class _Message(NamedTuple):
    """The request as the library wants it."""

    method: str
    url: str
    headers: dict[str, str]


def verify(request: SignedRequest, at: datetime, view_id: str, deadline: float) -> Signer | None:
    """Who signed a request that came at a time, if its signature holds and no other view had it.

    Blocks until a deadline of the monotonic clock at most.
    """
    if not -CLOCK_SKEW <= timezone.now() - at <= MAX_DELAY:
        return None
    headers = {name.lower(): value for name, value in request.headers}
    if any(len(value) > MAX_HEADER for name, value in headers.items() if name.startswith("signature")):
        return None
    resolver = _KeyResolver(headers.get("signature-agent", ""), at, deadline)
    try:
        verifier = _Verifier(at, resolver)
        results = verifier.verify(_Message("GET", request.url, headers), max_age=MAX_LIFETIME, expect_tag=TAG)
    except (HTTPMessageSignaturesException, ValueError) as wrong:
        logger.debug("A signature does not hold: %s", wrong)
        return None
    if len(results) != 1 or resolver.signer is None:
        return None
    return resolver.signer if _use(results[0], view_id) else None


class _KeyResolver(HTTPSignatureKeyResolver):
    """Finds the key in the directory of the signature agent. `member`: that part of the header which is covered."""

    def __init__(self, agent: str, at: datetime, deadline: float) -> None:
        self.agent = agent
        self.at = at
        self.deadline = deadline
        self.member = ""
        self.signer: Signer | None = None

    def resolve_public_key(self, key_id: str) -> Any:
        origin = parse_agent(self.agent, self.member)
        host = urlsplit(origin).netloc
        if not origin or len(host) > _MAX_HOST or not directories.is_allowed(origin):
            return None
        self.signer = Signer(host, key_id)
        return directories.find_key(origin, key_id, self.at, self.deadline)


class _Verifier(HTTPMessageVerifier):
    """Adds what Web Bot Auth demands. Times are compared with that of the request, which a server may report later."""

    def __init__(self, at: datetime, resolver: _KeyResolver) -> None:
        super().__init__(signature_algorithm=algorithms.ED25519, key_resolver=resolver)
        self.at = at
        self.resolver = resolver

    def validate_created_and_expires(self, sig_input: Any, max_age: timedelta | None = None) -> None:
        """Check times and what is covered, before the key is looked up. Raises InvalidSignature."""
        created, expires = (sig_input.params.get(name) for name in ("created", "expires"))
        if type(created) is not int or type(expires) is not int:
            raise InvalidSignature("it has no times")
        skew, lifetime = CLOCK_SKEW.total_seconds(), MAX_LIFETIME.total_seconds()
        # as numbers, since no date is as early or late as the numbers of a stranger may be
        if not created - skew <= self.at.timestamp() <= expires + skew or expires - created > lifetime:
            raise InvalidSignature("it is not of this time")
        covered = [(item.value, dict(item.params)) for item in sig_input]
        agents = [parameters for name, parameters in covered if name == "signature-agent"]
        if len(covered) > MAX_COVERED or not any(name in _HOST and not more for name, more in covered):
            raise InvalidSignature("the host is not covered")
        if len(agents) != 1 or set(agents[0]) - {"key"}:
            raise InvalidSignature("Signature-Agent is not covered")
        self.resolver.member = str(agents[0].get("key", ""))


def parse_agent(header: str, member: str) -> str:
    """The origin in `Signature-Agent`: of a member of the dictionary, or the string of earlier drafts. Else empty.

    Without a `member` the signature covers the whole header, which must name one origin then.
    """
    raw, value = header.encode(), ""
    for kind in ("dictionary", "item"):
        try:
            parsed: Any = http_sf.parse(raw, tltype=kind)
            if kind == "item":
                value = "" if member else parsed[0]
            elif member or len(parsed) == 1:
                value = parsed[member or next(iter(parsed))][0]
            break
        except (ValueError, KeyError, TypeError):
            continue
    if not isinstance(value, str) or not value.isascii() or not value.isprintable():
        return ""
    try:
        parts, canonical = urlsplit(value), origin_of(value)
    except ValueError:
        return ""
    is_origin = parts.path in ("", "/") and not (parts.query or parts.fragment) and "@" not in parts.netloc
    return canonical if is_origin else ""


def _use(result: VerifyResult, view_id: str) -> bool:
    """Remember what was signed. False if another view had it before; a view that is sent again may have it again.

    What was signed, since the same signature can be written in several ways.
    """
    signed = "\n".join(f"{name}: {value}" for name, value in result.covered_components.items())
    expires = datetime.fromtimestamp(int(result.parameters["expires"]), UTC)
    used, _ = UsedSignature.objects.get_or_create(
        digest=_digest(signed), defaults={"view": _digest(view_id), "ends_at": expires + CLOCK_SKEW + MAX_DELAY}
    )
    return used.view == _digest(view_id)


def _digest(text: str) -> str:
    return urlsafe_b64encode(hashlib.sha256(text.encode("utf-8", "replace")).digest()).rstrip(b"=").decode()


def sweep() -> None:
    """Forget signatures whose time is over."""
    UsedSignature.objects.filter(ends_at__lt=timezone.now()).delete()
