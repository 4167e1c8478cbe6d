"""Generated frames to the widget's socket: no close with 1011, no 5xx, no hang, and it answers afterwards."""

import asyncio
import contextlib
import json
import time
from collections import Counter
from random import Random

import pytest
from websockets.asyncio.client import connect
from websockets.client import ClientProtocol
from websockets.exceptions import ConnectionClosed
from websockets.frames import Close, Opcode
from websockets.http11 import Response
from websockets.uri import parse_uri

from tests.conftest import PATIENCE
from tests.fuzz.conftest import FRAMES, IS_LONG, MAX_SECONDS, SEED
from tests.fuzz.frames import PING, Frames, frame
from tests.fuzz.watch import Watch

SOCKETS = 8  # at once
QUIET_SECONDS = 0.25  # without a message: then the server is done
MAX_FRAMES = 12  # on one socket


class Attack:
    """One socket: its frames, and what came back."""

    def __init__(self, url: str, origin: str) -> None:
        self._protocol = ClientProtocol(parse_uri(url), origin=origin, max_size=None)
        self.statuses: list[int] = []  # of errors on the socket
        self.faults: list[str] = []
        self.close_code = 0
        self._has_pong = False

    async def run(self, frames: list[bytes], random: Random) -> None:
        """Open the socket, send the frames, and wait until the server has seen them all or has closed."""
        uri = self._protocol.uri
        self._reader, self._writer = await asyncio.open_connection(uri.host, uri.port)
        try:
            self._protocol.send_request(self._protocol.connect())
            self._send(b"".join(self._protocol.data_to_send()))
            await self._read_until(lambda: self._protocol.state.name == "OPEN")
            for sent in frames:
                self._send(sent)
                if random.random() < 0.3:
                    await asyncio.sleep(random.choice([0, 0.005, 0.05]))
            self._send(frame(PING, b"the end"))
            if random.random() < 0.9:  # else it leaves at once
                await self._read_until(lambda: self._has_pong)
                await self._read_until_quiet()
        except ConnectionError:
            pass
        finally:
            self._writer.close()
            with contextlib.suppress(ConnectionError):
                await self._writer.wait_closed()

    def _send(self, raw: bytes) -> None:
        if not self._writer.is_closing():
            self._writer.write(raw)

    async def _read_until(self, condition) -> None:
        while not condition() and not self.close_code:
            await self._read_some()

    async def _read_some(self) -> None:
        raw = await self._reader.read(65536)
        if not raw:
            self.close_code = self.close_code or 1006
            return
        self._protocol.receive_data(raw)
        for event in self._protocol.events_received():
            self._note(event)

    async def _read_until_quiet(self) -> None:
        """Messages wait for their turn after the pong."""
        with contextlib.suppress(TimeoutError):
            while not self.close_code:
                async with asyncio.timeout(QUIET_SECONDS):
                    await self._read_some()

    def _note(self, event) -> None:
        if isinstance(event, Response):
            if event.status_code != 101:
                self.faults.append(f"the handshake got {event.status_code}")
        elif event.opcode is Opcode.CLOSE:
            self.close_code = Close.parse(event.data).code
            if self.close_code == 1011:
                self.faults.append("closed with 1011")
        elif event.opcode is Opcode.PONG:
            self._has_pong = event.data == b"the end"
        elif event.opcode is Opcode.TEXT:
            self._note_message(json.loads(event.data))

    def _note_message(self, message: dict) -> None:
        if message["type"] != "error":
            return
        self.statuses.append(message["status"])
        if set(message) - {"type", "errorText", "status", "retryAfter"} or len(message["errorText"]) > 4_000:
            self.faults.append(f"an error of another shape: {str(message)[:200]}")
        if message["status"] >= 500 and message["status"] != 503:
            self.faults.append(f"status {message['status']}: {message['errorText'][:200]}")


@pytest.mark.matrix
async def test_generated_frames_do_not_harm_the_socket(service, project, capsys):
    statuses, closes, faults, slowest = Counter[int](), Counter[int](), [], 0.0
    url = f"{service.ws}/discovery/v1/assistant/{project.domain}/socket"
    random, sent = Random(SEED), 0
    plans: list[tuple[int, list[bytes]]] = []
    while sent < FRAMES:
        frames = Frames(project, random).of_a_socket(MAX_FRAMES)
        plans.append((random.randrange(2**32), frames))
        sent += len(frames)
    free = asyncio.Semaphore(SOCKETS)

    async def attack(number: int, frames: list[bytes]) -> None:
        nonlocal slowest
        async with free:
            begin, one = time.perf_counter(), Attack(url, service.url)
            async with asyncio.timeout(PATIENCE):
                await one.run(frames, Random(number))
            slowest = max(slowest, time.perf_counter() - begin)
        statuses.update(one.statuses)
        closes[one.close_code] += 1
        faults.extend(f"{fault}: {[part[:300] for part in frames]}" for fault in one.faults)

    with Watch(service) as watch:
        await asyncio.gather(*(attack(*plan) for plan in plans))

    if IS_LONG:
        with capsys.disabled():
            print(f"\n{sent} frames on {len(plans)} sockets (seed {SEED}): errors {dict(sorted(statuses.items()))}")  # noqa: T201
            print(f"close codes {dict(sorted(closes.items()))}, slowest socket {slowest:.2f} s")  # noqa: T201
            print(watch.report())  # noqa: T201
    assert faults == [], f"{len(faults)}: " + "\n".join(faults[:20])
    assert slowest < MAX_SECONDS
    assert {400, 401} <= set(statuses)  # others depend on time: an ask that runs gives 409, one that has ended 404
    async with connect(url, origin=service.url, proxy=None) as socket:
        message = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": "How do I install acme?"}]}
        await socket.send(
            json.dumps({"type": "ask", "key": project.assistant_key, "fp": "reader-2", "messages": [message]})
        )
        async with asyncio.timeout(PATIENCE):
            with contextlib.suppress(ConnectionClosed):
                while (last := json.loads(await socket.recv()))["type"] not in ("finish", "error"):
                    pass
    assert last["type"] == "finish"
    log = service.log.read_text()
    assert "Internal error" not in log
    assert "Traceback" not in log, log[-4000:]
