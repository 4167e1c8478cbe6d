"""Who is one visitor: a keyed hash, made the same way for people and agents."""

import functools
from hashlib import blake2b

from docsite.core.http.client_address import Address, network_of


def hash_visitor(secret: str, address: Address, client: str) -> int:
    """64 bits for one client of one site, signed as SQL stores them.

    `secret` is the project's own, so that sites cannot be joined, and may be that of
    a period (`analytics.identity.key_rotation`); `client` is the user agent of a person, or the
    name of an agent that names itself (versions change, the agent does not). The
    address counts as its /64 under IPv6. Nothing can be turned back without the
    secret, which is never logged or exported.
    """
    return keyed_hash(secret, f"{network_of(address)}\n{client}")


def keyed_hash(secret: str, text: str, purpose: bytes = b"") -> int:
    """64 bits that only who knows the secret can make of what is told. Each purpose has hashes of its own."""
    digest = _keyed_state(secret, purpose).copy()
    digest.update(text.encode("utf-8", "replace"))
    return int.from_bytes(digest.digest(), "big", signed=True)


@functools.lru_cache(1_000)
def _keyed_state(secret: str, purpose: bytes) -> blake2b:
    """A hash that has taken its key in, which is half of the work."""
    return blake2b(key=bytes.fromhex(secret), digest_size=8, person=purpose)
