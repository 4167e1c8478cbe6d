"""The address of a client. Forwarding headers count only if they come from a proxy in `TRUSTED_PROXIES`.

A proxy may forward what is no address, such as `unknown`. Then nobody knows which reader asks: the request has the
limits of the proxy, which no header can escape, and its view does not count, since all would be one visitor.
"""

import functools
import ipaddress
import logging
import re
import socket
import time
from collections.abc import Mapping
from typing import Any

from django.conf import settings
from django.http import HttpRequest

logger = logging.getLogger(__name__)

Address = ipaddress.IPv4Address | ipaddress.IPv6Address
_MAX_CACHED = 200  # characters of a header; one request asks several times, but clients can send many long values
_WARNING_SECONDS = 60.0  # between two lines in the log
_RECENT_SECONDS = 3600.0
_PORT = re.compile(r":(?:\d{1,5}|_[\w.-]*)\Z", re.ASCII)
_unreadable_at = _warned_at = float("-inf")  # on the clock of `time.monotonic`


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


def parse_hop(text: str) -> Address | None:
    """Parse an address as proxies and logs write it, also in quotes or with a port (RFC 7239 section 6)."""
    text = text.strip().strip('"').strip()
    if text.startswith("[") or text.count(":") == 1:
        text = _PORT.sub("", text)
    return parse_address(text)


def is_trusted(peer: Address | None) -> bool:
    """Whether the peer is a trusted proxy."""
    return _is_among(peer, settings.ENV.trusted_proxies)


def _is_among(peer: Address | None, proxies: tuple[str, ...]) -> bool:
    return peer is not None and any(peer in network for network in _trusted(proxies))


def resolve(peer: str, forwarded_for: str) -> Address:
    """The address that a client's limits count for: the client's, or the proxy's if the client's cannot be read."""
    return find_client(peer, forwarded_for) or parse_address(peer) or ipaddress.IPv4Address(0)


def find_client(peer: str, forwarded_for: str) -> Address | None:
    """The address of the client: the peer, or behind trusted proxies the last hop that is not one of them.

    `forwarded_for` is the value of `X-Forwarded-For`, read from the right. None, and a warning in the log, if that hop
    is no address. What stands before it may be written by the client.
    """
    find = _find_client if len(forwarded_for) <= _MAX_CACHED else _find_client.__wrapped__
    address = find(peer, forwarded_for, settings.ENV.trusted_proxies)
    if address is None:
        _warn(peer, forwarded_for)
    return address


@functools.lru_cache(maxsize=1_000)
def _find_client(peer: str, forwarded_for: str, proxies: tuple[str, ...]) -> Address | None:
    address = parse_address(peer)
    hops = [hop for hop in forwarded_for.split(",") if not hop.isspace() and hop]
    while hops and _is_among(address, proxies):
        address = parse_hop(hops.pop())
    return address


def _warn(peer: str, forwarded_for: str) -> None:
    """Log, without the address that it may hold, what cannot be read."""
    global _unreadable_at, _warned_at
    _unreadable_at = time.monotonic()
    if _unreadable_at - _warned_at >= _WARNING_SECONDS:
        _warned_at = _unreadable_at
        shape = re.sub(r"[^\W\d_]", "x", re.sub(r"\d", "0", forwarded_for[-80:]))
        logger.warning(
            "The address of a reader cannot be read: X-Forwarded-For from %s has the form %r. The views of such "
            "readers do not count, and they share the limits of the proxy. Run manage.py doctor --url ADDRESS.",
            peer,
            shape,
        )


def found_unreadable() -> bool:
    """Whether a request of the last hour, in this process, had a client address that could not be read."""
    return time.monotonic() - _unreadable_at < _RECENT_SECONDS


def forwarded_for(scope: Mapping[str, Any]) -> str:
    """The value of `X-Forwarded-For`. Some proxies add a line of their own after that of the client."""
    return ",".join(value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-for")


def scheme(scope: Mapping[str, Any]) -> str:
    """`http` or `https` as the client sees it: from a trusted proxy's header, else from the connection.

    Of a chain of proxies that each add what they saw, the first counts, as for Django.
    """
    peer = (scope.get("client") or ("",))[0]
    forwarded = next((value.decode("latin-1") for name, value in scope["headers"] if name == b"x-forwarded-proto"), "")
    forwarded = forwarded.partition(",")[0].strip().lower()
    own: str = scope.get("scheme", "http")
    return forwarded if forwarded in ("http", "https") and is_trusted(parse_address(peer)) else own


def client_ip(request: HttpRequest) -> Address:
    """The address whose limits the client of this request has (see `resolve`)."""
    return resolve(*_hops_of(request))


def reader_ip(request: HttpRequest) -> Address | None:
    """The address of the client that sent this request; None if it cannot be read."""
    return find_client(*_hops_of(request))


def _hops_of(request: HttpRequest) -> tuple[str, str]:
    return request.META.get("REMOTE_ADDR", ""), request.META.get("HTTP_X_FORWARDED_FOR", "")


def network_of(address: Address) -> str:
    """The unit of limits and of visitor hashes: an IPv4 address, or the /64 network that one IPv6 client owns."""
    if isinstance(address, ipaddress.IPv6Address):
        return socket.inet_ntop(socket.AF_INET6, address.packed[:8] + bytes(8))
    return socket.inet_ntop(socket.AF_INET, address.packed)
