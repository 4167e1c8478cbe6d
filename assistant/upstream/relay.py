"""A model server's stream, bounded in time and size, as pieces that never raise."""

import asyncio
import logging
import random
import time
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from assistant.upstream import Ended, Model, Piece, UpstreamError, Usage, openai
from assistant.upstream.breaker import breaker

logger = logging.getLogger(__name__)

USAGE_SECONDS = 2.0  # for the counts that follow an answer's end
LONGEST_WAIT = 2.0  # seconds that a Retry-After may ask for; a reader does not wait longer


@dataclass(frozen=True)
class Bounds:
    """How long and how large an answer may get. Times in seconds, size in bytes of UTF-8."""

    connect: float = 5.0
    first_token: float = 20.0
    between_tokens: float = 20.0
    whole_answer: float = 120.0
    size: int = 256 * 1024
    max_tokens: int = 2048
    breaker_failures: int = 5
    breaker_rest: float = 30.0

    @property
    def most_tokens(self) -> int:
        """As many as an answer can have, where a server does not keep to `max_tokens`."""
        return max(self.max_tokens, self.size)


@dataclass(frozen=True)
class Broken:
    """The stream failed; always the last item."""

    reason: str


Item = Piece | Usage | Ended


async def stream(model: Model, messages: list[dict[str, str]], bounds: Bounds) -> AsyncGenerator[Item | Broken, None]:
    """Yield pieces, then end, or end with one `Broken`.

    A failure that may pass is tried once more, as long as no text has come.
    Cancellation (the reader left) passes through and closes the upstream
    request on its way.
    """
    health = breaker(model)
    if not health.lets_through(bounds.breaker_failures, bounds.breaker_rest):
        yield Broken("the model server is resting after failures")
        return
    deadline = time.monotonic() + bounds.whole_answer
    started = tried = False
    while True:
        try:
            async with aclosing(_bounded(model, messages, bounds, deadline)) as pieces:
                async for piece in pieces:
                    started = started or isinstance(piece, Piece)
                    yield piece
            health.succeeded()
            return
        except UpstreamError as failure:
            if failure.again and not started and not tried and (failure.wait or 0) <= LONGEST_WAIT:
                tried = True
                await asyncio.sleep((failure.wait or 0) + random.uniform(0.1, 0.4))
                continue
            if failure.theirs:
                health.failed(bounds.breaker_rest)
            yield Broken(failure.reason)
            return
        except Exception:  # the boundary to what we do not control: whatever it was, the next rung goes on
            logger.exception("The model server's stream could not be read.")
            health.failed(bounds.breaker_rest)
            yield Broken("the model server could not be read")
            return


async def _bounded(
    model: Model, messages: list[dict[str, str]], bounds: Bounds, deadline: float
) -> AsyncGenerator[Item, None]:
    """The pieces, or `UpstreamError` when they take too long or grow too large."""
    size = 0
    ended = False
    clock = _Clock(min(time.monotonic() + bounds.first_token, deadline))
    source = openai.stream(model, messages, max_tokens=bounds.max_tokens, connect_seconds=bounds.connect)
    try:
        async with aclosing(source) as pieces:
            while True:
                try:
                    piece = await clock.wait_for(pieces)
                except StopAsyncIteration:
                    return
                except UpstreamError:
                    if ended:
                        return  # whatever befalls the connection now, the answer is whole
                    raise
                if isinstance(piece, Piece):
                    size += len(piece.text) if piece.text.isascii() else len(piece.text.encode())
                    if size > bounds.size:
                        raise UpstreamError("the answer grew too long", theirs=False)
                yield piece
                if isinstance(piece, Piece):  # only text puts it off: counts and comments are no answer
                    clock.due = min(time.monotonic() + bounds.between_tokens, deadline)
                elif isinstance(piece, Ended):
                    ended = True
                    clock.due = min(time.monotonic() + USAGE_SECONDS, deadline)
    finally:
        clock.stop()


class _Clock:
    """Time limits for one wait after the other, as `asyncio.timeout` has, with one timer instead of one for each."""

    def __init__(self, due: float) -> None:
        self.due = due  # on the clock of `time.monotonic`
        self._waiting: asyncio.Task[Any] | None = None
        self._rung = False
        self._timer = asyncio.get_running_loop().call_later(due - time.monotonic(), self._ring)

    async def wait_for(self, pieces: AsyncGenerator[Item, None]) -> Item:
        """The next piece. Raises `UpstreamError` when it does not come in time."""
        self._waiting = asyncio.current_task()
        try:
            return await anext(pieces)
        except asyncio.CancelledError:
            if not self._rung or (self._waiting and self._waiting.uncancel()):
                raise  # somebody else cancelled, too
            raise UpstreamError("the model server took too long") from None
        finally:
            self._waiting = None

    def stop(self) -> None:
        """No longer ring."""
        self._timer.cancel()

    def _ring(self) -> None:
        left = self.due - time.monotonic()
        if left > 0 or self._waiting is None:  # put off meanwhile, or it is the reader who takes long
            self._timer = asyncio.get_running_loop().call_later(left if left > 0 else 1.0, self._ring)
        else:
            self._rung = True
            self._waiting.cancel()
