"""Our service over HTTP, on the history that the library has loaded.

Single requests and beacons: one `manage.py serve` on the first core, clients on the last. Batches of views: a process
for each core and the clients wherever there is room.
"""

import asyncio
import json
import os
import re
import secrets
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from tests.bench import relays
from tests.bench.load import Broken
from tests.bench.relays import Process, Stage
from tests.ports import free_port

ORIGIN = "https://docs.example"
WARM, REQUESTS = 20, 200
VIEWS = 1_000  # of a batch
BATCHES = 80
BATCH_CLIENTS = 4  # of each process
BEACON_CLIENTS = 32
BEACON_SECONDS, BEACON_TURNS = 1.5, 3
FRESH = 5
PATIENCE = 60.0  # seconds
_LENGTH = re.compile(rb"content-length: *(\d+)", re.IGNORECASE)
_BROWSER = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{}.0.0.0 Safari/537.36"
_AGENT = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.{}; +https://openai.com/bot"


@dataclass
class Figures:
    """What was measured: milliseconds, and requests or views a second."""

    visitors: list[float] = field(default_factory=list)  # ms of each request for 90 days
    batches: float = 0.0  # views/s
    beacons: list[float] = field(default_factory=list)  # requests/s, by turn
    empty: list[float] = field(default_factory=list)  # the same, of a view that does nothing
    fresh: list[float] = field(default_factory=list)  # ms from a view's acknowledgement to an export that has it


@dataclass(frozen=True)
class Service:
    """Where the service is, and how to ask it."""

    process: Process
    project_id: str
    domain: str
    key: str

    @property
    def port(self) -> int:
        return self.process.port

    def visitors(self, start: datetime, end: datetime) -> bytes:
        """A request for the first rows of an export."""
        dates = urlencode({"dateFrom": start.isoformat(), "dateTo": end.isoformat()})
        return self._request("GET", f"/v1/analytics/{self.project_id}/visitors?{dates}", Authorization=self._bearer)

    def collect(self, views: list[dict[str, Any]]) -> bytes:
        """A batch of views."""
        path = f"/v1/collect/{self.project_id}/views"
        return self._request("POST", path, {"views": views}, Authorization=self._bearer)

    def beacon(self, path: str) -> bytes:
        """A reader's view."""
        body = {"id": secrets.token_hex(8), "path": "/page/1", "referrer": ORIGIN}
        return self._request("POST", path, body, Origin=ORIGIN, **{"User-Agent": _BROWSER.format(130)})

    @property
    def _bearer(self) -> str:
        return f"Bearer {self.key}"

    def _request(self, method: str, path: str, body: Any = None, **headers: str) -> bytes:
        content = b"" if body is None else json.dumps(body).encode()
        fields = {"Host": f"127.0.0.1:{self.port}", **headers}
        if body is not None:
            fields |= {"Content-Type": "application/json", "Content-Length": str(len(content))}
        head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
        return f"{method} {path} HTTP/1.1\r\n{head}\r\n".encode() + content


class Connection:
    """A connection that is kept."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, port: int) -> "Connection":
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def ask(self, request: bytes) -> bytes:
        """The content of the answer, if that is a good one."""
        self.writer.write(request)
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = _LENGTH.search(head)
        content = await self.reader.readexactly(int(length[1])) if length else b""
        if not head[9:12].startswith(b"2"):
            raise Broken(f"{request[:60]!r}: {head[:40]!r} {content[:300]!r}")
        return content

    def close(self) -> None:
        self.writer.close()


def measure(
    folder: Path, data: Path, end: datetime, access: dict[str, str], progress: Callable[[str], None]
) -> Figures:
    """Start the service on the data of a folder and measure it. The history ends at `end`."""
    figures = Figures()
    cores = os.sched_getaffinity(0)
    stage = Stage(folder)
    try:
        progress("over HTTP: exports, beacons")
        os.sched_setaffinity(0, {stage.load_core})
        asyncio.run(_single(_serve(stage, data, access), end, figures))
    finally:
        stage.end()
        os.sched_setaffinity(0, cores)
    stage = Stage(folder)
    try:
        progress("over HTTP: batches")
        every = ",".join(map(str, sorted(cores)))
        asyncio.run(_batches([_serve(stage, data, access, every, number) for number in range(len(cores))], figures))
    finally:
        stage.end()
    return figures


def _serve(stage: Stage, data: Path, access: dict[str, str], cores: str = "", number: int = 0) -> Service:
    port = free_port()
    command = [sys.executable, "manage.py", "serve", "--port", str(port)]
    process = stage.start(
        f"serve-{number}{cores[1:]}", command, port, cores,
        DATA_DIR=str(data), DJANGO_SETTINGS_MODULE="tests.bench.analytics.settings", **relays.limits(),
    )  # fmt: skip
    return Service(process, **access)


async def _single(service: Service, end: datetime, figures: Figures) -> None:
    await relays.ready(service.process)
    async with asyncio.timeout(PATIENCE):
        connection = await Connection.open(service.port)
        request = service.visitors(end - timedelta(days=90), end)
        for number in range(WARM + REQUESTS):
            began = time.perf_counter()
            await connection.ask(request)
            if number >= WARM:
                figures.visitors.append((time.perf_counter() - began) * 1000)
        connection.close()
    for turn in range(BEACON_TURNS):
        kinds = [("/v1/empty", figures.empty), (f"/discovery/v1/view/{service.domain}", figures.beacons)]
        for path, rates in kinds[:: -1 if turn % 2 else 1]:
            rates.append(await _rate(service, path))
    async with asyncio.timeout(PATIENCE):
        await _fresh(service, figures)


async def _rate(service: Service, path: str) -> float:
    """Requests/s of some clients for some seconds."""
    until = time.perf_counter() + BEACON_SECONDS
    done = 0

    async def client() -> None:
        nonlocal done
        connection = await Connection.open(service.port)
        while time.perf_counter() < until:
            await connection.ask(service.beacon(path))
            done += 1
        connection.close()

    began = time.perf_counter()
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(*(client() for _ in range(BEACON_CLIENTS)))
    return done / (time.perf_counter() - began)


async def _fresh(service: Service, figures: Figures) -> None:
    """From the acknowledgement of a view on a page of its own to an export of the hour that has the page."""
    connection = await Connection.open(service.port)
    for number in range(FRESH):
        now = datetime.now(UTC)
        page = f"/fresh/{number}-{secrets.token_hex(4)}"
        await connection.ask(service.collect([{**next(made_up()), "path": page}]))
        began = time.perf_counter()
        while True:
            request = service.visitors(now - timedelta(milliseconds=1), now + timedelta(minutes=1))
            if page.encode() in await connection.ask(request):
                break
            await asyncio.sleep(0.01)
        figures.fresh.append((time.perf_counter() - began) * 1000)
    connection.close()


async def _batches(services: list[Service], figures: Figures) -> None:
    """Clients with ready batches, the same number for each process."""
    for service in services:
        await relays.ready(service.process)
    views = made_up()
    ready = [
        iter([service.collect([next(views) for _ in range(VIEWS)]) for _ in range(BATCHES // len(services))])
        for service in services
    ]
    for service, waiting in zip(services, ready, strict=True):
        await _send(service, [next(waiting)])  # warm
    count = len(services) * (BATCHES // len(services) - 1)
    began = time.perf_counter()
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(
            *(
                _send(service, waiting)
                for service, waiting in zip(services, ready, strict=True)
                for _ in range(BATCH_CLIENTS)
            )
        )
    figures.batches = count * VIEWS / (time.perf_counter() - began)


async def _send(service: Service, requests: Iterable[bytes]) -> None:
    connection = await Connection.open(service.port)
    for request in requests:
        answer = json.loads(await connection.ask(request))
        if answer["accepted"] != VIEWS:
            raise Broken(f"a batch was not taken: {answer}")
    connection.close()


def made_up() -> Iterator[dict[str, Any]]:
    """Views of now: a few hundred browsers and assistants from many addresses, on the pages of the history."""
    clients = [_BROWSER.format(90 + n) for n in range(170)] + [_AGENT.format(n) for n in range(30)]
    run, number = secrets.token_hex(4), 0
    now = datetime.now(UTC).isoformat(timespec="milliseconds")
    while True:
        number += 1
        yield {
            "id": f"{run}-{number}",
            "path": f"/page/{number * 7919 % 5000 + 1}",
            "timestamp": now,
            "ip": f"10.{number // 7 % 256}.{number // 3 % 256}.{number % 256}",
            "userAgent": clients[number * 31 % len(clients)],
        }
