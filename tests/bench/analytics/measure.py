"""The parts of a run: every engine loads the same history, is checked, and answers in turns; then ours over HTTP."""

from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from tests.bench.analytics import history, over_http
from tests.bench.analytics.engines import OURS, SMALL
from tests.bench.analytics.history import AI, ANY, HUMANS, WINDOWS, Counts
from tests.bench.others import Witness
from tests.bench.relays import Trouble
from tests.bench.search.engines import Worker

WHOLE, TENTH = "whole", "tenth"
MOST, LEAST = 11, 3  # times that a question is asked
SECONDS = 4.0  # that one question may take of an engine's time before it is asked no more than LEAST times

Progress = Callable[[str], None]


@dataclass
class Figures:
    """Everything that was measured."""

    views: int
    ms: dict[tuple[str, int], list[float]] = field(default_factory=lambda: defaultdict(list))  # by engine and days
    first: list[float] = field(default_factory=list)  # of ours, for the longest range and the first rows only
    loads: dict[str, dict[str, Any]] = field(default_factory=dict)  # by engine: seconds, bytes, version
    errors: dict[str, tuple[int, float]] = field(default_factory=dict)  # by engine: most, most of the true value
    impossible: int = 0  # rows of ours whose total is less than one of its parts, or more than their sum
    truth: dict[str, dict[int, Counts]] = field(default_factory=dict)  # by history and days
    http: over_http.Figures | None = None
    notes: list[str] = field(default_factory=list)


@dataclass
class Run:
    """The processes of a run and what they gave."""

    folder: Path
    views: int
    progress: Progress
    figures: Figures = field(init=False)
    workers: dict[str, Worker] = field(default_factory=dict)
    witness: Witness = field(default_factory=Witness)

    def __post_init__(self) -> None:
        self.figures = Figures(self.views)

    def generate(self) -> None:
        """Make the history and a tenth of it, and count both by brute force."""
        for name, views in ((WHOLE, self.views), (TENTH, self.views // 10)):
            self.progress(f"making {views:,} views and counting them by brute force")
            made = history.generate(views)
            made.save(self.folder / name)
            self.figures.truth[name] = {days: history.count(made.last(days)) for days in WINDOWS}

    def load(self, name: str, start: Callable[[], Worker], views: str = WHOLE, parts: int = 1) -> None:
        """Start an engine, give it a history in parts, and check its answers; a peer that fails is left out."""
        try:
            self.progress(f"{name}: starting")
            self.workers[name] = worker = start()
            seconds: Counter[str] = Counter()
            for part in range(parts):
                self.progress(f"{name}: loading" + f", part {part + 1} of {parts}" * (parts > 1))
                folder = str(self.folder / views)
                with self.witness.watch(f"load {name}"):
                    seconds.update(worker.call("load", folder=folder, part=part, parts=parts)["seconds"])
            if name == SMALL:  # for the whole history that would take minutes
                self.progress(f"{name}: sweeping")
                seconds.update(worker.call("sweep")["seconds"])
            self.figures.loads[name] = {**worker.call("loaded"), "seconds": dict(seconds)}
            self.progress(f"{name}: checking")
            self._check(name, worker, self.figures.truth[views])
        except (Trouble, OSError) as trouble:
            if name in self.workers:
                self.workers.pop(name).end()
            if name == OURS:
                raise
            self.figures.loads.pop(name, None)
            first, *rest = str(trouble).splitlines()
            self.figures.notes.append(f"{name} is left out: {' '.join([first, *rest[-1:]])[:300]}")

    def _check(self, name: str, worker: Worker, truth: dict[int, Counts]) -> None:
        """Compare all its answers with brute force; so each question has been asked before it is timed."""
        most, relative = 0, 0.0
        for days, true in truth.items():
            file = self.folder / "counts.npy"
            worker.call("check", days=days, file=str(file))
            found = np.load(file)
            off = np.abs(found - true)
            most, relative = max(most, int(off.max())), max(relative, float((off / np.maximum(true, 1)).max()))
            if name.startswith(OURS):
                total, parts = found[:, ANY], found[:, [HUMANS, AI]]
                self.figures.impossible += int(np.sum((parts.max(1) > total) | (total > parts.sum(1))))
        self.figures.errors[name] = most, relative

    def ask(self) -> None:
        """Every question to every engine in turns, so that all see the same state of the machine."""
        for number in range(MOST):
            self.progress(f"asking, round {number + 1} of {MOST}")
            names = list(self.workers)
            shift = number % len(names)
            for name in names[shift:] + names[:shift]:  # nobody always goes first
                for days in WINDOWS:
                    spent = self.figures.ms[name, days]
                    if len(spent) < LEAST or sum(spent) < SECONDS * 1000:
                        spent.append(self.workers[name].call("ask", days=days)["ms"])
            self.figures.first.append(self.workers[OURS].call("ask", days=WINDOWS[-1], first=True)["ms"])

    def http(self) -> None:
        """Our service with the history that ours has loaded. No other engine is running then."""
        self.end()
        loaded = self.figures.loads[OURS]
        end = datetime.fromtimestamp(history.read(self.folder / WHOLE).end / 1000, UTC)
        self.figures.http = over_http.measure(self.folder, self.folder / OURS, end, loaded["access"], self.progress)

    def end(self) -> None:
        """End every process."""
        while self.workers:
            self.workers.popitem()[1].end()
