"""Answers that readers come back to: from memory in this process, from Redis in another one.

With `REDIS_URL` set, a resumable answer is copied to a Redis stream while it
runs. A process that does not run the answer reads that stream. Over a channel it
sends signals (go on, stop) to the process that runs the answer. How long an answer
runs on without a reader is in `running`.

    answer:{ID}:events  stream; an entry is a batch of events with the position of
                       the first one: an event may be sent twice
    answer:{ID}:info   whose it is; its expiry is renewed by the process that runs it
    answer:chat:HASH   id of the latest answer of a chat
    answers:PROCESS    channel without messages, to which a process is subscribed while it lives
    answers            channel: {"do": "read" | "stop", "id"}, {"do": "discard", "project", "fp", "thread"}
"""

import asyncio
import hashlib
import json
import logging
import secrets
import time
from collections.abc import AsyncGenerator
from dataclasses import asdict, dataclass
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

from django.conf import settings

from assistant.answering.pipeline import SORRY
from assistant.answering.question import Asker
from assistant.conversations.chat_ids import is_chat_id_shared
from assistant.running_answers import redis_client, running
from assistant.running_answers.event_log import dump_events, load_events
from assistant.running_answers.redis_client import REDIS_FAILURES, report_failure
from assistant.running_answers.running import DeliveryCheck, RunningAnswer, assume_delivered, running_answers
from assistant.running_answers.waiting import Push
from assistant.wire.events import Event, Failure
from docsite.core import availability
from docsite.core.db import ANSWERS, in_db
from docsite.core.http.errors import Unavailable

logger = logging.getLogger(__name__)

BATCH_SECONDS = 0.05
HEARTBEAT_SECONDS = 2.0  # between two signs of life of a running answer, or of a subscriber in another process
DEAD_AFTER_SECONDS = 6  # without a sign of life
GONE_SECONDS = 1.5  # without a connection of the process to Redis, which ends with the process
ANNOUNCE_SECONDS = 0.5  # that a question waits for Redis
DELIVERY_SECONDS = 0.25  # in which the last bytes of an answer usually reach their reader
CHANNEL = "answers"

_listeners: "WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Task[None]]" = WeakKeyDictionary()
_tasks: set[asyncio.Task[None]] = set()
_delivery_checks: dict[str, DeliveryCheck] = {}  # of answers of other processes that have just ended here


@dataclass(frozen=True)
class RemoteAnswer:
    """An answer that runs in another process, with the interface of `RunningAnswer`."""

    message_id: str
    thread_id: str
    asker: Asker
    process: str  # its channel
    resumable = True

    async def subscribe(
        self, is_delivered: DeliveryCheck = assume_delivered, push: Push | None = None
    ) -> AsyncGenerator[Event | None, None]:
        """Yield all events from the first one to the end, and None after each while of silence. None are pushed.

        It goes on when Redis answers again after a moment.
        """
        position = 0  # of the next event
        last_life = last_event = time.monotonic()
        last_failure, heartbeat, last_entry = 0.0, 0.0, "0"
        while True:
            now = time.monotonic()
            try:
                if now - heartbeat > HEARTBEAT_SECONDS:
                    heartbeat = now
                    await _publish({"do": "read", "id": self.message_id})
                entries, is_alive, is_gone = await self._fetch_entries(last_entry)
            except REDIS_FAILURES:
                last_failure = now
                last_entry = "0"  # Redis may come back empty, and get all events once more
                entries, is_alive, is_gone = [], False, False
                await asyncio.sleep(BATCH_SECONDS)
            for last_entry, entry in entries:  # noqa: B007  # where the next fetch begins
                start = int(entry["at"])
                if start > position:
                    continue
                for event in load_events(entry["events"])[position - start :]:
                    position += 1
                    yield event
                if entry["end"] == "1":
                    _delivery_checks[self.message_id] = is_delivered
                    _keep(asyncio.create_task(_close_chat(self.asker, self.message_id, is_delivered)))
                    return
            if entries or (is_alive and not is_gone):
                last_life = now
            # After a failure of Redis the process connects again.
            has_ended = is_gone and now - last_failure > DEAD_AFTER_SECONDS
            patience = GONE_SECONDS if has_ended else DEAD_AFTER_SECONDS
            if entries:
                last_event = now
            elif now - last_life > patience:
                yield Failure(SORRY)  # its process died
                return
            elif now - last_event > running.KEEP_ALIVE_SECONDS:
                last_event = now
                yield None

    async def _fetch_entries(self, last_entry: str) -> tuple[list[Any], bool, bool]:
        """The entries after one, after a short wait for them; whether the answer's process lives, and is gone."""
        redis = redis_client.get()
        streams = await redis.xread({_events_key(self.message_id): last_entry}, count=100, block=500)
        if streams:
            return streams[0][1], True, False
        is_alive = bool(await redis.exists(_info_key(self.message_id)))
        return [], is_alive, await _is_gone(self.process)

    def stop(self) -> None:
        """Ask the other process to end the answer."""
        _keep(asyncio.create_task(_try_to_publish({"do": "stop", "id": self.message_id})))


async def find_chat(asker: Asker) -> RunningAnswer | RemoteAnswer | None:
    """The answer of a chat that was asked from the same origin and address and is not yet delivered to its end.

    None also when another fp used the same chat id: then nobody can tell whose answer it is.
    """
    if not asker.chat_id or await in_db(is_chat_id_shared, ANSWERS)(asker.project, asker.chat_id):
        return None
    answer = running_answers.find_chat(asker) or await _find_remote_chat(asker)
    return answer if answer and asker.may_read(answer.asker) else None


async def find_message(asker: Asker, thread_id: str, message_id: str) -> RunningAnswer | RemoteAnswer | None:
    """A reader's answer by its id, if it runs or has just ended. To read it, the asker must have its groups, too."""
    answer = running_answers.get(message_id) or await _find_remote(message_id)
    if answer is None or answer.thread_id != thread_id:
        return None
    return answer if (answer.asker.project, answer.asker.fp) == (asker.project, asker.fp) else None


async def announce_answer(answer: RunningAnswer) -> None:
    """Let other processes find and follow a resumable answer, if Redis is configured."""
    if not settings.ENV.redis_url:
        return
    loop = asyncio.get_running_loop()
    if loop not in _listeners or _listeners[loop].done():
        _listeners[loop] = asyncio.create_task(_listen())
    try:
        async with asyncio.timeout(ANNOUNCE_SECONDS):
            await _announce(answer)
    except (*REDIS_FAILURES, TimeoutError) as failure:
        report_failure(failure)
    _keep(asyncio.create_task(_copy(answer)))


async def discard_thread(project: int, fp: str, thread_id: str) -> None:
    """End a thread's running answers, in all processes. None of them can be resumed afterwards."""
    running_answers.discard_thread(project, fp, thread_id)
    if settings.ENV.redis_url:
        await _try_to_publish({"do": "discard", "project": project, "fp": fp, "thread": thread_id})


async def erase(message_ids: list[str]) -> None:
    """Delete answers from Redis."""
    if settings.ENV.redis_url and message_ids:
        keys = [key for message_id in message_ids for key in (_events_key(message_id), _info_key(message_id))]
        try:
            await redis_client.get().delete(*keys)
        except REDIS_FAILURES as failure:  # they expire
            report_failure(failure)


async def _is_gone(process: str) -> bool:
    """Whether a process has no connection to any node of Redis."""
    try:
        return not dict(await redis_client.get().pubsub_numsub(process, target_nodes="all"))[process]
    except REDIS_FAILURES:  # of a cluster one node may be down
        return False


@cache
def _own_channel() -> str:
    """The channel of this process, named at its first use: processes may be forked from one that has loaded this."""
    return f"answers:{secrets.token_hex(8)}"


async def _announce(answer: RunningAnswer) -> None:
    info = json.dumps({"thread_id": answer.thread_id, "asker": asdict(answer.asker), "process": _own_channel()})
    async with redis_client.get().pipeline(transaction=False) as pipe:  # a cluster has the chat on another node
        pipe.set(_info_key(answer.message_id), info, ex=DEAD_AFTER_SECONDS)
        pipe.expire(_events_key(answer.message_id), DEAD_AFTER_SECONDS + _grace(answer))
        if answer.asker.chat_id:
            pipe.set(_chat_key(answer.asker), answer.message_id, ex=DEAD_AFTER_SECONDS + _grace(answer))
        await pipe.execute()


async def _copy(answer: RunningAnswer) -> None:
    """Copy the log of an answer to Redis, in batches, until it ends. Starts again after Redis failed or lost data."""
    copied, entries, heartbeat = 0, 0, time.monotonic()
    while True:
        await answer.wait_for_event(copied, HEARTBEAT_SECONDS)
        if not answer.ended:
            await asyncio.sleep(BATCH_SECONDS)
        ended = answer.ended
        batch = _read_log(answer, copied)
        try:
            if time.monotonic() - heartbeat > HEARTBEAT_SECONDS:
                await _announce(answer)
                heartbeat = time.monotonic()
            stored_entries = await _add(answer, copied, batch, ended) if batch or ended else entries
        except REDIS_FAILURES as failure:
            report_failure(failure)
            await asyncio.sleep(1)
            stored_entries = -1
        if stored_entries < entries + bool(batch or ended):
            copied, entries, heartbeat = 0, 0, 0.0
            if ended and running_answers.get(answer.message_id) is not answer:
                return  # it can no longer be resumed
            continue
        copied, entries = copied + len(batch), stored_entries
        if ended:
            break
    if answer.discarded:
        await erase([answer.message_id])
    await _close_chat(answer.asker, answer.message_id, lambda: answer.discarded or answer.is_delivered)


def _read_log(answer: RunningAnswer, position: int) -> list[Event]:
    """All events from a position on."""
    batch: list[Event] = []
    while position + len(batch) < len(answer.log):
        batch += answer.log.read_batch(position + len(batch))
    return batch


async def _add(answer: RunningAnswer, position: int, batch: list[Event], ended: bool) -> int:
    """Add an entry. Returns the number of entries now; 0 if Redis has lost the info of the answer."""
    events_key, info_key = _events_key(answer.message_id), _info_key(answer.message_id)
    async with redis_client.get().pipeline(transaction=False) as pipe:  # half of it is added once more
        pipe.xadd(events_key, {"at": position, "events": dump_events(batch), "end": int(ended)})
        pipe.xlen(events_key)
        pipe.exists(info_key)
        pipe.expire(events_key, DEAD_AFTER_SECONDS + _grace(answer))
        if ended:
            pipe.expire(info_key, _grace(answer))
            pipe.expire(events_key, _grace(answer))
        results = await pipe.execute()
    return int(results[1]) * int(results[2])


def _grace(answer: RunningAnswer) -> int:
    return int(answer.timeouts.grace) + 1


async def _close_chat(asker: Asker, message_id: str, is_delivered: DeliveryCheck) -> None:
    """Forget that a chat has an answer to resume, once the end of the answer has reached a reader."""
    await asyncio.sleep(DELIVERY_SECONDS)
    try:
        if asker.chat_id and is_delivered() and await redis_client.get().get(_chat_key(asker)) == message_id:
            await redis_client.get().delete(_chat_key(asker))
    except REDIS_FAILURES as failure:  # a delivered answer can still be resumed
        report_failure(failure)
    finally:
        _delivery_checks.pop(message_id, None)


async def _listen() -> None:
    """Receive the signals of other processes to the answers of this one."""
    while True:
        try:
            redis = redis_client.get()
            await redis.initialize()  # a cluster asks for its nodes
            async with redis.pubsub() as channel:
                await channel.subscribe(CHANNEL, _own_channel())
                while True:
                    message = await channel.get_message(ignore_subscribe_messages=True, timeout=1.0)
                    if message:
                        _handle(json.loads(message["data"]))
        except REDIS_FAILURES as failure:
            report_failure(failure)
        except Exception:  # the task boundary: one bad message must not end the loop
            logger.exception("A message of another process could not be read.")
        await asyncio.sleep(1)


def _handle(signal: dict[str, Any]) -> None:
    if signal["do"] == "discard":
        running_answers.discard_thread(signal["project"], signal["fp"], signal["thread"])
    elif answer := running_answers.get(signal["id"]):
        if signal["do"] == "read":
            answer.extend_grace()
        else:
            answer.stop()


async def _publish(signal: dict[str, Any]) -> None:
    await redis_client.get().publish(CHANNEL, json.dumps(signal))


async def _try_to_publish(signal: dict[str, Any]) -> None:
    try:
        await _publish(signal)
    except REDIS_FAILURES as failure:
        report_failure(failure)


async def _find_remote(message_id: str) -> RemoteAnswer | None:
    text = await _get(_info_key(message_id))
    if text is None:
        return None
    info = json.loads(text)
    return RemoteAnswer(message_id, info["thread_id"], Asker(**info["asker"]), info["process"])


async def _find_remote_chat(asker: Asker) -> RemoteAnswer | None:
    message_id = await _get(_chat_key(asker))
    if message_id is None or running_answers.get(message_id):
        return None  # `find_chat` did not find it here, so it has been delivered
    was_delivered = message_id in _delivery_checks and _delivery_checks[message_id]()
    return None if was_delivered else await _find_remote(message_id)


async def _get(key: str) -> str | None:
    """The value of a key. None without Redis or a value. Raises `Unavailable` if Redis does not answer."""
    if not settings.ENV.redis_url:
        return None
    try:
        value: str | None = await redis_client.get().get(key)
    except REDIS_FAILURES as failure:
        report_failure(failure)
        raise Unavailable("The store of running answers does not answer. Try again shortly.") from None
    availability.redis.report_success()
    return value


def _events_key(message_id: str) -> str:
    return f"answer:{{{message_id}}}:events"


def _info_key(message_id: str) -> str:
    return f"answer:{{{message_id}}}:info"


def _chat_key(asker: Asker) -> str:
    chat = json.dumps(asker.chat, separators=(",", ":"))
    return f"answer:chat:{hashlib.sha256(chat.encode()).hexdigest()}"


def _keep(task: "asyncio.Task[None]") -> None:
    """Keep a task until it is done. The event loop itself does not."""
    _tasks.add(task)
    task.add_done_callback(_tasks.discard)
