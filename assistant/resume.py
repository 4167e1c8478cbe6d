"""Answers that readers come back to: in this process from memory, in another one from Redis.

With `REDIS_URL` set, a resumable answer is copied to a Redis stream while it
runs. A process that does not have it follows the stream, and tells the one that
has it, over a channel, that somebody reads or wants it stopped.

    answer:ID          stream; an entry is a batch of chunks, the last one says `end`
    answer:ID:facts    whose it is; kept alive by the process that makes it
    answer:chat:HASH   id of the latest answer of a chat
    answers            channel: `read ID`, `stop ID`
"""

import asyncio
import hashlib
import json
import logging
import time
from collections.abc import AsyncGenerator
from dataclasses import asdict, dataclass
from typing import Any
from weakref import WeakKeyDictionary

from django.conf import settings
from redis.asyncio import Redis
from redis.exceptions import RedisError

from assistant.answering import SORRY
from assistant.live import Asker, Live, answers
from assistant.threads import shares_chat
from assistant.wire import compact
from docsite.db import in_db

logger = logging.getLogger(__name__)

BATCH_SECONDS = 0.05
BEAT_SECONDS = 2.0  # how often a living answer, or a reader elsewhere, says so
DEAD_SECONDS = 10  # without a beat
CHANNEL = "answers"

_clients: "WeakKeyDictionary[asyncio.AbstractEventLoop, Redis]" = WeakKeyDictionary()
_tasks: set[asyncio.Task[None]] = set()
_listening: "WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Task[None]]" = WeakKeyDictionary()


@dataclass(frozen=True)
class Remote:
    """An answer that another process makes. Reads like `assistant.live.Live`."""

    message_id: str
    thread_id: str
    asker: Asker

    async def read(self, after: int = 0) -> AsyncGenerator[str | None, None]:
        """Yield the chunks from a position on, up to the end; None whenever there was silence for a while."""
        try:
            async for chunk in self._follow(after):
                yield chunk
        except (RedisError, OSError):
            logger.exception("Answer %s can no longer be followed.", self.message_id)
            yield _BROKEN

    async def _follow(self, after: int) -> AsyncGenerator[str | None, None]:
        redis, key = _redis(), _key(self.message_id)
        position, last = 0, "0"
        beat, spoke = 0.0, time.monotonic()
        while True:
            now = time.monotonic()
            if now - beat > BEAT_SECONDS:
                beat = now
                await redis.publish(CHANNEL, f"read {self.message_id}")
            found = await redis.xread({key: last}, count=100, block=500)
            for entry_id, entry in found[0][1] if found else ():
                last, spoke = entry_id, now
                for chunk in entry["chunks"].split("\n") if entry["chunks"] else ():
                    position += 1
                    if position > after:
                        yield chunk
                if entry["end"] == "1":
                    await redis.delete(_chat_key(self.asker))
                    return
            if found:
                continue
            if not await redis.exists(f"{key}:facts"):
                yield _BROKEN  # its process died
                return
            if now - spoke > settings.ENV.keep_alive_seconds:
                spoke = now
                yield None

    def stop(self) -> None:
        """Ask the other process to end the answer."""
        _keep(asyncio.create_task(_say(f"stop {self.message_id}")))


_BROKEN = compact({"type": "error", "errorText": SORRY})


async def find_chat(asker: Asker) -> Live | Remote | None:
    """The answer of a chat that was asked from the same origin and address and is not yet read to its end.

    None also when another fp used the same chat id: nobody could tell whose answer it is.
    """
    if not asker.chat_id:
        return None
    found = answers.of_chat(asker) or await _remote_chat(asker)
    if found is None or await in_db(shares_chat)(asker.project, asker.chat_id, found.asker.fp):
        return None
    return found


async def find_message(asker: Asker, thread_id: str, message_id: str) -> Live | Remote | None:
    """A reader's answer by its id, running or just ended."""
    found = answers.get(message_id) or await _remote(message_id)
    if found is None or found.thread_id != thread_id:
        return None
    return found if (found.asker.project, found.asker.fp) == (asker.project, asker.fp) else None


def share(live: Live) -> None:
    """Let other processes follow a resumable answer, where there is a Redis."""
    if not settings.ENV.redis_url:
        return
    loop = asyncio.get_running_loop()
    if loop not in _listening or _listening[loop].done():
        _listening[loop] = asyncio.create_task(_listen())
    _keep(asyncio.create_task(_copy(live)))


async def _copy(live: Live) -> None:
    """Copy an answer's log, batch by batch. Without Redis it goes on; only nobody elsewhere can resume it."""
    redis, key = _redis(), _key(live.message_id)
    facts = json.dumps({"thread_id": live.thread_id, "asker": asdict(live.asker)})
    kept = int(live.patience.grace) + 1
    copied, beat, ended = 0, 0.0, False
    try:
        while not ended:
            await live.news(copied, BEAT_SECONDS)
            if not live.ended:
                await asyncio.sleep(BATCH_SECONDS)
            ended = live.ended
            batch = live.log[copied:]
            copied += len(batch)
            now = time.monotonic()
            async with redis.pipeline(transaction=True) as pipe:
                if batch or ended:
                    pipe.xadd(key, {"chunks": "\n".join(batch), "end": int(ended)})
                if ended:
                    pipe.expire(f"{key}:facts", kept).expire(key, kept)
                    if live.delivered:
                        pipe.delete(_chat_key(live.asker))
                elif now - beat > BEAT_SECONDS:
                    beat = now
                    pipe.set(f"{key}:facts", facts, ex=DEAD_SECONDS).expire(key, DEAD_SECONDS + kept)
                    if live.asker.chat_id:
                        pipe.set(_chat_key(live.asker), live.message_id, ex=DEAD_SECONDS + kept)
                await pipe.execute()
    except (RedisError, OSError):
        logger.exception("Answer %s cannot be resumed from other processes.", live.message_id)


async def _listen() -> None:
    """Hear what other processes want of the answers here."""
    while True:
        try:
            async with _redis().pubsub() as channel:
                await channel.subscribe(CHANNEL)
                while True:
                    heard = await channel.get_message(ignore_subscribe_messages=True, timeout=1.0)
                    what, _, message_id = str(heard["data"]).partition(" ") if heard else ("", "", "")
                    live = answers.get(message_id)
                    if live and what == "read":
                        live.hold()
                    elif live and what == "stop":
                        live.stop()
        except (RedisError, OSError):
            logger.warning("Redis does not answer; answers here cannot be resumed from other processes.")
            await asyncio.sleep(1)


async def _say(message: str) -> None:
    try:
        await _redis().publish(CHANNEL, message)
    except (RedisError, OSError):
        logger.exception("Another process could not be told.")


async def _remote(message_id: str) -> Remote | None:
    if not settings.ENV.redis_url:
        return None
    try:
        facts = await _redis().get(f"{_key(message_id)}:facts")
    except (RedisError, OSError):
        logger.exception("Redis does not answer.")
        return None
    if facts is None:
        return None
    known = json.loads(facts)
    return Remote(message_id, known["thread_id"], Asker(**known["asker"]))


async def _remote_chat(asker: Asker) -> Remote | None:
    if not settings.ENV.redis_url:
        return None
    try:
        message_id = await _redis().get(_chat_key(asker))
    except (RedisError, OSError):
        logger.exception("Redis does not answer.")
        return None
    return await _remote(message_id) if message_id else None


def _key(message_id: str) -> str:
    return f"answer:{message_id}"


def _chat_key(asker: Asker) -> str:
    return "answer:chat:" + hashlib.sha256(compact(asker.chat).encode()).hexdigest()


def _redis() -> Any:  # its types name every shape that some option would give
    loop = asyncio.get_running_loop()
    if loop not in _clients:
        _clients[loop] = Redis.from_url(
            settings.ENV.redis_url, decode_responses=True, socket_connect_timeout=1, socket_timeout=5
        )
    return _clients[loop]


def _keep(task: "asyncio.Task[None]") -> None:
    """Hold a task until it is done; the event loop itself does not."""
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
