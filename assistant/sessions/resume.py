"""Answers that readers come back to: in this process from memory, in another one from Redis.

With `REDIS_URL` set, a resumable answer is copied to a Redis stream while it
runs. A process that does not have it follows the stream, and tells the one that
has it, over a channel, what its reader does.

    answer:ID          stream; an entry is a batch of chunks with the position of
                       its first one, so that what is sent twice counts once
    answer:ID:facts    whose it is; kept alive by the process that makes it
    answer:chat:HASH   id of the latest answer of a chat
    answers            channel: {"do": "read" | "stop", "id"}, {"do": "drop", "project", "fp", "thread"}
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
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.exceptions import RedisError
from redis.exceptions import TimeoutError as RedisTimeoutError

from assistant.answering.pipeline import SORRY
from assistant.conversations.chat_ids import is_chat_id_shared
from assistant.sessions.running import (
    Asker,
    Live,
    Taken,
    answers,
    surely,
)
from assistant.wire import compact
from docsite.core.db import in_db

logger = logging.getLogger(__name__)

BATCH_SECONDS = 0.05
BEAT_SECONDS = 2.0  # how often a living answer, or a reader elsewhere, says so
DEAD_SECONDS = 6  # without a beat
TOLD_SECONDS = 0.5  # that a question waits for Redis
TAKEN_SECONDS = 0.25  # until the last bytes of an answer have reached their reader, as a rule
CHANNEL = "answers"
AWAY = (RedisError, OSError)

_clients: "WeakKeyDictionary[asyncio.AbstractEventLoop, Redis]" = WeakKeyDictionary()
_tasks: set[asyncio.Task[None]] = set()
_taken: dict[str, Taken] = {}  # of answers elsewhere that were just read to their end here
_listening: "WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Task[None]]" = WeakKeyDictionary()


@dataclass(frozen=True)
class Remote:
    """An answer that another process makes. Reads like `assistant.sessions.running.Live`."""

    message_id: str
    thread_id: str
    asker: Asker
    resumable = True

    async def read(self, after: int = 0, taken: Taken = surely) -> AsyncGenerator[str | None, None]:
        """Yield the chunks from a position on, up to the end; None whenever there was silence for a while.

        A Redis that is away for a moment is waited for.
        """
        position, seen = 0, ""  # of the chunk that comes next, and the one before it
        alive = spoke = time.monotonic()
        beat, last = 0.0, "0"
        while True:
            now = time.monotonic()
            try:
                if now - beat > BEAT_SECONDS:
                    beat = now
                    await _say({"do": "read", "id": self.message_id})
                entries, is_alive = await self._news(last)
            except AWAY:
                last = "0"  # it may come back without its memory, and be told everything anew
                entries, is_alive = [], False
                await asyncio.sleep(BATCH_SECONDS)
            for last, entry in entries:  # noqa: B007  # where the next reading begins
                start = int(entry["at"])
                for chunk in json.loads(entry["chunks"])[max(0, position - start) :] if start <= position else ():
                    position, seen = position + 1, chunk
                    if position > after:
                        yield chunk
                if entry["end"] == "1" and position >= start:
                    if position <= after:
                        yield seen  # the last chunk comes in any case
                    _taken[self.message_id] = taken
                    _keep(asyncio.create_task(_close_chat(self.asker, self.message_id, taken)))
                    return
            if entries or is_alive:
                alive = now
            if entries:
                spoke = now
            elif now - alive > DEAD_SECONDS:
                yield _BROKEN  # its process died
                return
            elif now - spoke > settings.ENV.keep_alive_seconds:
                spoke = now
                yield None

    async def _news(self, last: str) -> tuple[list[Any], bool]:
        """Entries after one, waiting a little for them, and whether the answer's process lives."""
        redis, key = _redis(), _key(self.message_id)
        found = await redis.xread({key: last}, count=100, block=500)
        return (found[0][1], True) if found else ([], bool(await redis.exists(f"{key}:facts")))

    def stop(self) -> None:
        """Ask the other process to end the answer."""
        _tell({"do": "stop", "id": self.message_id})


_BROKEN = compact({"type": "error", "errorText": SORRY})


async def find_chat(asker: Asker) -> Live | Remote | None:
    """The answer of a chat that was asked from the same origin and address and is not yet read to its end.

    None also when another fp used the same chat id: nobody could tell whose answer it is.
    """
    if not asker.chat_id or await in_db(is_chat_id_shared)(asker.project, asker.chat_id):
        return None
    return answers.of_chat(asker) or await _remote_chat(asker)


async def find_message(asker: Asker, thread_id: str, message_id: str) -> Live | Remote | None:
    """A reader's answer by its id, running or just ended."""
    found = answers.get(message_id) or await _remote(message_id)
    if found is None or found.thread_id != thread_id:
        return None
    return found if (found.asker.project, found.asker.fp) == (asker.project, asker.fp) else None


async def share(live: Live) -> None:
    """Let other processes follow a resumable answer, where there is a Redis. They know of it when this returns."""
    if not settings.ENV.redis_url:
        return
    loop = asyncio.get_running_loop()
    if loop not in _listening or _listening[loop].done():
        _listening[loop] = asyncio.create_task(_listen())
    try:
        async with asyncio.timeout(TOLD_SECONDS):
            await _announce(live)
    except (*AWAY, TimeoutError):
        logger.warning("Redis does not answer; %s may not be resumed elsewhere.", live.message_id)
    _keep(asyncio.create_task(_copy(live)))


async def drop(project: int, fp: str, thread_id: str) -> None:
    """End a conversation's running answers, wherever they are made, and keep nothing of them to be resumed."""
    answers.drop(project, fp, thread_id)
    if settings.ENV.redis_url:
        await _tried({"do": "drop", "project": project, "fp": fp, "thread": thread_id})


async def erase(message_ids: list[str]) -> None:
    """Take answers out of Redis."""
    if settings.ENV.redis_url and message_ids:
        keys = [key for message_id in message_ids for key in (_key(message_id), f"{_key(message_id)}:facts")]
        try:
            await _redis().delete(*keys)
        except AWAY:
            logger.exception("Redis does not answer; forgotten answers stay there for their grace period.")


async def _announce(live: Live) -> None:
    redis, key = _redis(), _key(live.message_id)
    facts = json.dumps({"thread_id": live.thread_id, "asker": asdict(live.asker)})
    async with redis.pipeline(transaction=True) as pipe:
        pipe.set(f"{key}:facts", facts, ex=DEAD_SECONDS)
        pipe.expire(key, DEAD_SECONDS + _kept(live))
        if live.asker.chat_id:
            pipe.set(_chat_key(live.asker), live.message_id, ex=DEAD_SECONDS + _kept(live))
        await pipe.execute()


async def _copy(live: Live) -> None:
    """Copy an answer's log, batch by batch; all of it anew when Redis was away, or lost its memory."""
    copied, entries, beat = 0, 0, time.monotonic()
    while True:
        await live.news(copied, BEAT_SECONDS)
        if not live.ended:
            await asyncio.sleep(BATCH_SECONDS)
        ended = live.ended
        batch = list(live.log.read(copied))
        try:
            if time.monotonic() - beat > BEAT_SECONDS:
                await _announce(live)
                beat = time.monotonic()
            kept = await _add(live, copied, batch, ended) if batch or ended else entries
        except AWAY:
            logger.warning("Redis does not answer; %s waits to be copied.", live.message_id)
            await asyncio.sleep(1)
            kept = -1
        if kept < entries + bool(batch or ended):
            copied, entries, beat = 0, 0, 0.0
            if ended and answers.get(live.message_id) is not live:
                return  # nobody may come back for it any more
            continue
        copied, entries = copied + len(batch), kept
        if ended:
            break
    if live.dropped:
        await erase([live.message_id])
    await _close_chat(live.asker, live.message_id, lambda: live.dropped or live.delivered)


async def _add(live: Live, at: int, batch: list[str], ended: bool) -> int:
    """Add an entry; returns how many there are now, 0 where Redis no longer knows whose they are."""
    redis, key = _redis(), _key(live.message_id)
    async with redis.pipeline(transaction=True) as pipe:
        pipe.xadd(key, {"at": at, "chunks": json.dumps(batch), "end": int(ended)})
        pipe.xlen(key)
        pipe.exists(f"{key}:facts")
        pipe.expire(key, DEAD_SECONDS + _kept(live))
        if ended:
            pipe.expire(f"{key}:facts", _kept(live))
            pipe.expire(key, _kept(live))
        results = await pipe.execute()
    return int(results[1]) * int(results[2])


def _kept(live: Live) -> int:
    return int(live.patience.grace) + 1


async def _close_chat(asker: Asker, message_id: str, taken: Taken) -> None:
    """Forget that a chat has an answer to resume, once its end has reached a reader."""
    await asyncio.sleep(TAKEN_SECONDS)
    try:
        if asker.chat_id and taken() and await _redis().get(_chat_key(asker)) == message_id:
            await _redis().delete(_chat_key(asker))
    except AWAY:
        logger.warning("Redis does not answer.")
    finally:
        _taken.pop(message_id, None)


async def _listen() -> None:
    """Hear what other processes want of the answers here."""
    while True:
        try:
            async with _redis().pubsub() as channel:
                await channel.subscribe(CHANNEL)
                while True:
                    heard = await channel.get_message(ignore_subscribe_messages=True, timeout=1.0)
                    if heard:
                        _obey(json.loads(heard["data"]))
        except AWAY:
            logger.warning("Redis does not answer; what other processes say is not heard.")
        except Exception:  # the task boundary: one bad message must not end the listening
            logger.exception("A message of another process could not be read.")
        await asyncio.sleep(1)


def _obey(signal: dict[str, Any]) -> None:
    if signal["do"] == "drop":
        answers.drop(signal["project"], signal["fp"], signal["thread"])
    elif live := answers.get(signal["id"]):
        if signal["do"] == "read":
            live.hold()
        else:
            live.stop()


async def _say(signal: dict[str, Any]) -> None:
    await _redis().publish(CHANNEL, json.dumps(signal))


async def _tried(signal: dict[str, Any]) -> None:
    try:
        await _say(signal)
    except AWAY:
        logger.exception("Other processes could not be told.")


def _tell(signal: dict[str, Any]) -> None:
    _keep(asyncio.create_task(_tried(signal)))


async def _remote(message_id: str) -> Remote | None:
    facts = await _get(f"{_key(message_id)}:facts")
    if facts is None:
        return None
    known = json.loads(facts)
    return Remote(message_id, known["thread_id"], Asker(**known["asker"]))


async def _remote_chat(asker: Asker) -> Remote | None:
    message_id = await _get(_chat_key(asker))
    if message_id is None or answers.get(message_id):
        return None  # what is here and was not found is read already
    return None if message_id in _taken and _taken[message_id]() else await _remote(message_id)


async def _get(key: str) -> str | None:
    """A value, if there is a Redis and it knows one."""
    if not settings.ENV.redis_url:
        return None
    try:
        value: str | None = await _redis().get(key)
    except AWAY:
        logger.exception("Redis does not answer.")
        return None
    return value


def _key(message_id: str) -> str:
    return f"answer:{message_id}"


def _chat_key(asker: Asker) -> str:
    return "answer:chat:" + hashlib.sha256(compact(asker.chat).encode()).hexdigest()


def _redis() -> Any:  # its types name every shape that some option would give
    loop = asyncio.get_running_loop()
    if loop not in _clients:
        _clients[loop] = Redis.from_url(
            settings.ENV.redis_url,
            decode_responses=True,
            socket_connect_timeout=1,
            socket_timeout=5,
            retry=Retry(ExponentialBackoff(cap=0.2, base=0.02), 3),  # kept connections go stale
            retry_on_error=[RedisConnectionError, RedisTimeoutError],
        )
    return _clients[loop]


def _keep(task: "asyncio.Task[None]") -> None:
    """Hold a task until it is done; the event loop itself does not."""
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
