"""Charges CPU time to the client address whose requests use it.

CPU time is measured in the threads of the database and of large bodies, where requests spend nearly all of it.
Each process adds it up for each address. An address pays at its next request, in whole seconds, so most
requests need no query for this.
"""

import time
from collections import OrderedDict
from dataclasses import dataclass

from docsite.core import context
from docsite.core.http.errors import TooMany
from docsite.core.http.ratelimit import Limit, spend

CPU_IP = Limit("cpu-ip", "limit_cpu_ip", fail_open=True)  # its unit is a second of CPU time
_MAX_ACCOUNTS = 10_000


@dataclass
class _Account:
    """What an address has used in this process and not paid yet, in seconds."""

    seconds: float = 0
    refused_until: float = 0  # of the monotonic clock

    def add(self, seconds: float) -> None:
        self.seconds += seconds


_accounts: "OrderedDict[str, _Account]" = OrderedDict()  # by network (see `network_of`)


def measure(network: str) -> None:
    """Charge what the running task and the tasks that it starts will use to this network. Call it in that task."""
    account = _accounts.setdefault(network, _Account())
    _accounts.move_to_end(network)
    if len(_accounts) > _MAX_ACCOUNTS:
        _accounts.popitem(last=False)
    context.cpu_meter.set(account.add)


def charge(network: str) -> None:
    """Count the seconds that this network has used. Raises `TooMany` if its limit is used up. It blocks."""
    account = _accounts.get(network)
    if account is None:
        return
    wait = account.refused_until - time.monotonic()
    if wait > 0:
        raise TooMany(int(wait) + 1)
    while account.seconds >= 1:
        account.seconds -= 1
        try:
            spend((CPU_IP, network))
        except TooMany as refusal:
            account.refused_until = time.monotonic() + int(refusal.headers["Retry-After"])
            account.seconds = 0
            raise
