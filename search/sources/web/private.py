"""Hosts that the owner allows to read although they are not public (`CRAWL_PRIVATE_HOSTS`)."""

import ipaddress
from collections.abc import Iterable
from contextlib import suppress
from typing import NamedTuple

_USUAL = frozenset({80, 443})
_Network = ipaddress.IPv4Network | ipaddress.IPv6Network


class _Entry(NamedTuple):
    """`name` is a host's where `network` is None."""

    name: str
    network: _Network | None
    ports: frozenset[int]


class PrivateHosts:
    """Hosts by name, address or network, each with a port or with the two of the web: `docs.internal:8080`.

    The host in the address counts, not the address that its name resolves to: a made-up name that resolves into a
    private network is not allowed.
    """

    def __init__(self, entries: Iterable[str]) -> None:
        self._entries = [_entry(text) for text in entries]

    def allows(self, host: str, port: int) -> bool:
        """Whether a host may be connected to, wherever it is."""
        return any(port in entry.ports and _is_meant(entry, bare(host)) for entry in self._entries)

    def names(self, host: str) -> bool:
        """Whether a site is on one of the hosts, on whichever port, with or without `www.`."""
        plain = bare(host)
        spellings = (plain, plain.removeprefix("www."), f"www.{plain}")
        return any(_is_meant(entry, spelling) for entry in self._entries for spelling in spellings)


def bare(host: str) -> str:
    """The normalized spelling of a host."""
    return host.lower().strip("[]").rstrip(".")


def _entry(text: str) -> _Entry:
    has_port = text.count(":") == 1 or "]:" in text  # else the colons are those of an IPv6 address
    host, _, port = text.rpartition(":") if has_port else (text, "", "")
    ports = frozenset({int(port)}) if has_port else _USUAL
    try:
        return _Entry("", ipaddress.ip_network(bare(host), strict=False), ports)
    except ValueError:
        return _Entry(bare(host), None, ports)


def _is_meant(entry: _Entry, host: str) -> bool:
    if entry.network is None:
        return host == entry.name
    with suppress(ValueError):
        address = ipaddress.ip_address(host)
        inner = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
        return (inner or address) in entry.network
    return False
