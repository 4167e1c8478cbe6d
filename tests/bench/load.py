"""Readers of streamed answers, light enough to leave the core to the relay: raw sockets, no parsing beyond need.

All endpoints are read in one way: tokens are found in the bytes by their stamps (see `tests.bench.model`), so it does
not matter how a relay frames or joins them. Times are nanoseconds of CLOCK_MONOTONIC.
"""

import asyncio
import base64
import itertools
import json
import os
import re
import socket
import time
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

STAMP = re.compile(rb"~([0-9a-f]{7})")
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
WRAP = 1 << 28  # microseconds
QUESTION = "How do I calibrate the feeder of a label printer?"
PATIENCE = 20.0  # seconds for one step of one reader

_numbers = itertools.count(1)
_run = os.getpid()


class Broken(Exception):
    """A relay did not answer as it should; says what came instead."""


@dataclass(frozen=True)
class Endpoint:
    """An address where a question is answered with a stream."""

    kind: str  # "openai", "v1", "v2" or "socket"
    port: int
    path: str
    key: str
    questions: Sequence[str] = (QUESTION,)  # asked in turns

    def body(self) -> dict[str, Any]:
        """A question that the documentation answers; a new thread each time."""
        number = next(_numbers)
        question = self.questions[number % len(self.questions)]
        if self.kind == "openai":
            return {"model": "bench", "stream": True, "messages": [{"role": "user", "content": question}]}
        text = {"content": question} if self.kind == "v1" else {"parts": [{"type": "text", "text": question}]}
        asked = {"fp": "anonymous", "messages": [{"id": "m1", "role": "user", **text}]}
        if self.kind != "v1":
            asked |= {"id": f"chat-{_run}-{number}", "trigger": "submit-message"}
        return {"type": "ask", "key": self.key, **asked} if self.kind == "socket" else asked


@dataclass(frozen=True)
class Marks:
    """Bytes that tell how far an answer is."""

    end: bytes
    failed: bytes
    searching: bytes = b""
    found: bytes = b""


_V2 = Marks(b'"type":"finish"', b'"type":"error"', b'"tool-input-available"', b'"tool-output-available"')
MARKS = {
    "openai": Marks(b"data: [DONE]", b'data: {"error"'),
    "v1": Marks(b'\nd:{"', b'\n3:"', b'9:{"toolCallId"', b'a:{"toolCallId"'),
    "v2": _V2,
    "socket": _V2,
}
LONGEST_MARK = 32


class Answer:
    """What a reader saw of one answer."""

    def __init__(self, kind: str) -> None:
        self.marks = MARKS[kind]
        self.asked = self.first = self.searching = self.found = 0
        self.sent = array("q")  # stamp of each token, microseconds modulo WRAP
        self.got = array("q")  # when it arrived
        self.whole = False
        self.failure = ""
        self.began: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._rest = b""

    def take(self, now: int, data: bytes) -> None:
        """Read the next bytes; a mark or a stamp may have been cut by their beginning."""
        data = self._rest + data
        after = 0
        for stamp in STAMP.finditer(data):
            self.sent.append(int(stamp[1], 16))
            self.got.append(now)
            after = stamp.end()
        if not self.first:
            if not self.found and self.marks.found:
                if not self.searching and self.marks.searching in data:
                    self.searching = now
                if self.marks.found in data:
                    self.found = now
            if self.sent:
                self.first = now
                self._set(self.began)
        if self.marks.end in data:
            self.whole = True
        elif self.marks.failed in data:
            self.fail(repr(data[-300:]))
        self._rest = data[max(after, len(data) - LONGEST_MARK) :]

    def fail(self, reason: str) -> None:
        """Note why this is no good answer; the first reason counts."""
        self.failure = self.failure or reason

    def end(self) -> None:
        """Nothing more will come."""
        if not self.whole:
            self.fail("the answer has no end")
        self._set(self.began)
        self._set(self.ended)

    @staticmethod
    def _set(future: "asyncio.Future[None]") -> None:
        if not future.done():
            future.set_result(None)

    @property
    def search(self) -> int:
        """Nanoseconds between the tool's input and its output, as they arrived."""
        return self.found - self.searching if self.found else 0

    def delays(self, since: int = 0, until: int = 1 << 63) -> list[float]:
        """Milliseconds that each token was under way, of those that arrived in the window."""
        return [
            ((got // 1000 - sent) % WRAP) / 1000
            for sent, got in zip(self.sent, self.got, strict=True)
            if since <= got < until
        ]


class Reader(asyncio.Protocol):
    """One connection to an endpoint. One question at a time; HTTP connections are kept alive as servers allow."""

    transport: asyncio.Transport

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.answer: Answer | None = None
        self.head = b""  # of the response, while it is incomplete
        self.reading_head = False
        self.frames = b""
        self.lost = False
        self.opened: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    @classmethod
    async def open(cls, endpoint: Endpoint, *, small: bool = False) -> "Reader":
        """Connect. `small` keeps the kernel from reading ahead for a reader that stops."""
        sock = socket.socket()
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if small:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(PATIENCE):
                await loop.sock_connect(sock, ("127.0.0.1", endpoint.port))
                _, reader = await loop.create_connection(lambda: cls(endpoint), sock=sock)
                if endpoint.kind == "socket":
                    reader._handshake()
                    await reader.opened
        except BaseException:
            sock.close()
            raise
        return reader

    def ask(self) -> Answer:
        """Send a question; the answer fills itself."""
        body = json.dumps(self.endpoint.body()).encode()
        self.answer = answer = Answer(self.endpoint.kind)
        if self.lost:
            answer.fail("the connection was closed")
            answer.end()
            return answer
        if self.endpoint.kind == "socket":
            message = _frame(1, body)
        else:
            self.reading_head = True
            message = _request(self.endpoint, "POST", body)
        answer.asked = time.monotonic_ns()
        self.transport.write(message)
        return answer

    def stop(self) -> None:
        """What the widget's stop button sends."""
        self.transport.write(_frame(1, b'{"type":"stop"}'))

    def close(self) -> None:
        """Leave without a word."""
        self.transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        now = time.monotonic_ns()
        if self.reading_head or not (self.opened.done() or self.endpoint.kind != "socket"):
            data = self._read_head(data)
        if self.endpoint.kind == "socket":
            data = self._read_frames(data)
        if not data or self.answer is None:
            return
        self.answer.take(now, data)
        ended = self.answer.failure or (
            self.answer.whole if self.endpoint.kind == "socket" else data.endswith(b"0\r\n\r\n") and self.answer.whole
        )
        if ended:
            self._end()

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost = True
        if not self.opened.done():
            if self.endpoint.kind == "socket":
                self.opened.set_exception(Broken(f"the socket was not opened: {self.head[:200]!r}"))
            else:
                self.opened.cancel()
        self._end()

    def _end(self) -> None:
        answer, self.answer = self.answer, None
        if answer:
            answer.end()

    def _read_head(self, data: bytes) -> bytes:
        """Check the status line; returns what follows the head."""
        self.head += data
        head, blank, rest = self.head.partition(b"\r\n\r\n")
        if not blank:
            return b""
        self.head, self.reading_head = b"", False
        status = head.split(b" ", 2)[1]
        if self.endpoint.kind == "socket":
            if status == b"101":
                self.opened.set_result(None)
            else:
                self.opened.set_exception(Broken(f"{head[:200]!r}"))
                self.transport.abort()
        elif status != b"200" and self.answer:
            self.answer.fail(f"{status.decode()} {rest[:300]!r}")
            self.transport.abort()
            return b""
        return rest

    def _handshake(self) -> None:
        key = base64.b64encode(os.urandom(16)).decode()
        self.transport.write(
            f"GET {self.endpoint.path} HTTP/1.1\r\nHost: 127.0.0.1:{self.endpoint.port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )

    def _read_frames(self, data: bytes) -> bytes:
        """The payloads of the text frames that are complete (RFC 6455 section 5.2); pings are answered."""
        data = self.frames + data
        at, texts = 0, []
        while len(data) - at >= 2:
            size, body = data[at + 1] & 0x7F, at + 2
            if size >= 126:
                width = 2 if size == 126 else 8
                size, body = int.from_bytes(data[body : body + width]), body + width
            if len(data) < body + size:
                break
            payload = data[body : body + size]
            match data[at] & 0x0F:
                case 1:
                    texts.append(payload)
                case 8:
                    self.transport.abort()
                case 9:
                    self.transport.write(_frame(10, payload))
            at = body + size
        self.frames = data[at:]
        return b"\n".join(texts)


def _frame(kind: int, payload: bytes) -> bytes:
    """A client's frame. The mask is all zeros: it guards proxies, of which there are none here."""
    size = len(payload)
    length = bytes([0x80 | size]) if size < 126 else b"\xfe" + size.to_bytes(2)
    return bytes([0x80 | kind]) + length + bytes(4) + payload


def _request(endpoint: Endpoint, method: str, body: bytes) -> bytes:
    return (
        f"{method} {endpoint.path} HTTP/1.1\r\nHost: 127.0.0.1:{endpoint.port}\r\n"
        f"Authorization: Bearer {endpoint.key}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\nAccept: */*\r\n\r\n"
    ).encode() + body


class Caller:
    """A kept-alive connection for plain JSON requests."""

    def __init__(self, port: int, key: str = "") -> None:
        self.port, self.key = port, key
        self.streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def post(self, path: str, body: Any = None) -> Any:
        """The JSON of a 200; anything else raises `Broken`."""
        request = _request(Endpoint("json", self.port, path, self.key), "POST", json.dumps(body).encode())
        async with asyncio.timeout(PATIENCE):
            try:
                head, content = await self._exchange(request)
            except (asyncio.IncompleteReadError, ConnectionError):  # servers close what was idle for a while
                self.close()
                head, content = await self._exchange(request)
        if head.split(b" ", 2)[1] != b"200":
            raise Broken(f"{path}: {head[:60]!r} {content[:200]!r}")
        return json.loads(content)

    async def _exchange(self, request: bytes) -> tuple[bytes, bytes]:
        """Head and content of the response."""
        if self.streams is None:
            self.streams = await asyncio.open_connection("127.0.0.1", self.port)
        reader, writer = self.streams
        writer.write(request)
        head = await reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        return head, await reader.readexactly(int(length[1]) if length else 0)

    def close(self) -> None:
        """Close the connection."""
        if self.streams:
            self.streams[1].close()
            self.streams = None
