"""The connection to Redis of each event loop."""

import asyncio
from typing import Any
from weakref import WeakKeyDictionary

from django.conf import settings
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import TimeoutError as RedisTimeoutError

from docsite.core import availability
from docsite.core.redis_servers import clients

REDIS_FAILURES = (*clients.ERRORS, OSError)

_clients: "WeakKeyDictionary[asyncio.AbstractEventLoop, Any]" = WeakKeyDictionary()


def get() -> Any:
    """The client of the running event loop."""
    loop = asyncio.get_running_loop()
    if loop not in _clients:
        _clients[loop] = clients.connect_loop(
            settings.ENV.redis_url,
            decode_responses=True,
            socket_connect_timeout=1,
            socket_timeout=5,
            retry=Retry(ExponentialBackoff(cap=0.2, base=0.02), 3),  # pooled connections may be closed already
            retry_on_error=[RedisConnectionError, RedisTimeoutError],
        )
    return _clients[loop]


def report_failure(failure: BaseException) -> None:
    """Note that Redis does not answer; the log gets one line for the whole outage.

    Meanwhile only readers who are connected to this process get the answers that it writes.
    """
    availability.redis.report_failure(type(failure).__name__)
