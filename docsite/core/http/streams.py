"""Streamed responses that no proxy buffers, and the connection that they go to."""

from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any, NamedTuple

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


class Connection(NamedTuple):
    """What our own server offers to the sender of a stream. Another server never sends at once, and cannot tell.

    `send_now` saves a turn of the event loop. It is given a function that builds pieces of an HTTP body, or text
    messages of a socket, and sends them. It returns False, without calling that, if nothing can be sent now. Call it
    only while the server waits for the next piece. `is_delivered` says whether the client has got all that was sent.
    """

    send_now: Callable[[Callable[[], Iterable[bytes]]], bool] = lambda build: False
    is_delivered: Callable[[], bool] = lambda: True


def find_connection(scope: Mapping[str, Any]) -> Connection:
    """The connection of a request or a socket."""
    found: Connection = scope.get("extensions", {}).get("docsite.connection", Connection())
    return found
