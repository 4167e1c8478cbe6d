"""Running answers of this process: each in a task of its own, read by whoever comes, leaves, and comes back.

    doors.ask -> Live -> read() by a door

What a reader missed is in the answer's log. When the last reader leaves, an
answer ends at once, or, where it is resumable, after a grace period.
"""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass

from assistant.answering.pipeline import Outcome
from assistant.events import Event, Failed, Stopped
from assistant.sessions.event_log import Log

logger = logging.getLogger(__name__)

AHEAD = 1_000  # chunks that an answer may run ahead of its reader; then the model server has to wait
RESTARTING = "The service is restarting. Please ask again."
UNREAD = "The answer was not read in time."
FIRST_CHUNK = 0.05  # seconds that an answer waits for it
FIRST_READER = 5.0  # seconds; the door that asked comes at once
LAST_SAVE = 12.0  # seconds for the last answers to be stored, when the process ends; SQLite may be locked for 10

Places = list[tuple[str, object]]
Encode = Callable[[AsyncGenerator[Event, None]], AsyncGenerator[str, None]]


@dataclass(frozen=True)
class Asker:
    """Whose answer it is. `origin` and `network` (of the address) are those of the request that asked."""

    project: int
    organization: int
    fp: str
    network: str
    origin: str = ""
    chat_id: str = ""

    @property
    def chat(self) -> tuple[object, ...]:
        """What two requests must share to be of one chat in one browser."""
        return (self.project, self.chat_id, self.origin, self.network)


@dataclass(frozen=True)
class Patience:
    """Seconds of silence before a keep-alive, of grace for a reader to come back, of waiting for one who is stuck."""

    keep_alive: float = 10.0
    grace: float = 20.0
    stuck: float = 120.0


@dataclass(frozen=True)
class Most:
    """How many answers may run at once: in this process, for one client address, for one organization."""

    process: int = 1_000
    network: int = 500
    organization: int = 1_000


Taken = Callable[[], bool]


def surely() -> bool:
    """For servers that cannot tell what has reached a reader."""
    return True


class Full(Exception):
    """No further answer may run now."""


class Live:
    """One answer: its log of chunks, and the task that adds to it."""

    def __init__(
        self,
        message_id: str,
        thread_id: str,
        asker: Asker,
        outcome: Outcome,
        patience: Patience,
        *,
        resumable: bool,
        keep: bool = True,
    ) -> None:
        self.message_id = message_id
        self.thread_id = thread_id
        self.asker = asker
        self.outcome = outcome
        self.patience = patience
        self.resumable = resumable
        self.log = Log(keep=keep)
        self.ended = False
        self.dropped = False  # nothing of it may be resumed
        self._takers: list[Taken] = []  # readers who got it to its end
        self._readers = 0
        self._read = 0  # chunks that the furthest reader took
        self._news: dict[asyncio.Future[bool], float] = {}
        self._alarm: asyncio.TimerHandle | None = None
        self._room = asyncio.Event()
        self._begun = self._ending = False
        self._last_word: Event | None = None
        self._leaving: asyncio.TimerHandle | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self, events: AsyncGenerator[Event, None], encode: Encode) -> None:
        """Begin to run."""
        self._task = asyncio.create_task(self._run(events, encode))
        seconds = self.patience.grace if self.resumable else FIRST_READER
        self._leaving = asyncio.get_running_loop().call_later(seconds, self.abandon)

    async def read(self, after: int = 0, taken: Taken = surely) -> AsyncGenerator[str | None, None]:
        """Yield the chunks from a position on, up to the end; None whenever there was silence for a while.

        The last chunk comes in any case. `taken` tells later whether what was
        yielded has really reached the reader.
        """
        self._readers += 1
        self._stay()
        try:
            position = min(after, len(self.log) - self.ended)
            while True:
                for chunk in self.log.read(position):
                    position += 1
                    if position > self._read:
                        self._read = position
                        self._room.set()
                    yield chunk
                if self.ended and position == len(self.log):
                    self._takers.append(taken)
                    return
                if not await self.news(position, self.patience.keep_alive):
                    yield None
        finally:
            self._readers -= 1
            if not self._readers:
                self._left()

    @property
    def delivered(self) -> bool:
        """Whether some reader has all of it."""
        return any(taken() for taken in self._takers)

    async def news(self, position: int, seconds: float) -> bool:
        """Wait until the log is longer than that, or the answer has ended. False when the time is over first."""
        if len(self.log) > position or self.ended:
            return True
        loop = asyncio.get_running_loop()
        waiter: asyncio.Future[bool] = loop.create_future()
        self._news[waiter] = until = loop.time() + seconds
        if self._alarm is None or self._alarm.when() > until:
            self._set_alarm(until)
        try:
            return await waiter
        finally:
            self._news.pop(waiter, None)

    def _set_alarm(self, when: float) -> None:
        """One timer for all who wait, and for token after token: it looks, when it rings, who still does."""
        if self._alarm:
            self._alarm.cancel()
        self._alarm = asyncio.get_running_loop().call_at(when, self._ring)

    def _ring(self) -> None:
        now = asyncio.get_running_loop().time()
        for waiter, until in self._news.items():
            if until <= now:
                _resolve(waiter, False)
        self._alarm = None
        if later := [until for until in self._news.values() if until > now]:
            self._set_alarm(min(later))

    def stop(self) -> None:
        """End the answer here; its readers are told."""
        self._end(Stopped())

    def interrupt(self) -> None:
        """End the answer because the process does; its readers are told. One that is whole is left to be stored."""
        if self.outcome.state == "running":
            self.outcome.state, self.outcome.reason = "interrupted", "the service was stopped"
            self._end(Failed(RESTARTING))

    def abandon(self) -> None:
        """End the answer, since nobody reads it, and keep nothing of it for a reader to come back to."""
        self.dropped = True
        self._end(Stopped())

    def hold(self) -> None:
        """A reader in another process is there: begin the grace period anew, and go on at its pace."""
        self._read = len(self.log)
        self._room.set()
        if self._leaving:
            self._left()

    async def wait(self) -> None:
        """Until the answer has ended and is stored."""
        if self._task:
            await asyncio.wait([self._task])

    @property
    def is_read(self) -> bool:
        """Whether somebody reads it now."""
        return self._readers > 0

    def _end(self, last_word: Event) -> None:
        if self.ended or self._ending or self._task is None:
            return
        if not self._begun:  # a task that is cancelled before its first step would store nothing
            asyncio.get_running_loop().call_soon(self._end, last_word)
            return
        self._ending = True
        self._last_word = last_word
        self._task.cancel()

    def _stay(self) -> None:
        if self._leaving:
            self._leaving.cancel()
            self._leaving = None

    def _left(self) -> None:
        """Nobody reads any more."""
        self._stay()
        if self.ended:
            return
        if self.resumable:
            loop = asyncio.get_running_loop()
            self._leaving = loop.call_later(self.patience.grace, self.abandon)
        else:
            self.abandon()

    async def _run(self, events: AsyncGenerator[Event, None], encode: Encode) -> None:
        self._begun = True
        try:
            async with aclosing(encode(self._until_told(events))) as chunks:
                async for chunk in chunks:
                    self.log.append(chunk)
                    self._tell()
        except asyncio.CancelledError:
            pass  # the whole process ends
        except Exception:  # the task boundary: an answer always ends
            logger.exception("Answer %s could not be encoded.", self.message_id)
        finally:
            self.ended = True
            self._stay()
            self._tell()
            if self._alarm:
                self._alarm.cancel()

    async def _until_told(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        """The events, at the pace of the readers. Cancelled, the answer stores itself, and the last word follows."""
        met = False
        try:
            async with aclosing(events):
                async for event in events:
                    yield event
                    if not met:  # the first words go out before the search takes the processor
                        met = True
                        await self._until_met()
                    if len(self.log) - self._read > AHEAD:
                        await self._until_room()
        except asyncio.CancelledError:
            if self._last_word is None:
                raise
            if task := asyncio.current_task():
                task.uncancel()
            yield self._last_word

    async def _until_met(self) -> None:
        """Wait a moment for the first reader, who is on the way."""
        with suppress(TimeoutError):
            async with asyncio.timeout(FIRST_CHUNK):
                await self._room.wait()

    async def _until_room(self) -> None:
        """Wait for the reader. One who holds the connection and never reads would else hold the model server, too."""
        self._room.clear()
        try:
            async with asyncio.timeout(self.patience.stuck):
                await self._room.wait()
        except TimeoutError:
            self._last_word = Failed(UNREAD)
            raise asyncio.CancelledError from None

    def _tell(self) -> None:
        for waiter in self._news:
            _resolve(waiter, True)


def _resolve(waiter: "asyncio.Future[bool]", value: bool) -> None:
    if not waiter.done():
        waiter.set_result(value)


class Answers:
    """The answers of a process: those that run, and the resumable ones that ended a grace period ago or less."""

    def __init__(self) -> None:
        self._lives: dict[str, Live] = {}
        self._places: Counter[tuple[str, object]] = Counter()
        self._looking: set[asyncio.Task[None]] = set()
        self._closed = False

    def reserve(self, asker: Asker, most: Most) -> Places:
        """Take a place for an answer, or raise `Full`. Give it back with `release`, or let `add` do so."""
        if self._closed:
            raise Full(RESTARTING)
        places: Places = [
            ("process", None),
            ("network", asker.network),
            ("organization", asker.organization),
        ]
        if any(self._places[place] >= getattr(most, place[0]) for place in places):
            raise Full("Too many answers are running. Try again shortly.")
        self._places.update(places)
        return places

    def release(self, places: Places) -> None:
        """Give places back."""
        self._places.subtract(places)
        for place in places:
            if not self._places[place]:
                del self._places[place]

    def add(self, live: Live, places: Places) -> None:
        """Keep a started answer until it has ended, and longer where its reader may come back."""
        self._lives[live.message_id] = live

        async def look_after() -> None:
            await live.wait()
            self.release(places)
            if live.resumable and not live.dropped:
                await asyncio.sleep(live.patience.grace)
            self._lives.pop(live.message_id, None)

        task = asyncio.create_task(look_after())
        self._looking.add(task)
        task.add_done_callback(self._looking.discard)

    def get(self, message_id: str) -> Live | None:
        """An answer by its id."""
        return self._lives.get(message_id)

    def drop(self, project: int, fp: str, thread_id: str) -> None:
        """End the answers of a reader's conversation and forget them: it is asked anew, or to be gone."""
        for live in list(self._lives.values()):
            if (live.asker.project, live.asker.fp, live.thread_id) == (project, fp, thread_id):
                live.abandon()
                del self._lives[live.message_id]

    def of_chat(self, asker: Asker) -> Live | None:
        """The latest answer of a chat that its asker has not yet got to the end of."""
        found = [live for live in self._lives.values() if live.asker.chat == asker.chat and not live.delivered]
        return found[-1] if found else None

    async def close(self, grace: float) -> None:
        """Let answers end within the grace period (seconds), then end them; return when all are stored and told."""
        self._closed = True
        deadline = time.monotonic() + grace
        while self._places and time.monotonic() < deadline:
            for live in self._lives.values():
                if not live.is_read:
                    live.interrupt()
            await asyncio.sleep(0.02)
        for live in self._lives.values():
            live.interrupt()
        deadline = time.monotonic() + LAST_SAVE
        while time.monotonic() < deadline and any(not live.ended or live.is_read for live in self._lives.values()):
            await asyncio.sleep(0.02)


answers = Answers()
