"""The models that rest after failures, shared by the processes of a service in Redis.

answer:rest:HASH   exists while the model rests, or while one request of all processes tries it
"""

import asyncio
import hashlib
from collections.abc import Awaitable
from typing import TypeVar

from django.conf import settings

from assistant.running_answers import redis_client
from assistant.running_answers.redis_client import REDIS_FAILURES, report_failure
from assistant.upstream import breaker

Value = TypeVar("Value")

SECONDS = 0.5  # that a question waits for Redis


class _RedisRests:
    """`assistant.upstream.breaker.SharedRests` in Redis."""

    async def is_resting(self, model: str) -> bool | None:
        found = await _attempt(redis_client.get().exists(_key(model)))
        return None if found is None else bool(found)

    async def begin(self, model: str, seconds: float) -> bool | None:
        return await _attempt(_begin(model, seconds))

    async def end(self, model: str) -> None:
        await _attempt(redis_client.get().delete(_key(model)))


def share_rests_in_redis() -> None:
    """Share them from now on, if Redis is configured."""
    if settings.ENV.redis_url:
        breaker.use_shared_rests(_RedisRests())


async def _begin(model: str, seconds: float) -> bool:
    return bool(await redis_client.get().set(_key(model), "1", nx=True, px=int(seconds * 1_000)))


async def _attempt(step: Awaitable[Value]) -> Value | None:
    try:
        async with asyncio.timeout(SECONDS):
            return await step
    except (*REDIS_FAILURES, TimeoutError) as failure:  # each process then decides alone
        report_failure(failure)
        return None


def _key(model: str) -> str:
    return f"answer:rest:{hashlib.sha256(model.encode()).hexdigest()}"
