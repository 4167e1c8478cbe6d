"""Streamed responses that no proxy buffers, and pieces that are sent at once."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any

from django.http import StreamingHttpResponse


class PieceResponse(StreamingHttpResponse):
    """A response that sends each piece at once. The iterator must not raise: the client would wait forever.

    `pieces` can be sent without the response, which would be in memory until their end.
    """

    def __init__(self, pieces: AsyncIterator[bytes], headers: Mapping[str, str]) -> None:
        own = {
            "Cache-Control": "no-store, no-transform",
            "X-Accel-Buffering": "no",  # nginx
            "Content-Encoding": "identity",  # keeps compressing middleware off
        }
        super().__init__(pieces, headers={**headers, **own})
        self.pieces = pieces


SendNow = Callable[[Callable[[], Iterable[bytes]]], bool]


def find_send_now(scope: Mapping[str, Any]) -> SendNow:
    """The function of our own server that sends pieces of a running stream at once, without a turn of the event loop.

    It is given a function that builds the pieces: of an HTTP body, or the text messages of a socket. It returns False,
    without calling that, if nothing can be sent now. Call it only while the server waits for the next piece. With
    another server it never sends.
    """
    send_now: SendNow = scope.get("extensions", {}).get("docsite.send_now", lambda build: False)
    return send_now
