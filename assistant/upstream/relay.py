"""The stream of a model server, with limits of time and size. It never raises."""

import asyncio
import logging
import random
import time
from collections.abc import AsyncGenerator, Iterable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from dataclasses import dataclass, field
from typing import Any

from assistant.upstream import Delta, EndOfText, FormatItem, Item, Model, Progress, ToolCalls, UpstreamError, errors
from assistant.upstream.breaker import breaker_of
from assistant.upstream.formats import FORMATS
from assistant.upstream.loop_detector import LoopDetector
from docsite.core import request_times

logger = logging.getLogger(__name__)

USAGE_SECONDS = 2.0  # for the token counts that follow the end of the text
TOO_LONG = "the model server took too long"
MAX_RETRY_AFTER = 2.0  # seconds; after a longer wait of the server the next model is asked


@dataclass(frozen=True)
class Bounds:
    """How long and how large an answer may get. Times in seconds, `size` in bytes of UTF-8."""

    connect: float = 5.0
    first_token: float = 20.0
    between_tokens: float = 20.0
    whole_answer: float = 120.0
    size: int = 256 * 1024
    max_tokens: int = 2048
    question_tokens: int = 40_000  # of all requests for a question

    @property
    def token_limit(self) -> int:
        """The largest number of tokens of an answer, also from a server that ignores `max_tokens`."""
        return max(self.max_tokens, self.size)


@dataclass(frozen=True)
class ModelChain:
    """Models to ask, best first: each one after the one before it has failed. `reason` says why there are none.

    They get passages of `passage_tokens` tokens.
    """

    models: Sequence[Model] = ()
    bounds: Bounds = field(default_factory=Bounds)
    passage_tokens: int = 6_000
    reason: str = ""


@dataclass(frozen=True)
class StreamFailure:
    """The stream failed. Always the last item."""

    reason: str


async def stream(
    model: Model, messages: Iterable[dict[str, Any]], bounds: Bounds, tools: Sequence[dict[str, Any]] = ()
) -> AsyncGenerator[Item | StreamFailure, None]:
    """Yield what the model server sends, then end, or end with one `StreamFailure`.

    A text that only repeats itself ends there, and the upstream request with it.

    A temporary failure is retried once, if no text has arrived. `tools` are those that the model may call,
    as JSON schemas. Cancellation (the reader left) passes through and closes the upstream request on its way.
    """
    breaker = breaker_of(model)
    if not await breaker.allows_request():
        yield StreamFailure("the model server is resting after failures")
        return
    deadline = time.monotonic() + bounds.whole_answer
    retried = False
    while True:
        attempt = _Attempt(bounds, deadline)
        try:
            source = FORMATS[model.format].stream(
                model, messages, max_tokens=bounds.max_tokens, connect_seconds=bounds.connect, tools=tools
            )
            async with aclosing(source) as items:
                with attempt.in_time():
                    async for item in items:
                        if shown := attempt.receive(item):
                            yield shown
                        if attempt.is_loop:
                            yield EndOfText("repetition")
                            break
                        attempt.wait_after(item)
            await breaker.record_success()
            attempt.report_emptiness(model)
            return
        except UpstreamError as failure:
            attempt.end_first_wait()
            if attempt.is_complete:  # so the failure does not matter
                await breaker.record_success()
                return
            if attempt.may_be_repeated(failure) and not retried:
                retried = True
                await asyncio.sleep((failure.retry_after or 0.0) + random.uniform(0.1, 0.4))
                continue
            if failure.is_server_fault:
                reason = f"{failure.reason}. {failure.advice}".rstrip(". ")
                await breaker.record_failure(reason)
            else:
                facts = model.name, model.address, failure.reason, failure.advice
                logger.warning("The model %s at %s failed: %s. %s", *facts)
            yield StreamFailure(failure.reason)
            return
        except Exception:  # the boundary to foreign code: after any failure the next model is asked
            logger.exception("The model server's stream could not be read.")
            await breaker.record_failure("its stream could not be read")
            yield StreamFailure("the model server could not be read")
            return
        finally:
            attempt.end()


class _Attempt:
    """One request to a model server: what it has brought so far, and until when it must bring more."""

    def __init__(self, bounds: Bounds, deadline: float) -> None:
        self.is_complete = False  # the text, if not yet the token counts behind it
        self.has_progress = False  # thoughts, or pieces of calls
        self._size = 0  # bytes
        self._has_calls = False
        self._bounds = bounds
        self._deadline = deadline
        self._guard = LoopDetector()
        self._asked_at: float | None = time.monotonic()  # None when the first item, or a failure, has come
        self._clock = _Clock(min(self._asked_at + bounds.first_token, deadline))

    @property
    def is_loop(self) -> bool:
        """Whether its text only repeats itself."""
        return self._guard.is_loop

    @property
    def is_empty(self) -> bool:
        """Whether neither text nor calls have come."""
        return not self._size and not self._has_calls

    def may_be_repeated(self, failure: UpstreamError) -> bool:
        """Whether another attempt may follow a failure soon."""
        return failure.retryable and self.is_empty and (failure.retry_after or 0.0) <= MAX_RETRY_AFTER

    def report_emptiness(self, model: Model) -> None:
        """Tell the log if a server that did not fail has sent neither text nor calls."""
        if self.is_empty:
            advice = errors.ONLY_THOUGHTS if self.has_progress else errors.EMPTY
            logger.warning("The model %s at %s sent an empty answer. %s", model.name, model.address, advice)

    @contextmanager
    def in_time(self) -> Iterator[None]:
        """Raise `UpstreamError` when the server takes too long within the block."""
        try:
            yield
        except asyncio.CancelledError:
            self._clock.check()
            raise
        finally:
            self._clock.is_waiting = False

    def receive(self, item: FormatItem) -> Item | None:
        """Take an item. Returns what of it to pass on. Raises `UpstreamError` when the text is too large."""
        self._clock.is_waiting = False
        self.end_first_wait()
        match item:
            case Delta():
                kept = self._guard.feed(item.text)
                if self._guard.is_loop:
                    item = Delta(kept)
                self._size += len(item.text) if item.text.isascii() else len(item.text.encode())
                if self._size > self._bounds.size:
                    reason, advice = "the answer grew too long", "Lower OPENAI_MAX_TOKENS."
                    raise UpstreamError(reason, is_server_fault=False, advice=advice)
            case Progress():
                self.has_progress = True
                return None
            case ToolCalls():
                self._has_calls = True
        return item

    def wait_after(self, item: FormatItem) -> None:
        """Begin the wait for the item that follows. Only text and progress give the server more time."""
        match item:
            case Delta() | Progress():
                self._clock.begin_wait(min(time.monotonic() + self._bounds.between_tokens, self._deadline))
            case EndOfText():
                self.is_complete = True
                self._clock.begin_wait(min(time.monotonic() + USAGE_SECONDS, self._deadline))
            case _:
                self._clock.is_waiting = True

    def end(self) -> None:
        """End the timer."""
        self._clock.stop()

    def end_first_wait(self) -> None:
        """Record how long the first item, or a failure before it, has taken. Only the first call does."""
        if self._asked_at is not None:
            request_times.add("model", time.monotonic() - self._asked_at)
            self._asked_at = None


class _Clock:
    """Time limits for many waits of a task in a row, as `asyncio.timeout` has for one, with a single timer."""

    def __init__(self, due: float) -> None:
        self.is_waiting = True
        self._task = asyncio.current_task()
        self._expired = False
        self._due = due
        self._start_timer(due)

    def begin_wait(self, due: float) -> None:
        """Begin a wait with an end on the clock of `time.monotonic`. It cancels the task if it goes on longer."""
        self.is_waiting = True
        self._due = due
        if due < self._rings_at:
            self._timer.cancel()
            self._start_timer(due)

    def check(self) -> None:
        """Raise `UpstreamError` if the task was cancelled because of the time, and for no other reason."""
        if self._expired and not (self._task and self._task.uncancel()):
            raise UpstreamError(TOO_LONG, advice=errors.SLOW) from None

    def stop(self) -> None:
        """Cancel the timer."""
        self._timer.cancel()

    def _start_timer(self, rings_at: float) -> None:
        self._rings_at = rings_at
        self._timer = asyncio.get_running_loop().call_later(rings_at - time.monotonic(), self._ring)

    def _ring(self) -> None:
        now = time.monotonic()
        if now < self._due:  # the time was extended
            self._start_timer(self._due)
        elif not self.is_waiting:  # the reader is slow
            self._start_timer(now + 1.0)
        elif self._task:
            self._expired = True
            self._task.cancel()
