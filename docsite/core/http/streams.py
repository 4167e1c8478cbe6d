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
    """How to send at once, which saves a turn of the event loop, and whether all has arrived. Our own server offers it.

    `send_now(build)` calls `build`, sends what it returns (pieces of an HTTP body, or text messages of a socket) and
    returns True; False, without calling it, if nothing can be sent now. Call it only while the server waits for the
    next piece. `is_delivered()` says whether an HTTP client has got all that was sent. Elsewhere, and for sockets, it
    is always True.
    """

    send_now: Callable[[Callable[[], Iterable[bytes]]], bool] = lambda build: False
    is_delivered: Callable[[], bool] = lambda: True


def find_connection(scope: Mapping[str, Any]) -> Connection:
    """The connection of a request or a socket."""
    found: Connection = scope.get("extensions", {}).get("docsite.connection", Connection())
    return found
