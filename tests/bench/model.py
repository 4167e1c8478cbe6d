"""The fake model server of the benchmark: tokens at a set pace, each carrying the moment it was sent.

    python -m tests.bench.model PORT

A token's text is `~` and seven hexadecimal digits: microseconds of CLOCK_MONOTONIC, which all processes of a host
share, modulo 2**28 (268 s). So a reader on this host knows how long each token was under way, whoever relayed it.

`POST /plan` sets what the completions from now on do and forgets what was seen; `POST /end` ends those that run;
`GET /seen` tells what happened since the plan. One connection serves many requests, as real model servers do.
"""

import asyncio
import json
import random
import re
import sys
import time
from collections import deque
from dataclasses import asdict, dataclass, field
from typing import Any

_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream; charset=utf-8\r\nTransfer-Encoding: chunked\r\n\r\n"
_CHUNK = (
    b'data: {"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,'
    b'"model":"bench","choices":[%s]}\n\n'
)
_CITATION = b".\\nYes [1]."  # of the first passage; a claim of one word is not judged
_BEFORE, _AFTER = (_CHUNK % b'{"index":0,"delta":{"content":"%s"},"finish_reason":null}').split(b"%s")


@dataclass
class Plan:
    """How an answer is written."""

    rate: float = 0.0  # tokens per second; 0: as fast as they are read
    tokens: int = 0  # 0: until `POST /end`
    pad: int = 0  # characters that each token has beside its stamp
    wait: float = 0.0  # seconds of silence before the first token


@dataclass
class Seen:
    """What happened since the plan was set. Times are nanoseconds of CLOCK_MONOTONIC."""

    started: int = 0
    whole: int = 0  # answers that were written to their end
    sent: int = 0  # tokens
    left: list[tuple[int, list[int]]] = field(default_factory=list)  # closed by the reader at; last tokens sent at


class Model:
    """The server's state, shared by its connections."""

    plan = Plan()
    seen = Seen()
    running: set["Connection"] = set()  # noqa: RUF012  # one model per process

    @classmethod
    def control(cls, path: bytes, body: bytes) -> dict[str, Any]:
        """Answer a request of the benchmark itself."""
        if path == b"/plan":
            cls.plan, cls.seen = Plan(**json.loads(body)), Seen()
        elif path == b"/end":
            for connection in list(cls.running):
                connection.end()
        return {**asdict(cls.seen), "open": len(cls.running)}


class Connection(asyncio.Protocol):
    """One connection, one request at a time."""

    transport: asyncio.Transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self.loop = asyncio.get_running_loop()
        self.buffer = b""
        self.paused = self.waiting = False
        self.timer: asyncio.Handle | None = None

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, blank, body = self.buffer.partition(b"\r\n\r\n")
        length = _LENGTH.search(head)
        if not blank or (length and len(body) < int(length[1])):
            return
        self.buffer = b""
        path = head.split(b" ", 2)[1]
        if path.endswith(b"/chat/completions"):
            self.begin()
        else:
            answer = json.dumps(Model.control(path, body)).encode()
            self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(answer), answer))

    def begin(self) -> None:
        """Write the head at once and the first token when the plan says so."""
        self.plan, self.seen = Model.plan, Model.seen
        self.seen.started += 1
        Model.running.add(self)
        self.count = 0
        self.times: deque[int] = deque(maxlen=300)
        self.pad = b"x" * self.plan.pad
        self.transport.write(_HEAD)
        if self.plan.wait:
            self.timer = self.loop.call_later(self.plan.wait, self.tick)
        else:
            self.tick()

    def tick(self) -> None:
        """Send one token and set the clock for the next."""
        if self.paused:
            self.waiting = True
            return
        now = time.monotonic_ns()
        self.chunk(b"%s~%07x%s%s" % (_BEFORE, now // 1000 & 0xFFFFFFF, self.pad, _AFTER))
        self.times.append(now)
        self.count += 1
        self.seen.sent += 1
        if self.count == self.plan.tokens:
            self.end()
        elif not self.plan.rate:
            self.timer = self.loop.call_soon(self.tick)
        else:
            if self.count == 1:  # streams that begin together must not send together
                self.origin = self.loop.time() - random.random() / self.plan.rate
            self.timer = self.loop.call_at(self.origin + self.count / self.plan.rate, self.tick)

    def chunk(self, data: bytes) -> None:
        """One server-sent event as one chunk of HTTP."""
        self.transport.write(b"%x\r\n%s\r\n" % (len(data), data))

    def end(self) -> None:
        """Write the end of the answer, which cites a passage; the connection stays for the next request."""
        self.stop()
        self.chunk(b"%s%s%s" % (_BEFORE, _CITATION, _AFTER))
        self.chunk(_CHUNK % b'{"index":0,"delta":{},"finish_reason":"stop"}')
        usage = b'],"usage":{"prompt_tokens":100,"completion_tokens":%d,"total_tokens":%d}' % (
            self.count,
            self.count + 100,
        )
        self.chunk((_CHUNK % b"").replace(b"]", usage))
        self.chunk(b"data: [DONE]\n\n")
        self.transport.write(b"0\r\n\r\n")
        self.seen.whole += 1

    def stop(self) -> None:
        """Forget the clock."""
        Model.running.discard(self)
        self.waiting = False
        if self.timer:
            self.timer.cancel()

    def pause_writing(self) -> None:
        self.paused = True

    def resume_writing(self) -> None:
        self.paused = False
        if self.waiting:
            self.waiting = False
            self.tick()

    def connection_lost(self, exc: Exception | None) -> None:
        if self in Model.running:
            self.stop()
            self.seen.left.append((time.monotonic_ns(), list(self.times)))


async def main(port: int) -> None:
    """Serve until killed."""
    server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", port, backlog=1024)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
