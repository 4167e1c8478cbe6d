"""Connections that end requests which do not arrive: too slow, too large or no HTTP.

Daphne gives a request to the application when its whole body is there, and has no
limit of its own for the time and the size until then.
"""

import asyncio
import json
from collections.abc import Callable, Iterable
from functools import partial
from http import HTTPStatus
from io import BytesIO
from typing import Any

from daphne.http_protocol import HTTPFactory, WebRequest
from daphne.server import reactor
from daphne.ws_protocol import WebSocketProtocol
from django.conf import settings
from twisted.internet.interfaces import IAddress
from twisted.web.http import HTTPChannel
from twisted.web.http_headers import Headers

from docsite.core import context
from docsite.core.access import uploads

REQUEST_SECONDS = 30.0  # for a request to arrive whole
REQUEST_PAUSE_SECONDS = 10.0  # for the first byte on a connection, for headers, and between two pieces of a body
MAX_UNSENT_BYTES = 256 * 1024  # on one connection; above this the sender waits
MAX_FRAMES = 256  # of one message; browsers send one, or one for each 16 KiB
MAX_WAITING_MESSAGES = 16  # of a socket; above this its client sends faster than it is served
GOING_AWAY = 1001  # the close code of a server that ends (RFC 6455 §7.4.1)
LINGER_SECONDS = 5.0  # after an early response: closing while the client still sends would destroy the response
_CHUNK = b"%x\r\n%b\r\n"  # of a response whose length is unknown (RFC 9112 §7.1)
_HTTPChannel: Any = HTTPChannel  # Twisted has types for parts of it only


class Request(WebRequest):  # type: ignore[misc]  # Daphne has no types
    """A request whose body is counted as it arrives."""

    body_too_large = False
    upload: uploads.Upload | None = None  # where its body goes instead of memory

    def __init__(self, channel: "Connection", *arguments: Any) -> None:
        super().__init__(channel, *arguments)
        self._parsePOSTFormSubmission = False  # Django parses forms; Twisted would do it in the event loop

    def gotLength(self, length: int | None) -> None:
        """Begin the body, in memory: Twisted would open a file in the event loop."""
        self.content = BytesIO()

    def handleContentChunk(self, data: bytes) -> None:
        """Store a piece of the body."""
        if self.upload:
            self.upload.add(data)
        else:
            super().handleContentChunk(data)
        size = self.upload.size if self.upload else self.content.tell()
        self.body_too_large |= size > self.max_body_bytes

    @property
    def max_body_bytes(self) -> int:
        """How large its body may be."""
        return uploads.MAX_BYTES if self.upload else settings.DATA_UPLOAD_MAX_MEMORY_SIZE

    def process(self) -> None:
        """Pass the request to the application; one with an upload when the file is complete."""
        if self.upload:
            self._processing = asyncio.ensure_future(self._process_upload(self.upload))
        else:
            super().process()

    async def _process_upload(self, upload: uploads.Upload) -> None:
        await upload.finish()
        if not self._disconnected:
            super().process()

    def handle_reply(self, message: dict[str, Any]) -> None:
        """Send a message of the application. A piece of a stream goes a short way: most pieces are single tokens."""
        body: bytes = message.get("body", b"")
        if body and message.get("more_body") and self._is_streaming:
            self.channel.transport.write(_CHUNK % (len(body), body))
        else:
            if body and self.method == b"HEAD":  # a response without a body, whatever the application sends
                message = {**message, "body": b""}
            super().handle_reply(message)
            if self._is_streaming:  # for long; the headers of both sides have done their work
                self.requestHeaders, self.responseHeaders = Headers(), Headers()

    def send_now(self, build: Callable[[], Iterable[bytes]]) -> bool:
        """Send a piece of a stream, as `docsite.core.http.streams` describes it."""
        if not self._is_streaming:
            return False
        transport = self.channel.transport
        if count_unsent(transport) > MAX_UNSENT_BYTES:
            return False
        if piece := b"".join(build()):  # an empty piece would end the response
            transport.write(_CHUNK % (len(piece), piece))
        return True

    @property
    def _is_streaming(self) -> bool:
        """Whether the beginning of a stream is sent, and its end is not."""
        return bool(self.chunked) and not (self.finished or self._disconnected or self.channel is None)

    def finish(self) -> None:
        """End the response."""
        super().finish()
        self._forget_upload()

    def connectionLost(self, reason: Any) -> None:
        """End the request with its connection."""
        super().connectionLost(reason)
        self._forget_upload()

    def _forget_upload(self) -> None:
        if self.upload:
            self.upload.close()

    def basic_error(self, status: int, status_text: bytes, body: str) -> None:
        """Send an error for which there is no application. Daphne would send HTML."""
        if self._response_started:
            self.channel.transport.abortConnection()  # its reader would wait for the rest
            return
        headers, content = _build_error(
            status, f"{body.rstrip('.')}.", "request: is not valid" if status == 400 else ""
        )
        self.handle_reply({"type": "http.response.start", "status": status, "headers": headers.items()})
        self.handle_reply({"type": "http.response.body", "body": content})


class Connection(_HTTPChannel):  # type: ignore[misc]
    """One connection of a client, with deadlines for each request on it.

    Its first byte has `REQUEST_PAUSE_SECONDS` to arrive.
    A request has `REQUEST_SECONDS` to arrive. Its headers have `REQUEST_PAUSE_SECONDS`,
    and so has each pause within its body. A request that is late, or is no HTTP, gets an
    error as JSON, then the connection is closed. A request with a body over the
    limit goes to the application without the rest of its body; the application
    refuses it (413), or for another reason first, such as its key (401).
    """

    _is_closing = False  # after the response; until then, whatever arrives is dropped
    _deadline: float | None = None  # of the request that is arriving
    _last_data = 0.0
    _keep_alive_seconds: float | None = None  # between two requests; set while nothing has arrived yet
    _timer: Any = None
    length: int | None

    def connectionMade(self) -> None:
        """Begin. A connection on which nothing arrives is closed as early as one on which half a header does."""
        super().connectionMade()
        self._keep_alive_seconds = self.setTimeout(REQUEST_PAUSE_SECONDS)

    def dataReceived(self, data: bytes) -> None:
        """Take bytes of the client."""
        if self._is_closing:
            return
        if self._keep_alive_seconds is not None:
            self.setTimeout(self._keep_alive_seconds)
            self._keep_alive_seconds = None
        self._last_data = reactor.seconds()
        super().dataReceived(data)
        self._watch()

    def rawDataReceived(self, data: bytes) -> None:
        """Take bytes of a body, or keep those of the next request."""
        super().rawDataReceived(data)
        if self._handlingRequest or self._is_closing:
            return
        chunk_size = getattr(self._transferDecoder, "length", 0)
        if self.requests and (self.requests[-1].body_too_large or chunk_size > self.requests[-1].max_body_bytes):
            self._skip_body()
            self.allContentReceived()

    def allHeadersReceived(self) -> None:
        """Begin the body; not if it would be too large."""
        super().allHeadersReceived()
        is_upload = uploads.is_upload(self._command, self._path)
        limit = uploads.MAX_BYTES if is_upload else settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        if self.length is not None and self.length > limit:
            self._skip_body()
            self.length = 0  # no body follows, as the line parser sees it
        elif is_upload:
            self._begin_upload(self.requests[-1])

    def _begin_upload(self, request: Request) -> None:
        """Let the body go to the disk, and give it more time than others. Its pauses may not be longer."""
        names = {"HTTP_AUTHORIZATION": b"authorization", "HTTP_X_FORWARDED_FOR": b"x-forwarded-for"}
        lines = {key: request.requestHeaders.getRawHeaders(name) or [] for key, name in names.items()}
        headers = {key: b",".join(values).decode("latin-1") for key, values in lines.items() if values}
        headers["REMOTE_ADDR"] = str(getattr(self.transport.getPeer(), "host", ""))
        check = partial(uploads.check_sender, self._path, headers)
        request.upload = uploads.Upload(check, self._networkProducer, partial(self._refuse_upload, request))
        self._end_watch()
        self._deadline = reactor.seconds() + uploads.MAX_SECONDS
        self._timer = reactor.callLater(REQUEST_PAUSE_SECONDS, self._check_time)

    def _refuse_upload(self, request: Request) -> None:
        """Let the application answer now, without the rest of the body, unless all of it has arrived."""
        if not self._handlingRequest and not self._is_closing and request in self.requests:
            self._skip_body()
            self.allContentReceived()

    def _maybeChooseTransferDecoder(self, header: bytes, data: bytes) -> bool:
        if header == b"Content-Length" and data.isdigit():
            data = data.lstrip(b"0")[:20] or b"0"  # Python refuses to parse thousands of digits
        chosen: bool = super()._maybeChooseTransferDecoder(header, data)
        return chosen

    def _skip_body(self) -> None:
        """Let the application answer now, and close the connection after that."""
        self.requests[-1].body_too_large = True
        self.persistent = False
        self._is_closing = True
        self._buffer = b""
        self.requests[-1].responseHeaders.setRawHeaders(b"Connection", [b"close"])

    def _watch(self) -> None:
        """Set or remove the deadline, as a request is arriving or not."""
        if self._handlingRequest or self._is_closing or not (self.requests or self._buffer):
            self._end_watch()
        elif self._deadline is None:
            self._deadline = reactor.seconds() + REQUEST_SECONDS
            self._timer = reactor.callLater(REQUEST_PAUSE_SECONDS, self._check_time)

    def _check_time(self) -> None:
        pause = REQUEST_PAUSE_SECONDS
        assert self._deadline is not None
        now, until = reactor.seconds(), self._deadline
        has_headers = not self.line_mode
        if has_headers:
            until = min(until, self._last_data + pause)
        if not has_headers or until <= now:
            self._timer = None
            self._refuse(408, "The request did not arrive in time.")
        else:
            self._timer = reactor.callLater(until - now, self._check_time)

    def _end_watch(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = self._deadline = None

    def connectionLost(self, reason: Any) -> None:
        """Forget the connection."""
        self._end_watch()
        super().connectionLost(reason)

    def lineLengthExceeded(self, line: bytes) -> None:
        """Refuse a request line or a header that is too long."""
        if self.requests and not self._handlingRequest:
            self._refuse(431, "A header is too long.")
        else:
            self._refuse(414, "The address is too long.")

    def _respondToBadRequestAndDisconnect(self) -> None:
        if self._receivedHeaderSize > self.totalHeadersSize or self._receivedHeaderCount > self.maxHeaders:
            self._refuse(431, "The request has too many headers.")
        else:
            self._refuse(400, "The request is not valid.", "request: is not valid HTTP/1.1")

    def _refuse(self, status: int, sentence: str, detail: str = "") -> None:
        """Send an error, in the form that all errors of the API have, and close the connection."""
        if self._is_closing:
            return
        self._is_closing = True
        self._buffer = b""
        self._end_watch()
        headers, content = _build_error(status, sentence, detail)
        headers[b"Connection"] = b"close"
        lines = [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}".encode()]
        lines += [name + b": " + value for name, value in headers.items()]
        self.transport.write(b"\r\n".join([*lines, b"", content]))
        self.loseConnection()

    def loseConnection(self) -> None:
        """Close after all is sent. A client that still sends may read the response first."""
        if not self._is_closing:
            super().loseConnection()
            return
        self._networkProducer.unregisterProducer()
        self.transport.loseWriteConnection()
        reactor.callLater(LINGER_SECONDS, self.transport.abortConnection)


def _build_error(status: int, sentence: str, detail: str) -> tuple[dict[bytes, bytes], bytes]:
    """The headers and the body of an error, in the form that all errors of the API have."""
    error: dict[str, Any] = {"error": sentence} | ({"details": [{"message": detail}]} if detail else {})
    content = json.dumps(error).encode()
    headers = {
        b"Content-Type": b"application/json",
        b"Content-Length": b"%d" % len(content),
        b"Cache-Control": b"no-store",
        b"X-Content-Type-Options": b"nosniff",
        b"X-Request-Id": context.create_request_id().encode(),
    }
    return headers, content


class ConnectionFactory(HTTPFactory):  # type: ignore[misc]  # Daphne has no types
    """Builds a `Connection` for each client. HTTP/2 is left to proxies."""

    protocol = Connection

    def buildProtocol(self, address: IAddress | None) -> Connection:
        """The protocol of a new connection."""
        connection: Connection = super().buildProtocol(address)
        connection.requestFactory = Request  # the factory of Daphne has set its own class
        return connection


class Socket(WebSocketProtocol):  # type: ignore[misc]  # Daphne has no types
    """A WebSocket whose messages do not pile up: Daphne would keep all that wait for the application."""

    _frames = 0  # of the message that arrives

    def __init__(self) -> None:
        super().__init__()
        self.request_id = context.create_request_id()

    def sendHttpErrorResponse(self, code: int, reason: str, responseHeaders: Any = None) -> None:
        """Refuse the socket before it opens."""
        super().sendHttpErrorResponse(code, reason, [*(responseHeaders or ()), ("X-Request-Id", self.request_id)])

    def announce_end(self) -> None:
        """Close an open socket because the server ends. Autobahn's `sendClose` refuses this code to applications."""
        if self.state == self.STATE_OPEN:
            self.sendCloseFrame(code=GOING_AWAY)

    def onMessageBegin(self, isBinary: bool) -> None:
        """Begin to count the frames of a message."""
        self._frames = 0
        super().onMessageBegin(isBinary)

    def onMessageFrameBegin(self, length: int) -> None:
        """Count a frame. Closes the connection when a message has too many: each costs as much as a message."""
        self._frames += 1
        if self._frames > MAX_FRAMES:
            self.dropConnection(abort=True)
        else:
            super().onMessageFrameBegin(length)

    def onMessage(self, payload: bytes, isBinary: bool) -> None:
        """Pass a message to the application. Closes the connection when too many wait."""
        if self.application_queue.qsize() >= MAX_WAITING_MESSAGES:
            self.dropConnection(abort=True)
        else:
            super().onMessage(payload, isBinary)

    def onPing(self, payload: bytes) -> None:
        """Reply to a ping. Closes the connection when its client does not read the replies."""
        if count_unsent(self.transport) > MAX_UNSENT_BYTES:
            self.dropConnection(abort=True)
        else:
            super().onPing(payload)

    def send_now(self, build: Callable[[], Iterable[bytes]]) -> bool:
        """Send text messages, as `docsite.core.http.streams` describes it."""
        if self.state != self.STATE_OPEN or count_unsent(self.transport) > MAX_UNSENT_BYTES:
            return False
        for message in build():
            self.sendMessage(message, False)
        return True


def count_unsent(transport: Any) -> int:
    """The number of bytes that were written here and that the kernel has not accepted yet."""
    return len(getattr(transport, "dataBuffer", b"")) + getattr(transport, "_tempDataLen", 0)
