"""Rate limits: 429 with `Retry-After`. django-ratelimit counts in a shared store. Each app defines its limits."""

import functools
import logging
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django_ratelimit.core import get_usage

from docsite.core import availability, context
from docsite.core.http import limit_use
from docsite.core.http.errors import TooMany, Unavailable, is_store_failure

logger = logging.getLogger(__name__)

SLOWED_SHARE = 0.2  # of a limit; requests in it wait
SLOW_DOWN_SECONDS = 1.0  # at most
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400}

all_limits: dict[str, "Limit"] = {}  # by name


@functools.cache
def _parse_rate(rate: str) -> tuple[int, int]:
    """Requests and seconds of a rate such as "100/h" or "5/10m", whose form the setting has checked."""
    count, _, window = rate.partition("/")
    return int(count), int(window[:-1] or 1) * _SECONDS[window[-1]]


@dataclass(frozen=True)
class Limit:
    """A named limit. `rate` is such as "100/h", or the name of the setting that says so; `label` is for people.

    `fail_open`: while the store is down, each process counts for itself. With other
    limits requests are refused then, since each of them may cost money.
    `slows_down`: requests wait a little before the limit is reached (see `compute_delay`).
    `by_organization`: it counts the requests of an organization, by its primary key.
    """

    name: str
    rate: str
    label: str = ""  # empty: the beginning of the setting's description
    fail_open: bool = False
    slows_down: bool = False
    by_organization: bool = False

    def __post_init__(self) -> None:
        all_limits[self.name] = self

    def window(self) -> tuple[int, int]:
        """How many requests are allowed, and in how many seconds."""
        return _parse_rate(self.rate if self.label else getattr(settings.ENV, self.rate))


LimitCharge = tuple[Limit, str]  # a limit, and whose requests it counts, such as an address


@dataclass(frozen=True)
class Usage:
    """The state of a limit after a request: requests left, seconds until the window ends."""

    limit: Limit
    remaining: int
    reset: int


def spend(*charges: LimitCharge) -> list[Usage]:
    """Count one request against each charge, in order. It blocks: call it in a worker thread.

    Raises `TooMany` at the first limit that is used up, before it counts against the
    next one. Raises `Unavailable` when the store is down and the limit does not fail open.
    """
    usages = []
    organization = next((int(key) for limit, key in charges if limit.by_organization), limit_use.SERVICE)
    for limit, key in charges:
        count, _ = limit.window()
        usage = _usage(limit, key, increment=True) if _may_ask_store(limit) else None
        if usage is None:
            if not limit.fail_open:
                raise Unavailable("The limit store does not answer. Try again shortly.")
            usage = _count_locally(limit, key)
        usages.append(Usage(limit, max(0, count - usage["count"]), max(1, usage["time_left"])))
        limit_use.note(limit.name, organization, min(count, usage["count"]), refused=usage["should_limit"])
        if usage["should_limit"]:
            refusal = TooMany(usage["time_left"])
            refusal.headers = {**refusal.headers, **headers(usages)}
            raise refusal
    return usages


def compute_delay(usages: Sequence[Usage]) -> float:
    """Seconds that a request should wait: a client gets slower over the last part of a limit, before it is refused.

    The wait grows evenly, up to `SLOW_DOWN_SECONDS` for the last request.
    """
    left = [usage.remaining / usage.limit.window()[0] for usage in usages if usage.limit.slows_down]
    slowness = 1 - min([*left, SLOWED_SHARE]) / SLOWED_SHARE
    return slowness * SLOW_DOWN_SECONDS


def peek(*charges: LimitCharge) -> list[Usage]:
    """The state of each limit, without counting or refusing. It blocks, as `spend` does."""
    usages = [(limit, _usage(limit, key, increment=False)) for limit, key in charges]
    return [
        Usage(limit, max(0, limit.window()[0] - usage["count"]), max(1, usage["time_left"]))
        for limit, usage in usages
        if usage is not None
    ]


def _may_ask_store(limit: Limit) -> bool:
    """Whether to ask the store. A database that hangs would cost seconds each request that can do without.

    It may claim an attempt: then ask.
    """
    can_do_without = limit.fail_open and context.allows_stale.get() and not settings.ENV.redis_url
    return not can_do_without or availability.database.claim_attempt()


def _usage(limit: Limit, key: str, *, increment: bool) -> dict[str, Any] | None:
    """The count of a key as django-ratelimit returns it; None when the store is down."""
    try:
        usage: dict[str, Any] = get_usage(  # it hands the request to these two functions, which need none
            None, group=limit.name, key=lambda *_: key, rate=lambda *_: limit.window(), increment=increment
        )
    except Exception as failure:  # each store has its own connection errors
        if not is_store_failure(failure):
            raise
        logger.warning("The store of the limits does not answer.", exc_info=failure)
        return None
    if settings.ENV.redis_url:
        availability.redis.report_success()
    return usage if usage["limit"] else None


_local_counts: Counter[tuple[str, str, int]] = Counter()


def _count_locally(limit: Limit, key: str) -> dict[str, Any]:
    """The count of this process alone, for limits that fail open."""
    count, seconds = limit.window()
    window = int(time.time()) // seconds
    if len(_local_counts) > 10_000:
        _local_counts.clear()
    _local_counts[limit.name, key, window] += 1
    used = _local_counts[limit.name, key, window]
    return {"count": used, "should_limit": used > count, "time_left": (window + 1) * seconds - int(time.time())}


def headers(usages: Sequence[Usage]) -> dict[str, str]:
    """`RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers) for the limits that applied."""
    if not usages:
        return {}
    policies = []
    states = []
    for usage in usages:
        count, seconds = usage.limit.window()
        policies.append(f'"{usage.limit.name}";q={count};w={seconds}')
        states.append(f'"{usage.limit.name}";r={usage.remaining};t={usage.reset}')
    return {"RateLimit-Policy": ", ".join(policies), "RateLimit": ", ".join(states)}
