"""The address of a client. Forwarding headers count only if they come from a proxy in `TRUSTED_PROXIES`."""

import functools
import ipaddress
import socket
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_MAX_CACHED = 200  # characters of a header; one request asks several times, but clients can send many long values


@functools.lru_cache
def _trusted(proxies: tuple[str, ...]) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    return tuple(ipaddress.ip_network(proxy, strict=False) for proxy in proxies)


def parse_address(text: str) -> Address | None:
    """Parse an IP address. IPv4 inside IPv6 becomes IPv4. None if the text is no address."""
    text = text.strip().strip("[]")
    try:  # five times as fast as the parser of `ipaddress`
        if ":" not in text:
            return ipaddress.IPv4Address(socket.inet_pton(socket.AF_INET, text))
        address = ipaddress.IPv6Address(socket.inet_pton(socket.AF_INET6, text.partition("%")[0]))  # no zone
    except (OSError, ValueError):
        return None
    return address.ipv4_mapped or address


def is_trusted(peer: Address | None) -> bool:
    """Whether the peer is a trusted proxy."""
    return _is_among(peer, settings.ENV.trusted_proxies)


def _is_among(peer: Address | None, proxies: tuple[str, ...]) -> bool:
    return peer is not None and any(peer in network for network in _trusted(proxies))


def resolve(peer: str, forwarded_for: str) -> Address:
    """The address of the client: the peer, or behind trusted proxies the last hop that is not one of them.

    `forwarded_for` is the value of `X-Forwarded-For`, read from the right.
    """
    find = _find_client if len(forwarded_for) <= _MAX_CACHED else _find_client.__wrapped__
    return find(peer, forwarded_for, settings.ENV.trusted_proxies)


@functools.lru_cache(maxsize=1_000)
def _find_client(peer: str, forwarded_for: str, proxies: tuple[str, ...]) -> Address:
    address = parse_address(peer)
    if not _is_among(address, proxies):
        return address or ipaddress.IPv4Address(0)
    for hop in reversed(forwarded_for.split(",")):
        client = parse_address(hop)
        if client is None:
            break
        address = client
        if not _is_among(client, proxies):
            break
    return address or ipaddress.IPv4Address(0)


def scheme(scope: Mapping[str, Any]) -> str:
    """`http` or `https` as the client sees it: from a trusted proxy's header, else from the connection."""
    peer = (scope.get("client") or ("",))[0]
    forwarded = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-proto"), "")
    own: str = scope.get("scheme", "http")
    return forwarded if forwarded in ("http", "https") and is_trusted(parse_address(peer)) else own


def client_ip(request: HttpRequest) -> Address:
    """The address of the client that sent this request."""
    return resolve(request.META.get("REMOTE_ADDR", ""), request.META.get("HTTP_X_FORWARDED_FOR", ""))


def network_of(address: Address) -> str:
    """The unit of limits and of visitor hashes: an IPv4 address, or the /64 network that one IPv6 client owns."""
    if isinstance(address, ipaddress.IPv6Address):
        return socket.inet_ntop(socket.AF_INET6, address.packed[:8] + bytes(8))
    return socket.inet_ntop(socket.AF_INET, address.packed)
