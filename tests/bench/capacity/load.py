"""Asks, searches, views and a mix of them, from clients that wait for each answer: latency, CPU, memory, growth."""

import asyncio
import itertools
import json
import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from tests.bench.load import Broken
from tests.bench.others import Witness
from tests.bench.relays import Process
from tests.bench.summary import percentile

KINDS = ("search", "ask", "view", "mix")
MIX = ("view",) * 16 + ("search",) * 3 + ("ask",)  # of twenty requests
CLIENTS = 8
WARM = 2.0  # seconds that are not counted
PATIENCE = 30.0
_BROWSER = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/{}.0.0.0 Safari/537.36"


@dataclass
class Figures:
    """One load: requests a second, milliseconds of a request, CPU of a request in milliseconds, bytes."""

    kind: str
    processes: int
    projects: int
    requests: int = 0
    per_second: float = 0.0
    p50: float = 0.0
    p95: float = 0.0
    web_cpu: float = 0.0
    database_cpu: float = 0.0
    memory: int = 0  # of all processes of the service
    growth: float = 0.0  # of the database, for a request
    failures: int = 0
    others: float = 0.0  # share of the machine that other work took


@dataclass
class Load:
    """Clients of some processes of the service, and the projects that they ask."""

    services: Sequence[Process]
    keys: Sequence[tuple[str, str]]  # domain and assistant key
    questions: Sequence[str]
    read_database_cpu: Callable[[], float]
    read_size: Callable[[], int]
    chance: random.Random = field(default_factory=lambda: random.Random(1))
    numbers: Any = field(default_factory=itertools.count)

    async def measure(self, kind: str, projects: int, seconds: float) -> Figures:
        """Put the load on the service for a while. The requests go to the first so many projects, evenly."""
        figures = Figures(kind, len(self.services), projects)
        await self.run(kind, projects, WARM, [], Figures(kind, 0, 0))
        size, witness, spent = self.read_size(), Witness(), []
        web, database = self._read_web_cpu(), self.read_database_cpu()
        began = time.perf_counter()
        with witness.watch(kind):
            await self.run(kind, projects, seconds, spent, figures)
            elapsed = time.perf_counter() - began
        web, database = self._read_web_cpu() - web, self.read_database_cpu() - database
        if spent:
            figures.requests, figures.per_second = len(spent), len(spent) / elapsed
            figures.p50, figures.p95 = percentile(spent, 0.5), percentile(spent, 0.95)
            figures.web_cpu, figures.database_cpu = 1000 * web / len(spent), 1000 * database / len(spent)
            figures.growth = (self.read_size() - size) / len(spent)
        figures.memory = sum(service.rss() for service in self.services)
        figures.others = witness.share(kind)
        return figures

    def _read_web_cpu(self) -> float:
        return sum(service.cpu() for service in self.services)

    async def run(self, kind: str, projects: int, seconds: float, spent: list[float], figures: Figures) -> None:
        until = time.perf_counter() + seconds
        await asyncio.gather(
            *(self._client(self.services[n % len(self.services)], kind, projects, until, spent, figures)
              for n in range(1 if kind == "push" else CLIENTS))
        )  # fmt: skip

    async def _client(
        self, service: Process, kind: str, projects: int, until: float, spent: list[float], figures: Figures
    ) -> None:
        streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None
        while time.perf_counter() < until:
            request = self._build(kind if kind != "mix" else self.chance.choice(MIX), projects)
            try:
                streams = streams or await asyncio.open_connection("127.0.0.1", service.port)
                began = time.perf_counter()
                async with asyncio.timeout(PATIENCE):
                    streams[1].write(request)
                    await read_answer(streams[0])
                spent.append((time.perf_counter() - began) * 1000)
            except (Broken, OSError, TimeoutError, asyncio.IncompleteReadError, ValueError):
                figures.failures += 1
                if streams:
                    streams[1].close()
                streams = None
                await asyncio.sleep(0.05)
        if streams:
            streams[1].close()
            with suppress(OSError):
                await streams[1].wait_closed()

    def _build(self, kind: str, projects: int) -> bytes:
        domain, key = self.keys[self.chance.randrange(min(projects, len(self.keys)))]
        number = next(self.numbers)
        question = self.questions[number % len(self.questions)]
        if kind == "view":
            body: Any = {"id": f"view-{number}", "path": f"/page/{1 + number % 40}", "referrer": "https://docs.example"}
            agent = _BROWSER.format(90 + number % 40)
            return build_request(
                f"/discovery/v1/view/{domain}", body, Origin="https://docs.example", **{"User-Agent": agent}
            )
        if kind == "search":
            return build_request(f"/discovery/v1/search/{domain}", {"query": question}, Authorization=f"Bearer {key}")
        message = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": question}]}
        body = {"fp": f"reader-{number}", "id": f"chat-{number}", "trigger": "submit-message", "messages": [message]}
        return build_request(f"/discovery/v2/assistant/{domain}/message", body, Authorization=f"Bearer {key}")


def build_request(path: str, body: Any, **headers: str) -> bytes:
    """A POST request with JSON."""
    content = json.dumps(body).encode()
    fields = {"Host": "127.0.0.1", "Content-Type": "application/json", "Content-Length": str(len(content)), **headers}
    head = "".join(f"{name}: {value}\r\n" for name, value in fields.items())
    return f"POST {path} HTTP/1.1\r\n{head}\r\n".encode() + content


async def read_answer(reader: asyncio.StreamReader) -> bytes:
    """The content of a good answer, whole or in chunks. Raises Broken for any other."""
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    content = b""
    if b"transfer-encoding: chunked" in head:
        while size := int(await reader.readline(), 16):
            content += (await reader.readexactly(size + 2))[:-2]
        await reader.readline()
    elif b"content-length:" in head:
        content = await reader.readexactly(int(head.split(b"content-length:")[1].split()[0]))
    if not head[9:10] == b"2" or b'"type":"error"' in content:
        raise Broken(repr(head[:60] + content[:200]))
    return content


def to_json(figures: Sequence[Figures]) -> list[dict[str, Any]]:
    """The figures, ready for JSON."""
    return [asdict(figure) for figure in figures]
