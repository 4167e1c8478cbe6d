"""The forms of `REDIS_URL`.

    redis://user:password@host:6379/0                              one server
    redis+sentinel://user:password@host:26379,host:26379/NAME/0    the primary that Sentinel calls NAME
    redis+cluster://user:password@host:6379,host:6379              some nodes of a cluster, which knows the others

`rediss` instead of `redis` means TLS. `?sentinel_password=…` is for Sentinels that want one.
"""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qs, unquote

from docsite.core.unicode.addresses import urlsplit

SENTINEL_PORT, PORT = 26379, 6379


@dataclass(frozen=True)
class Servers:
    """Several servers of one Redis. `sentinel_name` is what Sentinel calls the primary; empty: a cluster.

    `options` are arguments of a client: user, password, number of the database, TLS.
    """

    nodes: list[tuple[str, int]]
    sentinel_name: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    sentinel_options: dict[str, Any] = field(default_factory=dict)


def parse(url: str) -> Servers | None:
    """The servers of an address. None: it names one server, which the client itself understands. Raises ValueError."""
    scheme, _, _ = url.partition("://")
    transport, _, kind = scheme.partition("+")
    if scheme in ("redis", "rediss", "unix"):
        return None
    if transport not in ("redis", "rediss") or kind not in ("cluster", "sentinel"):
        raise ValueError("begin with redis://, redis+sentinel:// or redis+cluster://")
    try:
        parts = urlsplit(url)
    except ValueError:  # its message may have a part of the password
        raise ValueError("write the characters []/?#@: of a password as % codes") from None
    credentials, _, hosts = parts.netloc.rpartition("@")
    user, _, password = credentials.partition(":")
    options: dict[str, Any] = {"username": unquote(user) or None, "password": unquote(password) or None}
    if transport == "rediss":
        options["ssl"] = True
    nodes = [_parse_host(host, SENTINEL_PORT if kind == "sentinel" else PORT) for host in hosts.split(",")]
    path = [part for part in parts.path.split("/") if part]
    if kind == "cluster":
        if path not in ([], ["0"]):
            raise ValueError("a cluster has no numbered databases")
        return Servers(nodes, options=options)
    if not 1 <= len(path) <= 2 or not all(part.isdecimal() for part in path[1:]):
        raise ValueError("write redis+sentinel://host:26379,host:26379/NAME/0, with the name that Sentinel knows")
    options["db"] = int(path[1]) if path[1:] else 0
    sentinel_options: dict[str, Any] = {"ssl": True} if transport == "rediss" else {}
    if given := parse_qs(parts.query).get("sentinel_password"):
        sentinel_options["password"] = given[0]
    return Servers(nodes, unquote(path[0]), options, sentinel_options)


def _parse_host(text: str, port: int) -> tuple[str, int]:
    try:
        parts = urlsplit(f"//{text}")
        if not parts.hostname:
            raise ValueError("a host is missing")
        return parts.hostname, parts.port or port
    except ValueError:  # its words, and the host itself, may be a part of a password
        raise ValueError("a host or a port is wrong; in a password, write / # ? @ as %2F %23 %3F %40") from None
