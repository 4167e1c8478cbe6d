"""The keyed hash that identifies a visitor, computed the same way for people and agents."""

import functools
from collections.abc import Callable
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
    return keyed_hash(secret, f"{network_of(address)}\n{client}")


def keyed_hash(secret: str, text: str, purpose: bytes = b"") -> int:
    """A 64-bit hash of a text, keyed with the secret. Each purpose has hashes of its own."""
    return build_hasher(secret, purpose)(text)


@functools.lru_cache(1_000)
def build_hasher(secret: str, purpose: bytes = b"") -> Callable[[str], int]:
    """A function that hashes texts as `keyed_hash` does. It takes the key in once: that is half of the work."""
    copy_state = blake2b(key=bytes.fromhex(secret), digest_size=8, person=purpose).copy

    def compute(text: str) -> int:
        state = copy_state()
        state.update(text.encode("utf-8", "replace"))
        return int.from_bytes(state.digest(), "big", signed=True)

    return compute
