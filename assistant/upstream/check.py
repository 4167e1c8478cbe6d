"""Tries a model server out: one request, with times. `manage.py checkmodel` judges it."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

from assistant.upstream import Delta, EndOfText, Model, Progress, ToolCalls, UpstreamError, Usage, errors
from assistant.upstream.formats import FORMATS
from assistant.upstream.relay import Bounds


@dataclass
class Trial:
    """What a model did with a request. Times in seconds since it was sent; None where it did not happen."""

    text: str = ""
    pieces: int = 0  # in which the text arrived
    first_sign: float | None = None  # of text, thoughts or a tool call
    first_text: float | None = None
    longest_pause: float = 0.0  # after the first sign
    seconds: float = 0.0
    end_reason: str = ""
    usage: Usage | None = None
    calls: ToolCalls | None = None

    @property
    def tokens_per_second(self) -> float:
        """How fast the model wrote its text and thoughts. Estimated where the server does not count."""
        tokens = self.usage.completion_tokens if self.usage else len(self.text) / 4
        return tokens / max(self.seconds - (self.first_sign or 0.0), 0.001)


async def try_out(
    model: Model, messages: Sequence[dict[str, Any]], bounds: Bounds, tools: Sequence[dict[str, Any]] = ()
) -> Trial:
    """Send one request and read its whole answer. Of the limits only that of a whole answer holds.

    Raises `UpstreamError`.
    """
    trial = Trial()
    began = last = time.monotonic()
    source = FORMATS[model.format].stream(
        model, messages, max_tokens=bounds.max_tokens, connect_seconds=bounds.connect, tools=tools
    )
    try:
        async with asyncio.timeout(bounds.whole_answer), aclosing(source) as items:
            async for item in items:
                now = time.monotonic()
                if isinstance(item, Delta | Progress):
                    if trial.first_sign is None:
                        trial.first_sign = now - began
                    else:
                        trial.longest_pause = max(trial.longest_pause, now - last)
                    last, trial.seconds = now, now - began
                if isinstance(item, Delta):
                    trial.first_text = trial.first_text or now - began
                    trial.text += item.text
                    trial.pieces += 1
                elif isinstance(item, ToolCalls):
                    trial.calls = item
                elif isinstance(item, EndOfText):
                    trial.end_reason = item.reason
                elif isinstance(item, Usage):
                    trial.usage = item
    except TimeoutError:
        raise UpstreamError("the model server took too long", advice=errors.SLOW) from None
    return trial
