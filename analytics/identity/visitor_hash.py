"""The keyed hash that identifies a visitor, computed the same way for people and agents."""

import functools
from hashlib import blake2b

from docsite.core.http.client_address import Address, network_of


def hash_visitor(secret: str, address: Address, client: str) -> int:
    """The hash of a visitor of one project: 64 bits, signed as SQL stores them.

    `secret` belongs to the project, so visitors of two projects cannot be joined. It may
    belong to a key rotation period (`analytics.identity.key_rotation`). `client` is the user
    agent of a person, or the name of an agent without its version. Of an IPv6 address only
    the /64 counts. Without the secret, which is never logged or exported, the hash reveals
    nothing.
    """
    return hash_network(secret, network_of(address), client)


def hash_network(secret: str, network: str, client: str) -> int:
    """The hash of `hash_visitor` for a client in a network, as `network_of` gives it."""
    return keyed_hash(secret, f"{network}\n{client}")


def keyed_hash(secret: str, text: str, purpose: bytes = b"") -> int:
    """A 64-bit hash of a text, keyed with the secret. Each purpose has hashes of its own."""
    digest = _keyed_state(secret, purpose).copy()
    digest.update(text.encode("utf-8", "replace"))
    return int.from_bytes(digest.digest(), "big", signed=True)


@functools.lru_cache(1_000)
def _keyed_state(secret: str, purpose: bytes) -> blake2b:
    """A hash state with the key, which is half of the work of hashing."""
    return blake2b(key=bytes.fromhex(secret), digest_size=8, person=purpose)
