"""Limits: who may ask how often, counted exactly by django-ratelimit over a shared store."""

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest
from django_ratelimit.core import _split_rate, get_usage
from redis.exceptions import RedisError

from docsite.core.http.errors import TooMany, Unavailable

_ANY_REQUEST = HttpRequest()  # get_usage wants one; our keys and rates do not come from it


@dataclass(frozen=True)
class Limit:
    """A named limit. `rate` names the setting that holds number and window."""

    name: str
    rate: str
    fail_open: bool = False

    def window(self) -> tuple[int, int]:
        """Number of requests, and seconds they are counted over."""
        count, seconds = _split_rate(getattr(settings.ENV, self.rate))
        return count, seconds


Charge = tuple[Limit, str]  # a limit, and the key that a request counts against it under


@dataclass(frozen=True)
class Usage:
    """What is left of a limit after this request."""

    limit: Limit
    remaining: int
    reset: int


def spend(*charges: Charge) -> list[Usage]:
    """Count one request against each (limit, key) in order; blocking, so call it in a worker thread.

    Raises `TooMany` at the first limit that is used up, before the next one is
    charged, and `Unavailable` when the store is down and the limit guards money.
    """
    usages = []
    for limit, key in charges:
        count, _ = limit.window()
        usage = _usage(limit, key, increment=True)
        if usage is None:
            if not limit.fail_open:
                raise Unavailable("The limit store does not answer. Try again shortly.")
            usage = _count_here(limit, key)
        usages.append(Usage(limit, max(0, count - usage["count"]), max(1, usage["time_left"])))
        if usage["should_limit"]:
            refusal = TooMany(usage["time_left"])
            refusal.headers = {**refusal.headers, **headers(usages)}
            raise refusal
    return usages


def peek(*charges: Charge) -> list[Usage]:
    """What is left of each limit, counting nothing and refusing nobody; blocking, like `spend`."""
    usages = [(limit, _usage(limit, key, increment=False)) for limit, key in charges]
    return [
        Usage(limit, max(0, limit.window()[0] - usage["count"]), max(1, usage["time_left"]))
        for limit, usage in usages
        if usage is not None
    ]


def _usage(limit: Limit, key: str, *, increment: bool) -> dict[str, Any] | None:
    """django-ratelimit's count of a key; None when the store is down."""
    try:
        usage: dict[str, Any] = get_usage(
            _ANY_REQUEST, group=limit.name, key=lambda *_: key, rate=limit.window(), increment=increment
        )
    except Exception as failure:  # each store has its own family of connection errors
        if not is_store_failure(failure):
            raise
        return None
    return usage if usage["limit"] else None


_here: Counter[tuple[str, str, int]] = Counter()


def _count_here(limit: Limit, key: str) -> dict[str, Any]:
    """Usage as this process alone knows it, for limits that let requests through while the store is down."""
    count, seconds = limit.window()
    window = int(time.time()) // seconds
    if len(_here) > 10_000:
        _here.clear()
    _here[limit.name, key, window] += 1
    used = _here[limit.name, key, window]
    return {"count": used, "should_limit": used > count, "time_left": (window + 1) * seconds - int(time.time())}


def is_store_failure(failure: Exception) -> bool:
    """Whether an exception means that the counters cannot be reached."""
    return isinstance(failure, (OperationalError, InterfaceError, RedisError, OSError))


def headers(usages: Sequence[Usage]) -> dict[str, str]:
    """`RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers) for the limits that applied."""
    if not usages:
        return {}
    policies = []
    states = []
    for use in usages:
        count, seconds = use.limit.window()
        policies.append(f'"{use.limit.name}";q={count};w={seconds}')
        states.append(f'"{use.limit.name}";r={use.remaining};t={use.reset}')
    return {"RateLimit-Policy": ", ".join(policies), "RateLimit": ", ".join(states)}
