"""The measurements: each is one slice of load on one target, short enough to take turns with the others.

Figures are collected under (measure, target); times in milliseconds unless the name says otherwise.
"""

import asyncio
import itertools
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import Any

from tests.bench.load import Answer, Broken, Caller, Endpoint, Reader
from tests.bench.model import Plan
from tests.bench.others import Witness
from tests.bench.relays import Process, busy

WITHOUT = "first token without retrieval"
MS = 1e6  # nanoseconds
OPENING = 10  # readers that wait for their first token at once, while many streams are opened
DRAIN = 4.0  # seconds that readers may take to catch up once the model has ended its answers
REST = 6.0  # seconds that a relay may go on working when nobody reads any more
LEAVING = 2.0  # seconds that a relay gets to close its upstream


@dataclass(frozen=True)
class Target:
    """Something that answers with a stream, and its process."""

    name: str
    endpoint: Endpoint
    process: Process | None = None  # None: the model server itself, without a relay
    tiny: Endpoint | None = None  # the same with next to nothing to search


@dataclass
class Knobs:
    """How much is measured. Times in seconds."""

    asks: int = 40  # sequential questions in a slice
    slice: float = 1.5
    streams: int = 300
    memory_streams: int = 200
    leavers: int = 10
    requests: int = 80
    readers: int = 50
    stall: float = 8.0


@dataclass
class Figures:
    """What was measured, and what went wrong on the way."""

    samples: defaultdict[tuple[str, str], list[float]] = field(default_factory=lambda: defaultdict(list))
    notes: list[str] = field(default_factory=list)

    def add(self, measure: str, target: str, values: Iterable[float] | float) -> None:
        """Keep samples of a measure."""
        self.samples[measure, target] += [values] if isinstance(values, int | float) else values

    def note(self, line: str) -> None:
        """Keep a remark, once."""
        if line not in self.notes:
            self.notes.append(line)


class Bench:
    """The measurements of one run."""

    def __init__(self, model: Caller, knobs: Knobs, core: int) -> None:
        self.model = model
        self.core = core  # that the relays run on
        self.knobs = knobs
        self.figures = Figures()
        self.witness = Witness()
        self._readers: list[Reader] = []

    async def reader(self, endpoint: Endpoint, *, small: bool = False) -> Reader:
        """A reader that is closed with the measurement, whatever happens."""
        reader = await Reader.open(endpoint, small=small)
        self._readers.append(reader)
        return reader

    async def plan(self, **how: float) -> None:
        """Set how the model answers from now on."""
        await self.model.post("/plan", asdict(Plan(**how)))  # type: ignore[arg-type]  # whole numbers stay whole

    async def seen(self) -> dict[str, Any]:
        """What the model saw since the plan."""
        answer: dict[str, Any] = await self.model.post("/seen")
        return answer

    async def finish(self, target: Target, readers: list[Reader], answers: list[Answer]) -> dict[str, Any]:
        """Have the model end what runs, let readers catch up, close them; what the model saw."""
        await self.model.post("/end")
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN):
                await asyncio.gather(*(answer.ended for answer in answers))
        seen = await self.seen()
        for reader in readers:
            reader.close()
        await self.idle(target)
        return seen

    async def _window(self, target: Target, seconds: float) -> tuple[float, int, int]:
        """Let time pass: seconds of CPU that the target took, and when it began and ended.

        What other processes took of the relays' core in that time is kept, too: it says how far to trust the run.
        """

        def cpu() -> float:
            return target.process.cpu() if target.process else 0.0

        own, core, since = cpu(), busy(self.core), time.monotonic_ns()
        await asyncio.sleep(seconds)
        own, core, until = cpu() - own, busy(self.core) - core, time.monotonic_ns()
        self.figures.add("others", target.name, max(0.0, core - own) * 1e9 / (until - since))
        return own, since, until

    async def idle(self, target: Target) -> None:
        """Wait until nothing asks the model any more and the relay has come to rest; what one slice leaves behind
        must not weigh on the next.
        """
        until = time.monotonic() + DRAIN
        while (await self.seen())["open"]:
            if time.monotonic() > until:
                self.figures.note(f"{target.name}: upstream streams were still open {DRAIN:.0f} s after a slice.")
                await self.model.post("/end")
                break
            await asyncio.sleep(0.05)
        until = time.monotonic() + REST
        while target.process and time.monotonic() < until:
            cpu = target.process.cpu()
            await asyncio.sleep(0.1)
            if target.process.cpu() - cpu < 0.02:
                break

    async def open(self, target: Target, count: int, seconds: float = 15.0) -> tuple[list[Reader], list[Answer]]:
        """Open streams, a few at a time; those whose first token has come. The others are closed and noted."""
        readers: list[Reader] = []
        answers: list[Answer] = []
        failures: list[str] = []
        left = iter(range(count))

        async def opener() -> None:
            for _ in left:
                reader = await self.reader(target.endpoint)
                answer = reader.ask()
                await answer.began
                if answer.failure:
                    failures.append(answer.failure)
                    reader.close()
                else:
                    readers.append(reader)
                    answers.append(answer)

        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                for outcome in await asyncio.gather(*(opener() for _ in range(OPENING)), return_exceptions=True):
                    if isinstance(outcome, Exception):
                        failures.append(repr(outcome))
        if len(answers) < count:
            why = f" {failures[0]}" if failures else f" The others did not begin within {seconds:.0f} s."
            self.figures.note(f"{target.name}: {len(answers)} of {count} streams opened.{why}")
        return readers, answers

    async def warm(self, target: Target) -> None:
        """Let a process import, connect and cache what it does once."""
        await self.plan(tokens=3)
        for _ in range(5):
            readers, answers = await self.open(target, 4)
            if not answers:
                raise Broken("left out of this run")
            await self.finish(target, readers, answers)

    async def first_token(self, target: Target) -> None:
        """Time to first token, one question after the other on an open connection.

        Ours is asked twice: with documentation, and where there is one section to find. Of the latter's time the
        search is taken off as the reader saw it pass; it must be short, since a search that computes for
        milliseconds delays its own first sign (Python's threads take turns of 5 ms) and would be mistaken.
        """
        await self.plan(tokens=3)
        for measure, endpoint in (("first token", target.endpoint), (WITHOUT, target.tiny or target.endpoint)):
            reader = await self.reader(endpoint)
            for _ in range(self.knobs.asks):
                if reader.lost:
                    reader = await self.reader(endpoint)
                answer = reader.ask()
                try:
                    async with asyncio.timeout(20):
                        await answer.ended
                except TimeoutError:
                    answer.fail("no end within 20 s")
                if answer.failure or not answer.first:
                    raise Broken(answer.failure or "no token came")
                search = answer.search if measure == WITHOUT else 0
                self.figures.add(measure, target.name, (answer.first - answer.asked - search) / MS)
            reader.close()
        await self.idle(target)

    async def paced(self, target: Target) -> None:
        """Delay of each token, and CPU for it: 10 streams of 200 tokens/s, about all that the slowest peer can do."""
        await self._paced(target, "paced", 10, 200, self.knobs.slice)

    async def light(self, target: Target) -> None:
        """The same with 20 streams of 20 tokens/s, at which no peer is busy."""
        await self._paced(target, "light", 20, 20, 2 * self.knobs.slice)

    async def _paced(self, target: Target, name: str, streams: int, rate: int, seconds: float) -> None:
        await self.plan(rate=rate)
        readers, answers = await self.open(target, streams)
        await asyncio.sleep(0.3)
        cpu, since, until = await self._window(target, seconds)
        await self.finish(target, readers, answers)
        self.figures.add(f"{name} delay", target.name, _delays(answers, since))
        tokens = sum(len(answer.delays(since, until)) for answer in answers)
        self.figures.add(f"{name} tokens", target.name, tokens)
        self.figures.add(f"{name} cpu s", target.name, cpu)

    async def many(self, target: Target) -> None:
        """Many streams of 20 tokens/s at once: delay, and what was lost."""
        await self.plan(rate=20)
        began = time.monotonic()
        readers, answers = await self.open(target, self.knobs.streams)
        self.figures.add("crowd opening s", target.name, time.monotonic() - began)
        if len(answers) < self.knobs.streams * 0.9:  # overrun: there is no crowd to measure
            self.figures.add("crowd lost streams", target.name, self.knobs.streams - len(answers))
            await self.finish(target, readers, answers)
            return
        await asyncio.sleep(1)
        cpu, since, until = await self._window(target, 2 * self.knobs.slice)
        seen = await self.finish(target, readers, answers)
        if seen["started"] != self.knobs.streams == len(answers):
            self.figures.note(f"{target.name}: {seen['started']} requests upstream for {len(answers)} questions.")
        self.figures.add("crowd delay", target.name, _delays(answers, since))
        whole = [answer for answer in answers if answer.whole]
        self.figures.add("crowd lost streams", target.name, self.knobs.streams - len(whole))
        lost = seen["sent"] - sum(len(answer.got) for answer in answers)
        self.figures.add("crowd lost tokens", target.name, lost if len(whole) == self.knobs.streams else max(lost, 1))
        self.figures.add("crowd core", target.name, cpu * 1e9 / (until - since))

    async def saturated(self, target: Target) -> None:
        """Tokens/s that ten greedy readers get from a model that writes as fast as it is read."""
        await self.plan(tokens=4_000)
        answers: list[Answer] = []
        stopped = False

        async def worker() -> None:
            reader = await self.reader(target.endpoint)
            try:
                while not stopped:
                    if reader.lost:
                        reader = await self.reader(target.endpoint)
                    answers.append(answer := reader.ask())
                    await answer.ended
                    if answer.failure and not stopped:
                        raise Broken(answer.failure)
            finally:
                reader.close()

        workers = [asyncio.create_task(worker()) for _ in range(10)]
        await asyncio.sleep(0.7)
        cpu, since, until = await self._window(target, self.knobs.slice)
        stopped = True
        for task in workers:
            task.cancel()
        for outcome in await asyncio.gather(*workers, return_exceptions=True):
            if isinstance(outcome, Exception):
                self.figures.note(f"{target.name}, saturated: {outcome!r}")
        tokens = sum(sum(since <= got < until for got in answer.got) for answer in answers)
        self.figures.add("saturated tokens/s", target.name, tokens * 1e9 / (until - since))
        if tokens:
            self.figures.add("saturated cpu", target.name, cpu * 1e6 / tokens)
        await self.finish(target, [], [])  # a socket's answers run on without their readers

    async def memory(self, target: Target) -> None:
        """Memory that each further stream takes while it is open and quiet, kilobytes: the slope between half of the
        streams and all of them. Wants a process that has not worked yet.
        """
        assert target.process
        await self.plan(rate=0.5)
        half = self.knobs.memory_streams // 2
        first = await self.open(target, half)
        await asyncio.sleep(0.5)
        before = target.process.rss()
        second = await self.open(target, half)
        await asyncio.sleep(0.5)
        grown = target.process.rss() - before
        await self.finish(target, first[0] + second[0], first[1] + second[1])
        if second[1]:
            self.figures.add("memory", target.name, grown / len(second[1]) / 1024)

    async def gone(self, target: Target) -> None:
        """From a reader's leaving to the upstream's end, and the tokens that were written meanwhile.

        A socket's answer is resumable and outlives its reader for a while, so there the reader says `stop`.
        """
        for when, plan in (("before", {"wait": 15.0}), ("after", {"rate": 100.0})):
            for _ in range(self.knobs.leavers):
                await self.plan(**plan)
                reader = await self.reader(target.endpoint)
                answer = reader.ask()
                await self._until(lambda seen, asked=answer: seen["started"] or asked.failure, 5)
                if answer.failure:
                    raise Broken(answer.failure)
                if when == "after":
                    await answer.began
                await asyncio.sleep(0.035)
                left = time.monotonic_ns()
                if target.endpoint.kind == "socket":
                    reader.stop()
                else:
                    reader.close()
                seen = await self._until(lambda seen: seen["left"], LEAVING)
                if seen["left"]:
                    closed, times = seen["left"][0]
                    took = (closed - left) / MS
                else:
                    took, times = LEAVING * 1000, []
                    self.figures.note(f"{target.name}: the upstream stayed open {LEAVING:.0f} s after its reader left.")
                self.figures.add(f"gone {when}", target.name, took)
                bought = sum(sent > left for sent in times)
                self.figures.add(f"bought {when}", target.name, bought if seen["left"] else seen["sent"])
                reader.close()
                await self._until(lambda seen: not seen["open"], LEAVING)
        await self.idle(target)

    async def _until(self, holds: Callable[[dict[str, Any]], Any], seconds: float) -> dict[str, Any]:
        """Ask the model until something is seen, or the time is up."""
        until = time.monotonic() + seconds
        while True:
            seen = await self.seen()
            if holds(seen) or time.monotonic() > until:
                return seen
            await asyncio.sleep(0.004)

    async def keyed(
        self, name: str, process: Process, caller: Caller, path: str, queries: Sequence[str], measure: str
    ) -> None:
        """CPU of JSON requests on a kept connection."""
        bodies = itertools.cycle([{"query": query, "pageSize": 10} for query in queries])
        await caller.post(path, next(bodies))
        cpu = process.cpu()
        for _ in range(self.knobs.requests):
            await caller.post(path, next(bodies))
        self.figures.add(f"{measure} cpu s", name, process.cpu() - cpu)
        self.figures.add(f"{measure} requests", name, self.knobs.requests)

    async def stalled(self, target: Target) -> None:
        """Readers that stop reading: growth of the process in megabytes, and the delay of another reader's tokens
        before and while.

        Their tokens are large (1 KB, 20 tokens/s), so that buffers fill in seconds; their sockets receive little
        in advance. The same streams are read for three seconds first: that is the "before".
        """
        assert target.process
        await self.plan(rate=20, pad=1_000)
        readers: list[Reader] = []
        answers: list[Answer] = []
        for _ in range(self.knobs.readers):
            reader = await self.reader(target.endpoint, small=True)
            readers.append(reader)
            answers.append(answer := reader.ask())
            await answer.began
        await self.plan(rate=50)
        others, watched = await self.open(target, 1)
        since = time.monotonic_ns()
        await asyncio.sleep(3)
        before, stopped = target.process.rss(), time.monotonic_ns()
        for reader in readers:
            if not reader.lost:
                reader.transport.pause_reading()
        most = before
        until = time.monotonic() + self.knobs.stall
        while time.monotonic() < until:
            await asyncio.sleep(0.25)
            most = max(most, target.process.rss())
        ended = time.monotonic_ns()
        self.figures.add("stall growth MB", target.name, (most - before) / 1024 / 1024)
        for answer in watched:
            self.figures.add("delay before stall", target.name, answer.delays(since, stopped))
            self.figures.add("delay in stall", target.name, answer.delays(stopped, ended))
            if answer.ended.done():
                self.figures.note(f"{target.name}: the other reader's answer broke off during the stall.")
        for reader in readers:
            reader.close()
        await self.finish(target, others, watched)

    async def attempt(self, what: str, target: str, doing: Awaitable[None]) -> bool:
        """Run a measurement; one that fails is noted, and the others go on. Returns whether it did not."""
        try:
            async with asyncio.timeout(90 + self.knobs.stall):
                with self.witness.watch(what):
                    await doing
            return True
        except (Broken, OSError, EOFError, TimeoutError) as failure:
            self.figures.note(f"{target}, {what}: {failure!r}"[:400])
            return False
        finally:
            for reader in self._readers:
                reader.close()
            self._readers.clear()


def _delays(answers: list[Answer], since: int) -> list[float]:
    return [delay for answer in answers for delay in answer.delays(since)]
