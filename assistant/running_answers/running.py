"""Running answers of this process. Each runs in a task of its own; subscribers come, leave and come back.

    start_answer -> RunningAnswer -> subscribe() by an endpoint or the socket

The events of an answer are in its log, so a subscriber gets it from its start
at any time. When the last subscriber leaves, an answer ends at once. A resumable
answer ends after a grace period.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from functools import partial

from assistant.answering.question import Asker
from assistant.answering.record import CutBy, Outcome
from assistant.running_answers.capacity import Slots, answer_slots
from assistant.running_answers.event_log import EventLog
from assistant.running_answers.waiting import Push, Waiters
from assistant.wire.events import Abort, Event, Failure
from docsite.core import context, request_times

logger = logging.getLogger(__name__)

RESTARTING = "The service is restarting. Please ask again."
MAX_AHEAD = 1_000  # events that an answer may be ahead of its subscribers; then the model server has to wait
NOT_READ = "The answer was not read in time."
KEEP_ALIVE_SECONDS = 10.0  # of silence, after which a stream sends a keep-alive
FIRST_EVENT_SECONDS = 0.05  # that an answer waits until its subscriber has got the first event
FIRST_SUBSCRIBER_SECONDS = 5.0  # until an answer must have a subscriber; whoever asked subscribes at once
LAST_SAVE_SECONDS = 12.0  # for the last answers to be stored when the process ends; SQLite may be locked for 10


@dataclass(frozen=True)
class Timeouts:
    """Seconds: of silence before a keep-alive, for a reader to come back, for a subscriber that takes no events."""

    keep_alive: float = KEEP_ALIVE_SECONDS
    grace: float = 20.0
    stalled_subscriber: float = 120.0


DeliveryCheck = Callable[[], bool]


def assume_delivered() -> bool:
    """The delivery check of servers that cannot tell what has reached a reader."""
    return True


@dataclass(eq=False, repr=False)  # a log must not show what a reader asked
class RunningAnswer:
    """One answer: its event log, and the task that adds to the log."""

    message_id: str
    thread_id: str
    asker: Asker
    outcome: Outcome
    timeouts: Timeouts
    resumable: bool
    log: EventLog = field(default_factory=EventLog)
    ended: bool = False
    discarded: bool = False  # it can no longer be resumed
    _delivery_checks: list[DeliveryCheck] = field(default_factory=list)  # of subscribers that got its end
    _subscribers: int = 0
    _delivered: int = 0  # events that at least one subscriber has got
    _waiters: Waiters = field(default_factory=Waiters)
    _progress: "asyncio.Future[None] | None" = None  # while `_run` waits for subscribers
    _started: bool = False
    _ending: bool = False
    _reported: bool = False
    _last_event: Event | None = None  # replaces the remaining events
    _abandonment: asyncio.TimerHandle | None = None
    _task: "asyncio.Task[None] | None" = None

    def start(self, events: AsyncGenerator[Event, None]) -> None:
        """Begin to run."""
        with context.limit_database_time(None):  # it runs on after the request that asked
            self._task = asyncio.create_task(self._run(events))
        seconds = self.timeouts.grace if self.resumable else FIRST_SUBSCRIBER_SECONDS
        self._abandonment = asyncio.get_running_loop().call_later(seconds, self.abandon)

    async def subscribe(
        self, is_delivered: DeliveryCheck = assume_delivered, push: Push | None = None
    ) -> AsyncGenerator[Event | None, None]:
        """Yield all events from the first one to the end, and None after each while of silence.

        `is_delivered` says later whether the events have reached the reader. What comes while the subscriber waits
        may go to `push` instead, except for the last event. That saves a turn of the event loop for each token.
        """
        self._subscribers += 1
        self._cancel_abandonment()
        try:
            position = 0
            while True:
                for event in self.log.read_batch(position):
                    position += 1
                    if position > self._delivered:
                        self._delivered = position
                        self._note_progress()
                    yield event
                if position < len(self.log):
                    continue
                if self.ended:
                    self._delivery_checks.append(is_delivered)
                    return
                is_new, pushed = await self._waiters.wait(self.timeouts.keep_alive, push)
                position += pushed
                if not is_new:
                    yield None
        finally:
            self._subscribers -= 1
            if not self._subscribers:
                self._plan_abandonment()

    @property
    def is_delivered(self) -> bool:
        """Whether all of it has reached some reader."""
        return any(is_delivered() for is_delivered in self._delivery_checks)

    @property
    def has_subscribers(self) -> bool:
        """Whether somebody gets its events now."""
        return self._subscribers > 0

    async def wait_for_event(self, position: int, seconds: float) -> bool:
        """Wait until there is an event at that position, or the answer has ended. False when the time is over first."""
        if len(self.log) > position or self.ended:
            return True
        is_new, _ = await self._waiters.wait(seconds)
        return is_new

    def stop(self) -> None:
        """End the answer here. Subscribers get an `Abort`."""
        self._end(Abort(), "reader")

    def interrupt(self) -> None:
        """End the answer because the process ends. Subscribers get a `Failure`. A complete answer is only stored."""
        if self.outcome.state == "running":
            self.outcome.state, self.outcome.reason = "interrupted", "the service was stopped"
            self._end(Failure(RESTARTING), "service")

    def abandon(self) -> None:
        """End the answer, since it has no subscriber. It cannot be resumed afterwards."""
        self.discarded = True
        self._end(Abort(), "connection")

    def extend_grace(self) -> None:
        """Note a subscriber in another process: restart the grace period, and let the answer run on."""
        self._delivered = len(self.log)
        self._note_progress()
        if self._abandonment:
            self._plan_abandonment()

    async def wait_until_stored(self) -> None:
        """Wait until the answer has ended and is stored."""
        if self._task:
            await asyncio.wait([self._task])

    def call_when_stored(self, callback: Callable[[], None]) -> None:
        """Call a function once the answer, which has started, has ended and is stored."""
        assert self._task
        self._task.add_done_callback(lambda _: callback())

    def _end(self, last_event: Event, cut_by: CutBy) -> None:
        if self.ended or self._ending or self._task is None:
            return
        if not self._started:  # a task that is cancelled before its first step would store nothing
            asyncio.get_running_loop().call_soon(self._end, last_event, cut_by)
            return
        self._ending = True
        self._last_event = last_event
        if self.outcome.state not in ("done", "error"):  # else it is complete, and only its last events are missing
            self.outcome.cut_by = cut_by
        self._task.cancel()

    def _cancel_abandonment(self) -> None:
        if self._abandonment:
            self._abandonment.cancel()
            self._abandonment = None

    def _plan_abandonment(self) -> None:
        """End the answer after its last subscriber has left: now, or after the grace period."""
        self._cancel_abandonment()
        if self.ended:
            return
        if self.resumable:
            loop = asyncio.get_running_loop()
            self._abandonment = loop.call_later(self.timeouts.grace, self.abandon)
        else:
            self.abandon()

    async def _run(self, events: AsyncGenerator[Event, None]) -> None:
        """Log the events, at the pace of the subscribers. On cancellation the pipeline stores the answer first."""
        self._started = True
        try:
            async with aclosing(events):
                async for event in events:
                    if self._log(event):
                        continue
                    if len(self.log) == 1:  # it gets a moment to go out, before the search takes the processor
                        with suppress(TimeoutError):
                            await self._wait_for_progress(FIRST_EVENT_SECONDS)
                    if len(self.log) - self._delivered > MAX_AHEAD:
                        await self._wait_for_subscribers()
        except asyncio.CancelledError:
            if self._last_event:  # without one, the whole process ends
                self._log(self._last_event)
        except Exception:  # the task boundary: an answer always ends
            logger.exception("Answer %s could not be logged.", self.message_id)
        finally:
            self.ended = True
            self._cancel_abandonment()
            self._waiters.close()
            if not self._reported:
                self._report_time(time.monotonic())

    def _log(self, event: Event) -> bool:
        """Add an event. Returns whether it was pushed to a subscriber."""
        self.log.append(event)
        if not self._reported and self.outcome.first_text_at:
            self._report_time(self.outcome.first_text_at)
        if not self._waiters.take(event):
            return False
        self._delivered = len(self.log)
        return True

    def _report_time(self, end: float) -> None:
        """Report the time to the first text, or to the end of an answer without text, and where it went."""
        self._reported = True
        seconds = end - self.outcome.started_at
        request_times.report("first words", self.message_id, seconds, request_times.SLOW_ANSWER_SECONDS)

    async def _wait_for_subscribers(self) -> None:
        """Wait until a subscriber takes more events, for a limited time.

        One that never does would keep the connection to the model server open.
        """
        try:
            await self._wait_for_progress(self.timeouts.stalled_subscriber)
        except TimeoutError:
            self._last_event, self.outcome.cut_by = Failure(NOT_READ), "time_limit"
            raise asyncio.CancelledError from None

    async def _wait_for_progress(self, seconds: float) -> None:
        """Wait until a subscriber gets an event. Raises TimeoutError."""
        self._progress = asyncio.get_running_loop().create_future()
        try:
            async with asyncio.timeout(seconds):
                await self._progress
        finally:
            self._progress = None

    def _note_progress(self) -> None:
        if self._progress and not self._progress.done():
            self._progress.set_result(None)


class RunningAnswers:
    """The answers of this process: those that run, and resumable ones for a grace period after their end."""

    def __init__(self) -> None:
        self._answers: dict[str, RunningAnswer] = {}

    def add(self, answer: RunningAnswer, slots: Slots) -> None:
        """Keep a started answer until it has ended, and for a grace period more where it can be resumed."""
        self._answers[answer.message_id] = answer
        answer.call_when_stored(partial(self._end, answer, slots))

    def _end(self, answer: RunningAnswer, slots: Slots) -> None:
        answer_slots.release(slots)
        if answer.resumable and not answer.discarded:
            loop = asyncio.get_running_loop()
            loop.call_later(answer.timeouts.grace, self._answers.pop, answer.message_id, None)
        else:
            self._answers.pop(answer.message_id, None)

    def get(self, message_id: str) -> RunningAnswer | None:
        """An answer by its id."""
        return self._answers.get(message_id)

    def discard_thread(self, project: int, fp: str, thread_id: str) -> None:
        """End and forget the answers of a thread, which is asked again or deleted."""
        for answer in list(self._answers.values()):
            if (answer.asker.project, answer.asker.fp, answer.thread_id) == (project, fp, thread_id):
                answer.abandon()
                del self._answers[answer.message_id]

    def find_chat(self, asker: Asker) -> RunningAnswer | None:
        """The latest answer of a chat whose end has not reached its asker."""
        chat = [a for a in self._answers.values() if a.asker.chat == asker.chat and not a.is_delivered]
        return chat[-1] if chat else None

    async def close(self, grace: float) -> None:
        """Let answers end within the grace period (seconds), then end them. Returns after all are stored and sent."""
        answer_slots.close(RESTARTING)
        deadline = time.monotonic() + grace
        while answer_slots.count_all() and time.monotonic() < deadline:
            for answer in self._answers.values():
                if not answer.has_subscribers:
                    answer.interrupt()
            await asyncio.sleep(0.02)
        for answer in self._answers.values():
            answer.interrupt()
        deadline = time.monotonic() + LAST_SAVE_SECONDS
        while time.monotonic() < deadline and any(not a.ended or a.has_subscribers for a in self._answers.values()):
            await asyncio.sleep(0.02)


running_answers = RunningAnswers()
