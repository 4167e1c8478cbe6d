"""The parts of a run: every engine on every set in turns, our service over HTTP, and the large site."""

import asyncio
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench import relays
from tests.bench.load import Caller
from tests.bench.others import Witness
from tests.bench.relays import Stage, Trouble, say
from tests.bench.search import engines
from tests.bench.search.engines import OURS, Worker
from tests.ports import free_port
from tests.training.data import Collection, Query

WARM = 50  # queries that are not timed
BLOCK = 40  # queries that an engine answers in a row
LARGE = 94_000  # sections
LARGE_EVERY = 4  # of so many queries one is asked on the large site
LARGE_FACET = {"version": "3.0"}  # one of the copies
CLIENTS = (1, 8)


@dataclass(frozen=True)
class Answer:
    """What an engine found. Scores and facets of the pages are known of ours only."""

    query: Query
    pages: list[str]
    ms: float
    scores: list[float] = field(default_factory=list)
    facets: list[dict[str, Any]] = field(default_factory=list)


@dataclass
class Figures:
    """Everything that was measured."""

    answers: dict[str, list[Answer]] = field(default_factory=dict)  # by engine
    build: dict[str, list[tuple[int, float]]] = field(default_factory=dict)  # sections and seconds of each set
    http: dict[int, list[Answer]] = field(default_factory=dict)  # by number of clients
    http_seconds: dict[int, float] = field(default_factory=dict)
    large: dict[tuple[str, str], list[float]] = field(default_factory=dict)  # ms by engine and "plain" or "facet"
    large_build: dict[str, tuple[int, float]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass
class Run:
    """The processes of a run and what they gave."""

    data: Collection
    source: Path
    folder: Path
    python: Path
    is_shipped: bool = False  # rank with the shipped weights
    figures: Figures = field(default_factory=Figures)
    workers: dict[str, Worker] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    witness: Witness = field(default_factory=Witness)

    def build(self, peers: list[str]) -> None:
        """Index every set in every engine; a peer that cannot is left out."""
        ours = self.workers[OURS] = engines.start_ours(self.python, self.folder)
        counts = {}
        for name, folder in self.data.sets.items():
            built = ours.call("build", set=name, folder=str(folder))
            counts[name], self.keys[name] = built["sections"], built["key"]
            self.figures.build.setdefault(OURS, []).append((built["sections"], built["seconds"]))
            if built["bad"]:
                self.figures.notes.append(
                    f"{name}: {len(built['bad'])} of {len(built['bad']) + built['pages']} pages could not be read, "
                    f"the first: {built['bad'][0]}."
                )
            ours.call("sections", set=name, file=str(self._file(name)))
        trained: list[str] = []
        if not self.is_shipped:
            trained = ours.call("train", source=str(self.source), folder=str(self.folder))["sets"]
        if not self.is_shipped and (missing := sorted(set(self.data.sets) - set(trained))):
            self.figures.notes.append(
                f"Ours ranks with its shipped weights, not held-out ones, on {', '.join(missing)}."
            )
        for peer in peers:
            try:
                worker = self.workers[peer] = engines.start_peer(peer, self.python, self.folder)
                for name in self.data.sets:
                    built = worker.call("build", set=name, file=str(self._file(name)))
                    self.figures.build.setdefault(peer, []).append((counts[name], built["seconds"]))
            except (Trouble, OSError) as trouble:
                if peer in self.workers:
                    self.workers.pop(peer).end()
                self.figures.notes.append(f"{peer} is left out: {trouble}")

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.jsonl"

    def ask(self) -> None:
        """Every query to every engine, in turns of a block, so that all see the same state of the machine."""
        for name in self.data.sets:
            queries = self.data.queries_of(name)
            for worker in self.workers.values():
                worker.call("ask", set=name, queries=[query.request for query in queries[:WARM]])
            for number, block in enumerate(_blocks(queries)):
                for engine, worker in _rotated(self.workers, number):
                    reply = worker.call("ask", set=name, queries=[query.request for query in block])
                    self.figures.answers.setdefault(engine, []).extend(_answers(block, reply))

    def http(self) -> None:
        """The same queries to `manage.py serve` on the first core, from clients on the last one."""
        stage = Stage(self.folder)
        cores = os.sched_getaffinity(0)
        os.sched_setaffinity(0, {stage.load_core})
        try:
            port = free_port()
            command = [self.python, "manage.py", "serve", "--port", str(port)]
            data = str(self.folder / OURS)
            service = stage.start("search", command, port, DATA_DIR=data, **relays.limits())
            asyncio.run(self._over_http(service))
        finally:
            stage.end()
            os.sched_setaffinity(0, cores)

    async def _over_http(self, service: relays.Process) -> None:
        await relays.ready(service)
        queries = [query for name in self.data.sets for query in self.data.queries_of(name)]
        for clients in CLIENTS:
            waiting = iter(queries[:WARM])
            await asyncio.gather(*(self._client(service.port, waiting, []) for _ in range(clients)))
            waiting, answers = iter(queries), []
            began = time.perf_counter()
            await asyncio.gather(*(self._client(service.port, waiting, answers) for _ in range(clients)))
            self.figures.http_seconds[clients] = time.perf_counter() - began
            self.figures.http[clients] = answers

    async def _client(self, port: int, waiting: Iterator[Query], answers: list[Answer]) -> None:
        callers = {name: Caller(port, key) for name, key in self.keys.items()}
        for query in waiting:
            body: dict[str, Any] = {"query": query.text[:2000], "pageSize": 10}
            if query.filter:
                body["filter"] = query.filter
            began = time.perf_counter()
            found = await callers[query.set].post(f"/discovery/v1/search/{query.set}", body)
            ms = (time.perf_counter() - began) * 1000
            answers.append(Answer(query, [hit["path"] for hit in found], ms))
        for caller in callers.values():
            caller.close()

    def large(self) -> None:
        """A site of about 94,000 sections: plain queries, and the same within one version."""
        base = sum(sections for sections, _ in self.figures.build[OURS])
        copies = max(1, round(LARGE / base))
        folders = [str(folder) for folder in self.data.sets.values()]
        workers: dict[str, Worker] = {}
        for name, env in engines.OURS_LARGE.items():
            say(f"Ingesting {copies} times {base} sections ({name}) …")
            self.workers[name] = workers[name] = engines.start_ours(self.python, self.folder, name, **env)
            built = workers[name].call("build_large", set="large", folders=folders, copies=copies)
            self.figures.large_build[name] = built["sections"], built["seconds"]
        next(iter(workers.values())).call("sections", set="large", file=str(self._file("large")))
        for name in engines.LARGE_PEERS:
            if name in self.workers:
                workers[name] = self.workers[name]
                seconds = workers[name].call("build", set="large", file=str(self._file("large")))["seconds"]
                self.figures.large_build[name] = built["sections"], seconds
        texts = [query.text for query in self.data.queries[::LARGE_EVERY]]
        for kind, wanted in (("plain", None), ("facet", LARGE_FACET)):
            say(f"{len(texts)} queries on the large site, {kind} …")
            for worker in workers.values():
                worker.call("ask", set="large", queries=[(text, wanted) for text in texts[:WARM]])
            for number, block in enumerate(_blocks(texts)):
                for name, worker in _rotated(workers, number):
                    reply = worker.call("ask", set="large", queries=[(text, wanted) for text in block])
                    self.figures.large.setdefault((name, kind), []).extend(reply["ms"])

    def end(self) -> None:
        """End every process."""
        for worker in self.workers.values():
            worker.end()


def _blocks(items: list[Any]) -> Iterator[list[Any]]:
    return (items[start : start + BLOCK] for start in range(0, len(items), BLOCK))


def _rotated(workers: dict[str, Worker], number: int) -> list[tuple[str, Worker]]:
    """Nobody always goes first."""
    pairs, shift = list(workers.items()), number % len(workers)
    return pairs[shift:] + pairs[:shift]


def _answers(block: list[Query], reply: dict[str, Any]) -> Iterator[Answer]:
    nothing: list[list[Any]] = [[]] * len(block)
    rows = (reply["pages"], reply["ms"], reply.get("scores", nothing), reply.get("facets", nothing))
    return (Answer(query, *row) for query, *row in zip(block, *rows, strict=True))
