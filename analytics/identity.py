"""Who is one visitor: a keyed hash, made the same way for people and agents."""

import hashlib
from datetime import datetime

from docsite.http.client_ip import Address, network_of


def visitor(secret: str, address: Address, client: str, *, daily_at: datetime | None = None) -> int:
    """64 bits for one client of one site, signed as SQL stores them.

    `secret` is the project's own, so that sites cannot be joined; `client` is
    the user agent of a person, or the name of an agent that names itself
    (versions change, the agent does not). The address counts as its /64 under
    IPv6. With `daily_at` the key changes every day: a reader who asked not to
    be tracked is counted, never followed. Nothing can be turned back without
    the secret, which is never logged or exported.
    """
    key = bytes.fromhex(secret)
    if daily_at:
        key = hashlib.blake2b(daily_at.strftime("%Y-%m-%d").encode(), key=key, digest_size=32).digest()
    told = f"{network_of(address)}\n{client}".encode("utf-8", "replace")
    return int.from_bytes(hashlib.blake2b(told, key=key, digest_size=8).digest(), "big", signed=True)
