"""One database from empty to full: fills it, puts loads on it, and does an operator's work with times."""

import asyncio
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.bench import relays
from tests.bench.analytics import engines
from tests.bench.capacity import load
from tests.bench.load import Broken
from tests.bench.others import Witness
from tests.bench.relays import Process, Stage, Trouble, list_processes, read_cpu, say
from tests.bench.search.engines import Worker
from tests.ports import free_port

SQLITE, POSTGRESQL = "SQLite", "PostgreSQL"
IDLE_SECONDS = 5.0
MAX_SETTLE_SECONDS, SETTLED_CORES = 60.0, 0.05
EXPORTS = 20


@dataclass(frozen=True)
class Amounts:
    """How much there is of everything."""

    projects: tuple[int, ...]
    processes: tuple[int, ...]
    views: int
    sections: int
    conversations: int
    seconds: float  # of one load


@dataclass
class Results:
    """What one database gave. `steps` are seconds, bytes and counts of each step of filling and of operating it."""

    database: str
    steps: dict[str, dict[str, Any]] = field(default_factory=dict)
    loads: list[load.Figures] = field(default_factory=list)
    idle: dict[str, dict[str, float]] = field(default_factory=dict)  # by number of processes: cores and bytes
    notes: list[str] = field(default_factory=list)


class Run:
    """The processes of one database. Everything that it starts ends with it."""

    def __init__(self, database: str, amounts: Amounts, documentation: Path, folder: Path) -> None:
        self.amounts, self.folder = amounts, folder
        self.results = Results(database)
        self.manifest, self.questions = relays.find_documentation(documentation, folder / "docs")
        self.address, self.server = "", 0
        self.worker: Worker

    def measure(self, keep: Callable[[Results], None]) -> None:
        """Do all of it. `keep` gets the results after each step, so that a run that is ended leaves some."""
        with ExitStack() as stack:
            if self.results.database == POSTGRESQL:
                server = stack.enter_context(engines.postgres())
                self.address, self.server = server.address, server.pid
            self.env = {"DATA_DIR": str(self.folder / "data"), "DATABASE_URL": self.address, **relays.limits()}
            self.env["EMBEDDINGS"] = "none"  # else a process makes vectors while it should be idle
            (self.folder / "data").mkdir()
            command = [sys.executable, "-m", "tests.bench.capacity.fill"]
            self.worker = Worker("fill", command, self.folder, DJANGO_SETTINGS_MODULE="docsite.settings", **self.env)
            stack.callback(self.worker.end)
            steps: list[Callable[[], None]] = [self.fill, self.serve, self.operate]
            for step in steps:
                step()
                keep(self.results)

    def step(self, name: str, work: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Do one step; keep its time, the growth of the database and the share of other work. Failures are noted."""
        say(f"{self.results.database}: {name}")
        size, witness, database = self.read_size(), Witness(), self.read_database_cpu()
        began = time.perf_counter()
        try:
            with witness.watch(name):
                done = work()
        except (Trouble, Broken, OSError, subprocess.SubprocessError) as failure:
            self.results.notes.append(f"{name}: {str(failure)[-300:]}")
            return {}
        done = {"seconds": time.perf_counter() - began, **done, "others": witness.share(name)}
        done |= {"growth": self.read_size() - size, "database_cpu": self.read_database_cpu() - database}
        self.results.steps[name] = {key: value for key, value in done.items() if key not in ("keys", "admin_key")}
        return done

    def fill(self) -> None:
        """Projects first: the other steps spread over them."""
        amounts, call = self.amounts, self.worker.call
        made = self.step("projects", lambda: call("projects", count=max(amounts.projects)))
        if not made:
            raise Trouble(self.results.notes[-1])
        self.keys = [(domain, key) for domain, key in made["keys"]]
        self.project_id, self.admin_key = made["project_id"], made["admin_key"]
        folder = str(self.manifest.parent)
        self.step("sections", lambda: call("sections", folder=folder, count=amounts.sections))
        self.step("conversations", lambda: call("conversations", count=amounts.conversations))
        self.step("views", lambda: call("views", count=amounts.views))
        self.step("seal", lambda: call("seal"))

    def serve(self) -> None:
        """Loads on each number of processes."""
        cores = sorted(os.sched_getaffinity(0))
        for count in self.amounts.processes:
            stage = Stage(self.folder)
            try:
                services = []
                for number in range(count):
                    port = free_port()
                    command = [sys.executable, "manage.py", "serve", "--port", str(port)]
                    core = str(cores[number % len(cores)])
                    services.append(stage.start(f"ours-{count}-{number}", command, port, core, **self.env))
                asyncio.run(self._loads(services))
            finally:
                stage.end()

    async def _loads(self, services: list[Process]) -> None:
        for service in services:
            await relays.ready(service)
        await _settle(services)
        web, database, began = sum(one.cpu() for one in services), self.read_database_cpu(), time.perf_counter()
        await asyncio.sleep(IDLE_SECONDS)
        elapsed = time.perf_counter() - began
        self.results.idle[str(len(services))] = {
            "web": (sum(one.cpu() for one in services) - web) / elapsed,
            "database": (self.read_database_cpu() - database) / elapsed,
            "memory": sum(one.rss() for one in services),
        }
        clients = load.Load(services, self.keys, self.questions, self.read_database_cpu, self.read_size)
        for projects in self.amounts.projects:
            for kind in load.KINDS:
                say(f"{self.results.database}: {kind}, {len(services)} of the service, {projects:,} projects")
                self.results.loads.append(await clients.measure(kind, projects, self.amounts.seconds))
        if len(services) == self.amounts.processes[0]:
            await self._export(services[0])

    async def _export(self, service: Process) -> None:
        spent = []
        head = f"GET /v1/analytics/{self.project_id}/visitors HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        request = f"{head}Authorization: Bearer {self.admin_key}\r\n\r\n".encode()
        reader, writer = await asyncio.open_connection("127.0.0.1", service.port)
        for _ in range(EXPORTS):
            began = time.perf_counter()
            writer.write(request)
            try:
                await load.read_answer(reader)
            except Broken as failure:
                self.results.notes.append(f"export: {failure}")
                return
            spent.append((time.perf_counter() - began) * 1000)
        writer.close()
        self.results.steps["export"] = {"ms": sorted(spent)[len(spent) // 2], "first_ms": spent[0]}

    def operate(self) -> None:
        """Admin pages, a backup, `migrate` on the full database, and the sweep of all raw views."""
        call = self.worker.call
        self.step("admin pages", lambda: call("admin"))
        self.step("backup", self._back_up)
        self.step("migrate", lambda: self._manage("migrate", "--verbosity", "0"))
        self.step("sweep", lambda: call("sweep"))
        self.step("vacuum after the sweep", lambda: call("vacuum"))

    def _back_up(self) -> dict[str, Any]:
        target = self.folder / "backup"
        self._manage("backup", target)
        size = sum(file.stat().st_size for file in target.rglob("*") if file.is_file())
        shutil.rmtree(target)
        return {"bytes": size}

    def _manage(self, *arguments: str | Path) -> dict[str, Any]:
        relays.run([sys.executable, "manage.py", *arguments], 7_200, relays.ROOT, **self.env)
        return {}

    def read_size(self) -> int:
        """Bytes of the database."""
        return int(self.worker.call("size")["bytes"])

    def read_database_cpu(self) -> float:
        """Seconds of CPU of the database's own processes, those that have ended included; SQLite has none."""
        return read_cpu(list_processes(self.server), with_ended=True) if self.server else 0.0


async def _settle(services: list[Process]) -> None:
    """Wait until new processes have done what earlier ones left, such as grouping questions, or for a minute."""
    until, cores = time.monotonic() + MAX_SETTLE_SECONDS, 1.0
    while cores > SETTLED_CORES and time.monotonic() < until:
        before = sum(service.cpu() for service in services)
        await asyncio.sleep(3)
        cores = (sum(service.cpu() for service in services) - before) / 3
