"""The stream of a model server, with limits of time and size. It never raises."""

import asyncio
import logging
import random
import time
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from assistant.upstream import Delta, EndOfText, Item, Model, Progress, ToolCalls, UpstreamError, errors
from assistant.upstream.breaker import breaker_of
from assistant.upstream.formats import FORMATS
from assistant.upstream.repetition import RepetitionGuard
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
    breaker_failures: int = 5
    breaker_rest: float = 30.0

    @property
    def token_limit(self) -> int:
        """The largest number of tokens of an answer, also from a server that ignores `max_tokens`."""
        return max(self.max_tokens, self.size)


@dataclass(frozen=True)
class StreamFailure:
    """The stream failed. Always the last item."""

    reason: str


async def stream(
    model: Model,
    messages: Iterable[dict[str, Any]],
    bounds: Bounds,
    tools: Sequence[dict[str, Any]] = (),
) -> AsyncGenerator[Item | StreamFailure, None]:
    """Yield what the model server sends, then end, or end with one `StreamFailure`.

    A text that only repeats itself ends there, and the upstream request with it.

    A temporary failure is retried once, if no text has arrived. `tools` are those that the model may call,
    as JSON schemas.
    Cancellation (the reader left) passes through and closes the upstream
    request on its way.
    """
    breaker = breaker_of(model)
    if not await breaker.allows_request(bounds.breaker_failures, bounds.breaker_rest):
        yield StreamFailure("the model server is resting after failures")
        return
    deadline = time.monotonic() + bounds.whole_answer
    retried = False
    while True:
        size, complete, has_progress, has_calls = 0, False, False, False
        guard = RepetitionGuard()
        clock = _Clock(min(time.monotonic() + bounds.first_token, deadline))
        asked_at, is_first = time.monotonic(), True
        try:
            source = FORMATS[model.format].stream(
                model,
                messages,
                max_tokens=bounds.max_tokens,
                connect_seconds=bounds.connect,
                tools=tools,
            )
            async with aclosing(source) as items:
                try:
                    async for item in items:
                        clock.is_waiting = False
                        if is_first:
                            is_first = False
                            request_times.add("model", time.monotonic() - asked_at)
                        if isinstance(item, Delta):
                            kept = guard.feed(item.text)
                            if guard.is_loop:
                                item = Delta(kept)
                            size += len(item.text) if item.text.isascii() else len(item.text.encode())
                            if size > bounds.size:
                                raise UpstreamError(
                                    "the answer grew too long",
                                    is_server_fault=False,
                                    advice="Lower OPENAI_MAX_TOKENS.",
                                )
                        elif isinstance(item, Progress):
                            has_progress = True
                            clock.begin_wait(min(time.monotonic() + bounds.between_tokens, deadline))
                            continue
                        elif isinstance(item, ToolCalls):
                            has_calls = True
                        yield item
                        if guard.is_loop:
                            yield EndOfText("repetition")
                            break
                        if isinstance(item, Delta):  # other items, except thoughts and pieces of calls, are no progress
                            clock.begin_wait(min(time.monotonic() + bounds.between_tokens, deadline))
                        elif isinstance(item, EndOfText):
                            complete = True
                            clock.begin_wait(min(time.monotonic() + USAGE_SECONDS, deadline))
                        else:
                            clock.is_waiting = True
                except asyncio.CancelledError:
                    clock.check()
                    raise
                finally:
                    clock.is_waiting = False
            await breaker.record_success()
            if not size and not has_calls:
                advice = errors.ONLY_THOUGHTS if has_progress else errors.EMPTY
                logger.warning("The model %s at %s sent an empty answer. %s", model.name, model.address, advice)
            return
        except UpstreamError as failure:
            if is_first:
                request_times.add("model", time.monotonic() - asked_at)
            if complete:  # the answer is complete, so the failure does not matter
                await breaker.record_success()
                return
            wait = failure.retry_after or 0.0
            if failure.retryable and not size and not has_calls and not retried and wait <= MAX_RETRY_AFTER:
                retried = True
                await asyncio.sleep(wait + random.uniform(0.1, 0.4))
                continue
            if failure.is_server_fault:
                reason = f"{failure.reason}. {failure.advice}".rstrip(". ")
                await breaker.record_failure(bounds.breaker_failures, bounds.breaker_rest, reason)
            else:
                logger.warning(
                    "The model %s at %s failed: %s. %s", model.name, model.address, failure.reason, failure.advice
                )
            yield StreamFailure(failure.reason)
            return
        except Exception:  # the boundary to foreign code: after any failure the next model is asked
            logger.exception("The model server's stream could not be read.")
            reason = "its stream could not be read"
            await breaker.record_failure(bounds.breaker_failures, bounds.breaker_rest, reason)
            yield StreamFailure("the model server could not be read")
            return
        finally:
            clock.stop()


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
