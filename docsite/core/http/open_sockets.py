"""The open sockets of this process, by client address."""

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from django.conf import settings
from django.http.request import split_domain_port, validate_host

from docsite.core.http import client_address

_open: Counter[str] = Counter()  # by network (see `network_of`)


@contextmanager
def count_socket(network: str) -> Iterator[bool]:
    """Count a socket while the block runs. The value says whether its address has too many."""
    _open[network] += 1
    try:
        yield _open[network] > settings.ENV.max_running_answers_ip
    finally:
        _open[network] -= 1
        if not _open[network]:
            del _open[network]


def count_all() -> int:
    """How many are open."""
    return _open.total()


def client_network(scope: Mapping[str, Any]) -> tuple[client_address.Address, str]:
    """The address of the client of a socket, and the unit that its limits count."""
    address = client_address.resolve((scope.get("client") or ("",))[0], client_address.forwarded_for(scope))
    return address, client_address.network_of(address)


def own_origin(scope: Mapping[str, Any]) -> str:
    """The origin of this service, as the client of a socket sees it."""
    return f"{client_address.scheme(scope).replace('ws', 'http')}://{header(scope, b'host').lower()}"


def has_valid_host(scope: Mapping[str, Any]) -> bool:
    """Whether a socket is opened at a host name of this service."""
    return validate_host(split_domain_port(header(scope, b"host").lower())[0], settings.ALLOWED_HOSTS)


def header(scope: Mapping[str, Any], name: bytes) -> str:
    """A header of a socket; empty if it is missing."""
    return next((value.decode("latin-1") for key, value in scope["headers"] if key == name), "")
