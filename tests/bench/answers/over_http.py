"""Our service over HTTP: `manage.py serve` on the first core, its readers and the fake model server on the last one."""

import asyncio
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tests.bench import relays
from tests.bench.load import MARKS, PATIENCE, Broken, Caller
from tests.bench.model import Plan
from tests.bench.relays import Stage, Trouble
from tests.ports import free_port
from tests.training.data import Query

CLIENTS = (1, 8)
WARM = 20  # questions that are not timed
TOKENS = 100  # of the fake model's answer, which it writes as fast as they are read
EXTRACTIVE, WITH_MODEL = "without a model", "with the fake model"
_TEXT = b'"type":"text-delta"'


@dataclass
class Asked:
    """Some clients at once: for each question the milliseconds to the first event, the first text and the end."""

    mode: str
    clients: int
    first: list[float] = field(default_factory=list)
    text: list[float] = field(default_factory=list)
    whole: list[float] = field(default_factory=list)
    seconds: float = 0.0


def measure(queries: Sequence[Query], keys: dict[str, str], folder: Path, database: Path) -> list[Asked]:
    """Each mode of answering in a service of its own, one after the other."""
    stage = Stage(folder)
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {stage.load_core})
    try:
        return asyncio.run(_modes(stage, queries, keys, database))
    except (Broken, OSError, TimeoutError, asyncio.IncompleteReadError) as broken:
        found = "\n".join(process.tail() for process in stage.processes)
        raise Trouble(f"An answer over HTTP broke off: {broken!r}\n{found}") from None
    finally:
        stage.end()
        os.sched_setaffinity(0, cores)


async def _modes(stage: Stage, queries: Sequence[Query], keys: dict[str, str], database: Path) -> list[Asked]:
    model = relays.start_model(stage)
    await relays.ready(model)
    await Caller(model.port).post("/plan", asdict(Plan(tokens=TOKENS)))
    url = f"http://127.0.0.1:{model.port}/v1"
    asked = []
    for mode, env in ((EXTRACTIVE, {}), (WITH_MODEL, {"OPENAI_BASE_URL": url, "OPENAI_MODEL": "bench"})):
        port = free_port()
        command = [sys.executable, "manage.py", "serve", "--port", str(port)]
        service = stage.start(mode, command, port, DATA_DIR=str(database), **relays.limits(), **env)
        await relays.ready(service)
        for clients in CLIENTS:
            await _clients(Asked(mode, clients), service.port, queries[:WARM], keys)
            asked.append(await _clients(Asked(mode, clients), service.port, queries, keys))
        service.popen.terminate()
        service.popen.wait(5)
    return asked


async def _clients(asked: Asked, port: int, queries: Sequence[Query], keys: dict[str, str]) -> Asked:
    waiting = iter(queries)
    began = time.perf_counter()
    await asyncio.gather(*(_client(asked, port, waiting, keys) for _ in range(asked.clients)))
    asked.seconds = time.perf_counter() - began
    return asked


async def _client(asked: Asked, port: int, waiting: Iterator[Query], keys: dict[str, str]) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    for query in waiting:
        request = _request(query, keys[query.set])
        async with asyncio.timeout(PATIENCE):
            began = time.perf_counter()
            writer.write(request)
            first, text, whole = [(at - began) * 1000 for at in await _read(reader)]
        asked.first.append(first)
        asked.text.append(text)
        asked.whole.append(whole)
    writer.close()


async def _read(reader: asyncio.StreamReader) -> tuple[float, float, float]:
    """When the first event of an answer arrived, its first text and its end."""
    head = await reader.readuntil(b"\r\n\r\n")
    if head.split(b" ", 2)[1] != b"200":
        raise Broken(repr(head[:200]))
    first = text = 0.0
    got = b""
    while size := int(await reader.readline(), 16):
        got += await reader.readexactly(size + 2)
        first = first or time.perf_counter()
        text = text or (time.perf_counter() if _TEXT in got else 0.0)
    whole = time.perf_counter()
    await reader.readline()
    if not text or MARKS["v2"].end not in got or MARKS["v2"].failed in got:
        raise Broken(repr(got[-300:]))
    return first, text, whole


def _request(query: Query, key: str) -> bytes:
    message = {"id": "m1", "role": "user", "parts": [{"type": "text", "text": query.text}]}
    asked: dict[str, Any] = {"fp": "anonymous", "id": os.urandom(8).hex(), "trigger": "submit-message"}
    asked["messages"] = [message]
    if query.filter:
        asked["filter"] = query.filter
    body = json.dumps(asked).encode()
    return (
        f"POST /discovery/v2/assistant/{query.set}/message HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}"
        f"\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\nAccept: */*\r\n\r\n"
    ).encode() + body
