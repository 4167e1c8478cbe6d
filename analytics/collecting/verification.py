"""Verify the address of an agent against the addresses that its operator publishes.

A user agent is easily forged. Operators publish the addresses of their agents as
JSON: `{"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}, {"ipv6Prefix": "2001:db8::/32"}]}`.
`manage.py agentaddresses` stores them. A view is marked when it is collected, since its
address is not stored. The mark changes no count.
"""

import bisect
import ipaddress
import json
import threading
import time
from collections.abc import Sequence
from typing import Any

from django.db import InterfaceError, OperationalError

from analytics.models import AgentAddresses, PageView
from docsite.core import availability
from docsite.core.http.client_address import Address
from docsite.core.logs import describe

CACHE_SECONDS = 60.0  # after which a process loads the addresses again
Verified = PageView.Verified


class Ranges:
    """The addresses of one agent, as sorted ranges that do not overlap."""

    def __init__(self, networks: Sequence[str]) -> None:
        self._ends: dict[int, list[int]] = {4: [], 6: []}
        self._starts: dict[int, list[int]] = {4: [], 6: []}
        parsed = [ipaddress.ip_network(network) for network in networks]
        for version in (4, 6):
            of_version: Any = [network for network in parsed if network.version == version]
            for network in ipaddress.collapse_addresses(of_version):
                self._starts[version].append(int(network[0]))
                self._ends[version].append(int(network[-1]))

    def __contains__(self, address: Address) -> bool:
        at = bisect.bisect_right(self._starts[address.version], int(address)) - 1
        return at >= 0 and int(address) <= self._ends[address.version][at]


_ranges: dict[str, Ranges] = {}  # of each agent, by its name in lower case
_read_at = float("-inf")
_lock = threading.Lock()


def is_fresh() -> bool:
    """Whether the address ranges that `verify` compares with were read from the database in the last minute."""
    return time.monotonic() - _read_at < CACHE_SECONDS


def load_if_stale() -> None:
    """Load the addresses for `verify`, unless they were loaded within the last minute.

    While the database is away the last ones stay. Raises OperationalError or InterfaceError if there are none yet.
    """
    global _ranges, _read_at
    was_read = _read_at > float("-inf")
    if is_fresh() or (was_read and not availability.database.claim_attempt()):
        return
    with _lock:
        if is_fresh():  # another thread has loaded them meanwhile
            return
        try:
            rows = list(AgentAddresses.objects.values_list("agent", "networks"))
        except (OperationalError, InterfaceError) as failure:
            if not was_read:
                raise
            availability.database.report_failure(describe(failure))
            return
        _ranges = {agent.lower(): Ranges(networks) for agent, networks in rows}
        _read_at = time.monotonic()


def verify(agent: str, address: Address) -> str:
    """Whether the address is one of the agent's: yes, no, or unknown when the operator publishes none.

    Needs no database query: call `load_if_stale` first, else every agent is unknown.
    """
    ranges = _ranges.get(agent.lower())
    if ranges is None:
        return Verified.UNKNOWN
    return Verified.YES if address in ranges else Verified.NO


def invalidate() -> None:
    """Load the addresses again at next use. Other processes follow within a minute."""
    global _read_at
    _read_at = float("-inf")


def parse(text: str) -> list[str]:
    """The CIDR ranges of an operator's JSON file. Raises ValueError with the reason.

    Takes `{"prefixes": [...]}` whose items have `ipv4Prefix` or `ipv6Prefix`, and a plain list of ranges.
    """
    try:
        parsed = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        raise ValueError("is not JSON") from None
    items = parsed.get("prefixes") if isinstance(parsed, dict) else parsed
    if not isinstance(items, list) or not items:
        raise ValueError('must hold a list "prefixes", which is not empty')
    networks = []
    for number, item in enumerate(items):
        value = (item.get("ipv4Prefix") or item.get("ipv6Prefix")) if isinstance(item, dict) else item
        try:
            network = ipaddress.ip_network(value if isinstance(value, str) else "", strict=False)
        except ValueError:
            raise ValueError(f"prefixes[{number}] is not a CIDR range") from None
        if network.prefixlen == 0:
            raise ValueError(f"prefixes[{number}] covers every address")
        networks.append(str(network))
    return networks
