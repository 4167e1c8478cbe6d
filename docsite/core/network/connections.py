"""Connect to public hosts only. A name is resolved once; the connection goes to the address that was checked."""

import ipaddress
import socket
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from contextvars import ContextVar
from ssl import SSLContext
from typing import Any

import httpcore

from docsite.core import context
from docsite.core.network.private_hosts import PrivateHosts

CONNECT_SECONDS = 10.0
Resolver = Callable[[str, int], Iterable[str]]  # the addresses of a host and port
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")  # RFC 4291; no other IPv6 block is assigned
_TUNNELS = tuple(map(ipaddress.IPv6Network, ("2001::/32", "2002::/16")))  # Teredo and 6to4: with another address
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052: the last 32 bits are an IPv4 address
_RELAYS = ipaddress.IPv4Network("192.88.99.0/24")  # RFC 7526

_request_deadline: ContextVar[float] = ContextVar("_until")  # monotonic time when the request of this thread must end


class PrivateAddressError(Exception):
    """A host is at an address that is not public. `address` is the resolved address."""

    def __init__(self, host: str, address: str) -> None:
        super().__init__(f"{host} is at {address}")
        self.address = address


class UnknownHostError(Exception):
    """A host name has no address."""


def deadline(seconds: float) -> AbstractContextManager[float]:
    """Limit all traffic in the `with` block to so many seconds. Yields the end as monotonic time."""
    return context.bind(_request_deadline, time.monotonic() + seconds)


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host from the system's resolver. It also understands spellings such as 2130706433."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def is_public(address: _Address) -> bool:
    """Whether an address is on the public internet, not in a private network."""
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_global and not (address.is_multicast or address.is_reserved or address in _RELAYS)
    if embedded := _embedded_ipv4(address):
        return is_public(embedded)
    return address in _GLOBAL_UNICAST and address.is_global and not any(address in tunnel for tunnel in _TUNNELS)


def _embedded_ipv4(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address to which the system or a gateway translates an IPv6 address; None for other addresses."""
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped


class GuardedBackend(httpcore.NetworkBackend):
    """An httpcore network backend that connects only to allowed hosts and obeys `deadline`.

    `private` hosts are allowed although they are not public.
    """

    def __init__(self, private: PrivateHosts, resolver: Resolver) -> None:
        self._private = private
        self._resolver = resolver
        self._sockets = httpcore.SyncBackend()

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.NetworkStream:
        """Connect to the first address that answers. Raises PrivateAddressError if one of them is not allowed."""
        failure: Exception = httpcore.ConnectError("no address answers")
        for address in self._resolve_allowed(host, port):
            try:
                seconds = min(_seconds_left(httpcore.ConnectTimeout), CONNECT_SECONDS)
                return _TimedStream(self._sockets.connect_tcp(address, port, seconds, local_address, socket_options))
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as wrong:
                failure = wrong
        raise failure

    def _resolve_allowed(self, host: str, port: int) -> list[str]:
        """The addresses of a host. Raises PrivateAddressError unless all of them are allowed."""
        try:
            addresses = list(dict.fromkeys(self._resolver(host, port)))
        except (OSError, UnicodeError):  # a name that cannot be encoded
            raise UnknownHostError from None
        for address in addresses:
            if not (is_public(ipaddress.ip_address(address)) or self._private.allows(host, port)):
                raise PrivateAddressError(host, address)
        return addresses


class _TimedStream(httpcore.NetworkStream):
    """A stream whose reads and writes end at the request's deadline, however slowly the server sends."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _seconds_left(httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _seconds_left(httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _TimedStream(
            self._stream.start_tls(ssl_context, server_hostname, _seconds_left(httpcore.ConnectTimeout))
        )

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _seconds_left(error: type[httpcore.TimeoutException]) -> float:
    """The seconds until the request's deadline. Raises the error when it has passed."""
    seconds = _request_deadline.get() - time.monotonic()
    if seconds <= 0:
        raise error("the time is over")
    return seconds
