"""A model server's stream, bounded in time and size, as pieces that never raise."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass

from assistant.upstream import Model, Piece, UpstreamError, Usage, openai

logger = logging.getLogger(__name__)

FIRST_TOKEN_SECONDS = 20.0
BETWEEN_TOKENS_SECONDS = 20.0
WHOLE_ANSWER_SECONDS = 120.0
LARGEST_ANSWER = 256 * 1024  # bytes of UTF-8


@dataclass(frozen=True)
class Broken:
    """The stream failed; always the last item."""

    reason: str


async def stream(model: Model, messages: list[dict[str, str]]) -> AsyncGenerator[Piece | Usage | Broken, None]:
    """Yield pieces, then end, or end with one `Broken`.

    Cancellation (the reader left) passes through and closes the upstream
    request on its way.
    """
    size = 0
    seconds = FIRST_TOKEN_SECONDS
    deadline = asyncio.get_running_loop().time() + WHOLE_ANSWER_SECONDS
    async with aclosing(openai.stream(model, messages)) as pieces:
        while True:
            left = deadline - asyncio.get_running_loop().time()
            try:
                async with asyncio.timeout(min(seconds, left)):
                    piece = await anext(pieces)
            except StopAsyncIteration:
                return
            except TimeoutError:
                yield Broken("the model server took too long")
                return
            except UpstreamError as failure:
                yield Broken(failure.reason)
                return
            except Exception:  # the boundary to what we do not control: whatever it was, the next rung goes on
                logger.exception("The model server's stream could not be read.")
                yield Broken("the model server could not be read")
                return
            if isinstance(piece, Piece):
                seconds = BETWEEN_TOKENS_SECONDS
                size += len(piece.text.encode("utf-8", "replace"))
                if size > LARGEST_ANSWER:
                    yield Broken("the answer grew too long")
                    return
            yield piece
