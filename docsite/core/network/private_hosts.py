"""Hosts that the operator allows although they are not public (`CRAWL_PRIVATE_HOSTS`, `WEBHOOK_PRIVATE_HOSTS`)."""

import ipaddress
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

_DEFAULT_PORTS = frozenset({80, 443})
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class _Entry(NamedTuple):
    """One allowed host: a `name`, or a `network` of addresses."""

    name: str
    network: _Network | None
    ports: frozenset[int]


class PrivateHosts:
    """Hosts by name, IP address or network: `docs.internal:8080`. Without a port, 80 and 443 are allowed.

    Only the host in the URL counts, not the IP address of its name. So nobody can invent a name that resolves into
    a private network and have it allowed.
    """

    def __init__(self, entries: Iterable[str]) -> None:
        self._entries = [_parse_entry(text) for text in entries]

    def allows(self, host: str, port: int) -> bool:
        """Whether connections to a host and port are allowed, even in a private network."""
        return any(port in entry.ports and _matches(entry, normalize_host(host)) for entry in self._entries)

    def includes_site(self, host: str) -> bool:
        """Whether a site is on one of the hosts, on any port, with or without `www.`."""
        normalized = normalize_host(host)
        spellings = (normalized, normalized.removeprefix("www."), f"www.{normalized}")
        return any(_matches(entry, spelling) for entry in self._entries for spelling in spellings)


def normalize_host(host: str) -> str:
    """The host in lower case, without brackets and without a dot at its end."""
    return host.lower().strip("[]").rstrip(".")


def _parse_entry(text: str) -> _Entry:
    has_port = text.count(":") == 1 or "]:" in text  # other colons belong to an IPv6 address
    host, _, port = text.rpartition(":") if has_port else (text, "", "")
    ports = frozenset({int(port)}) if has_port else _DEFAULT_PORTS
    try:
        return _Entry("", ipaddress.ip_network(normalize_host(host), strict=False), ports)
    except ValueError:
        return _Entry(normalize_host(host), None, ports)


def _matches(entry: _Entry, host: str) -> bool:
    if entry.network is None:
        return host == entry.name
    with suppress(ValueError):
        address = ipaddress.ip_address(host)
        inner = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
        return (inner or address) in entry.network
    return False
