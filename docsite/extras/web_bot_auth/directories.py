"""The keys that a site publishes for its agents, at `/.well-known/http-message-signatures-directory`.

Whoever sends a request chooses the site. So a directory is fetched as the crawler fetches: from public hosts, on the
port of https, and little of it for a short time. Few are fetched at once, and all are remembered, also those that
failed.
"""

import base64
import hashlib
import json
import logging
import threading
import time
from collections import OrderedDict, deque
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from django.conf import settings

from docsite.core.network.private_hosts import PrivateHosts
from docsite.core.unicode.addresses import urlsplit
from search.sources.request import SourceRequest
from search.sources.web.fetch import Fetcher, FetchError, Limits

logger = logging.getLogger(__name__)

PATH = "/.well-known/http-message-signatures-directory"
MAX_BYTES, MAX_KEYS = 64 * 1024, 50
SECONDS = 2.0  # that a view waits for a directory
KEPT_SECONDS, FAILED_SECONDS = 3600.0, 600.0  # until a directory, or one that failed, is fetched again
NEW_KEY_SECONDS = 300.0  # until one without the wanted key is fetched again
MAX_KEPT = 1_000  # directories
MAX_AT_ONCE, MAX_A_MINUTE = 2, 20  # fetches of this process
_MILLISECONDS = 1e11  # numbers above are milliseconds, as some directories have them


class Key(NamedTuple):
    """A public key, and the seconds since 1970 between which it is valid."""

    public: Ed25519PublicKey
    begins: float = 0.0
    ends: float = float("inf")


Keys = Mapping[str, Key]  # by thumbprint


@dataclass
class _Kept:
    keys: Keys
    read_at: float  # monotonic
    failed: bool = False


_kept: OrderedDict[str, _Kept] = OrderedDict()
_fetches: deque[float] = deque(maxlen=MAX_A_MINUTE)
_running: set[str] = set()
_lock = threading.Lock()
_pool = ThreadPoolExecutor(MAX_AT_ONCE, thread_name_prefix="agent keys")


def find_key(origin: str, key_id: str, at: datetime, deadline: float) -> Ed25519PublicKey | None:
    """The key of an origin with this thumbprint, if it is valid at a time.

    Takes at most `SECONDS`, and ends at a deadline of the monotonic clock.
    """
    kept = _find_kept(origin)
    age = time.monotonic() - kept.read_at if kept else float("inf")
    is_current = kept and age < (FAILED_SECONDS if kept.failed else KEPT_SECONDS)
    if not is_current or (kept and not kept.failed and key_id not in kept.keys and age > NEW_KEY_SECONDS):
        kept = _fetch(origin, min(SECONDS, deadline - time.monotonic())) or kept
    key = kept.keys.get(key_id) if kept else None
    return key.public if key and key.begins <= at.timestamp() <= key.ends else None


def is_allowed(origin: str) -> bool:
    """Whether a directory may be fetched from an origin: https on its port, or a host that the operator allows."""
    try:
        parts = urlsplit(origin)
        host, port = parts.hostname or "", parts.port or {"https": 443}.get(parts.scheme, 80)
    except ValueError:
        return False
    if parts.scheme not in ("http", "https") or origin != f"{parts.scheme}://{parts.netloc}" or "@" in parts.netloc:
        return False
    return (parts.scheme == "https" and port == 443 and "." in host) or _private_hosts().allows(host, port)


def parse(body: bytes) -> Keys:
    """The Ed25519 keys of a directory, a JSON Web Key Set, by their thumbprints. Raises ValueError for other bodies."""
    try:
        parsed = json.loads(body)
    except RecursionError:
        raise ValueError("is nested too deeply") from None
    found = parsed.get("keys") if isinstance(parsed, dict) else None
    if not isinstance(found, list):
        raise ValueError("has no list of keys")
    return dict(filter(None, map(_parse_key, found[:MAX_KEYS])))


def _parse_key(jwk: Any) -> tuple[str, Key] | None:
    if not isinstance(jwk, dict) or (jwk.get("kty"), jwk.get("crv")) != ("OKP", "Ed25519"):
        return None
    try:
        public = Ed25519PublicKey.from_public_bytes(base64.urlsafe_b64decode(f"{jwk.get('x')}="))
        begins, ends = (_parse_time(jwk.get(name)) for name in ("nbf", "exp"))
    except (ValueError, TypeError):
        return None
    return compute_thumbprint(public), Key(public, begins or 0.0, float("inf") if ends is None else ends)


def _parse_time(value: Any) -> float | None:
    if value is None:
        return None
    seconds = float(value)
    return seconds / 1000 if seconds > _MILLISECONDS else seconds


def compute_thumbprint(public: Ed25519PublicKey) -> str:
    """The thumbprint of a key as RFC 7638 and RFC 8037, appendix A.3, have it."""
    x = _encode(public.public_bytes_raw())
    return _encode(hashlib.sha256(f'{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}'.encode()).digest())


def _encode(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def _find_kept(origin: str) -> _Kept | None:
    with _lock:
        if origin in _kept:
            _kept.move_to_end(origin)
        return _kept.get(origin)


def _fetch(origin: str, seconds: float) -> _Kept | None:
    """The directory as it is now; None if it is not known in so many seconds, or too many are fetched."""
    if seconds <= 0:
        return None
    with _lock:
        now = time.monotonic()
        is_busy = len(_fetches) == MAX_A_MINUTE and now - _fetches[0] < 60
        if origin in _running or len(_running) >= MAX_AT_ONCE or is_busy:
            return None
        _running.add(origin)
        _fetches.append(now)
    try:
        return _pool.submit(_read, origin).result(seconds)
    except TimeoutError:  # the thread goes on, at most until the system's resolver gives up
        return None


def _read(origin: str) -> _Kept:
    keys: Keys = {}
    failed = True
    try:
        request = SourceRequest(origin, origin, private_hosts=settings.ENV.crawl_private_hosts)
        with Fetcher(request, max_seconds=SECONDS) as fetcher:
            keys = parse(fetcher.get(f"{origin}{PATH}", limits=Limits(MAX_BYTES, SECONDS)).body)
        failed = False
    except (FetchError, ValueError) as wrong:
        logger.info("The keys of agents of %s could not be read: %s", origin, wrong)
    finally:
        kept = _Kept(keys, time.monotonic(), failed)
        with _lock:
            _running.discard(origin)
            _kept[origin] = kept
            _kept.move_to_end(origin)
            while len(_kept) > MAX_KEPT:
                _kept.popitem(last=False)
    return kept


def _private_hosts() -> PrivateHosts:
    return PrivateHosts(settings.ENV.crawl_private_hosts)


def forget() -> None:
    """Fetch every directory again at its next use."""
    with _lock:
        _kept.clear()
        _fetches.clear()
