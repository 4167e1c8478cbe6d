"""Connect to public hosts only: a name is resolved once, and the connection goes to the address that was checked."""

import ipaddress
import socket
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from ssl import SSLContext
from typing import Any

import httpcore

from search.sources.web.private import PrivateHosts

CONNECT_SECONDS = 10.0
Resolver = Callable[[str, int], Iterable[str]]  # the addresses of a host and port
_Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_GLOBAL_UNICAST = ipaddress.IPv6Network("2000::/3")  # RFC 4291; no other block of IPv6 is given out
_TUNNELS = (ipaddress.IPv6Network("2001::/32"), ipaddress.IPv6Network("2002::/16"))  # Teredo and 6to4 hide another
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052: the last 32 bits are an IPv4 address
_RELAYS = ipaddress.IPv4Network("192.88.99.0/24")  # RFC 7526

_until: ContextVar[float] = ContextVar("_until")  # when the request of this thread has to be over, monotonic


class NotPublic(Exception):
    """A host is at an address that is not public. `address` is as it was resolved."""

    def __init__(self, host: str, address: str) -> None:
        super().__init__(f"{host} is at {address}")
        self.address = address


class UnknownHost(Exception):
    """A host name has no address."""


@contextmanager
def within(seconds: float) -> Iterator[float]:
    """Set the time by which all traffic inside must end; gives that time (monotonic)."""
    token = _until.set(time.monotonic() + seconds)
    try:
        yield _until.get()
    finally:
        _until.reset(token)


def resolve(host: str, port: int) -> list[str]:
    """The addresses of a host as the system knows them. Odd spellings, such as 2130706433, come out as addresses."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def is_public(address: _Address) -> bool:
    """Whether an address is reachable from anywhere, and so in no private network."""
    if isinstance(address, ipaddress.IPv4Address):
        return address.is_global and not (address.is_multicast or address.is_reserved or address in _RELAYS)
    if inner := _inner(address):
        return is_public(inner)
    return address in _GLOBAL_UNICAST and address.is_global and not any(address in tunnel for tunnel in _TUNNELS)


def _inner(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that a system or its gateway makes of an IPv6 one."""
    if address in _NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped


class GuardedBackend(httpcore.NetworkBackend):
    """An httpcore network backend that connects to allowed hosts only and keeps to the time of `within`.

    `private` are hosts that are allowed although they are not public.
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
        """Connect to the first of a host's addresses that answers. Raises NotPublic when any of them is not public."""
        failure: Exception = httpcore.ConnectError("no address answers")
        for address in self._check(host, port):
            try:
                seconds = min(_left(httpcore.ConnectTimeout), CONNECT_SECONDS)
                return _TimedStream(self._sockets.connect_tcp(address, port, seconds, local_address, socket_options))
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as wrong:
                failure = wrong
        raise failure

    def _check(self, host: str, port: int) -> list[str]:
        """The addresses of a host, all of which are allowed. Raises NotPublic otherwise."""
        try:
            found = list(dict.fromkeys(self._resolver(host, port)))
        except (OSError, UnicodeError):  # what is no name at all fails as that
            raise UnknownHost from None
        for address in found:
            if not (is_public(ipaddress.ip_address(address)) or self._private.allows(host, port)):
                raise NotPublic(host, address)
        return found


class _TimedStream(httpcore.NetworkStream):
    """A stream whose steps all end with the request's time, so that a slow server gains none."""

    def __init__(self, stream: httpcore.NetworkStream) -> None:
        self._stream = stream

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        return self._stream.read(max_bytes, _left(httpcore.ReadTimeout))

    def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._stream.write(buffer, _left(httpcore.WriteTimeout))

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self, ssl_context: SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.NetworkStream:
        return _TimedStream(self._stream.start_tls(ssl_context, server_hostname, _left(httpcore.ConnectTimeout)))

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


def _left(error: type[httpcore.TimeoutException]) -> float:
    """Seconds that the request still has. Raises the error when they are over."""
    seconds = _until.get() - time.monotonic()
    if seconds <= 0:
        raise error("the time is over")
    return seconds
