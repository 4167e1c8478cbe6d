"""What a request costs each part: CPU of web processes, worker, PostgreSQL, Redis and NATS, as the system counts it.

    make capacity COSTS=1

Wall time says little on a busy machine; the seconds of each process, with its children, say how many cores a load
takes. So this measures in some twenty minutes, of all combinations: every kind of request on one web process and 100
projects; views, searches and questions on two and on four processes; views of one project and of 10,000, of which
most are the first one that a process gets of their project; SQLite with one process. The databases hold ten million
views, which come in by SQL.
"""

import asyncio
import io
import sys
import tarfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

from tests.bench import relays
from tests.bench.analytics import engines
from tests.bench.capacity.load import Figures, Load, build_request
from tests.bench.load import Caller
from tests.bench.model import Plan
from tests.bench.others import Witness
from tests.bench.relays import Process, Stage, list_processes, read_cpu, say
from tests.bench.search.engines import Worker
from tests.ports import free_port

SQLITE, POSTGRESQL = "SQLite", "PostgreSQL"
WEB, WORKER, REDIS, NATS = "web", "worker", "Redis", "NATS"
PROJECTS, MANY_PROJECTS, SECTIONS = 100, 10_000, 4_000
BATCH = 100  # views
TOKENS = 100  # of the fake model's answer
WARM, SECONDS, ROUNDS = 1.0, 1.0, 3
WARM_REQUESTS, WARM_SECONDS = 4, 40.0  # to each of some projects in each process, which 98 % of them get; at most
SETTLE_SECONDS, SETTLED = 12.0, 0.03  # at most; seconds of CPU in a second
PUSHED = 20  # pages
SEALS = ((3, 200), (500, 10), (20_000, 1))  # views of a project, projects
ANY_CORE = "0-1023"
SOME = ("view", "search", "ask with a model")
# Web processes, projects, kinds; the first one is whole.
SETUPS = ((1, PROJECTS, ("view", "batch", "search", "page", "push", "ask", "ask with a model")), (2, PROJECTS, SOME),
          (4, PROJECTS, SOME), (1, 1, SOME), (1, MANY_PROJECTS, ("view",)))  # fmt: skip


@dataclass
class Cost:
    """Milliseconds of CPU of each part for one request; of a batch, for one view. `memory` is of the web processes."""

    database: str
    kind: str
    processes: int
    projects: int
    requests: int = 0
    per_second: float = 0.0
    cpu: dict[str, float] = field(default_factory=dict)
    memory: int = 0
    others: float = 0.0  # share of the machine that other work took
    failures: int = 0


class Requests(Load):
    """The requests of `Load`, and those of servers, readers of pages and owners."""

    owner: dict[str, str]
    batches: dict[str, str]

    def _build(self, kind: str, projects: int) -> bytes:
        if kind == "page":
            return b"GET /quickstart HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
        if kind == "batch":
            return self._build_batch()
        if kind == "push":
            return self._build_push()
        return super()._build("ask" if kind.startswith("ask") else kind, projects)

    def _build_batch(self) -> bytes:
        now, number = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), next(self.numbers)
        views = [
            {
                "id": f"batch-{number}-{place}",
                "path": f"/page/{place % 40}",
                "timestamp": now,
                "ip": f"10.0.{number % 250}.{place}",
                "userAgent": f"Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/1{place % 40}.0",
            }
            for place in range(BATCH)
        ]
        path = f"/v1/collect/{self.batches['project_id']}/views"
        return build_request(path, {"views": views}, Authorization=f"Bearer {self.batches['admin_key']}")

    def _build_push(self) -> bytes:
        """A folder of which one page has changed."""
        packed, number = io.BytesIO(), next(self.numbers)
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            for page in range(PUSHED):
                text = f"# Page {page}\n\nHow to turn valve {page}.\n\n## Twice\n\nTurn it again.\n" * 5
                content = (text + f"\nRevision {number}.\n" * (page == 0)).encode()
                entry = tarfile.TarInfo(f"docs/page-{page}.md")
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content))
        body = packed.getvalue()
        head = f"PUT /v1/sources/{self.owner['project_id']}/docs HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        head += f"Authorization: Bearer {self.owner['admin_key']}\r\nContent-Length: {len(body)}\r\n\r\n"
        return head.encode() + body


class Run:
    """One database with all parts around it."""

    def __init__(self, database: str, views: int, documentation: Path, folder: Path) -> None:
        self.database, self.views, self.folder = database, views, folder
        (folder / "data").mkdir(parents=True)
        self.manifest, self.questions = relays.find_documentation(documentation, folder / "docs")
        # Without vectors, which the worker would make meanwhile.
        self.env = {"DATA_DIR": str(folder / "data"), "EMBEDDINGS": "none", **relays.limits()}
        self.pids: dict[str, list[int]] = {}
        self.costs: list[Cost] = []

    def measure(self, keep: Callable[[list[Cost]], None]) -> None:
        """Fill the database, then put each load on it. `keep` gets what is measured so far, after each load."""
        with ExitStack() as stack:
            servers = Stage(self.folder)
            stack.callback(servers.end)
            self._start_servers(stack, servers)
            command = [sys.executable, "-m", "tests.bench.capacity.fill"]
            self.filler = Worker("fill", command, self.folder, DJANGO_SETTINGS_MODULE="docsite.settings", **self.env)
            stack.callback(self.filler.end)
            self._fill()
            for processes, projects, kinds in SETUPS if self.database == POSTGRESQL else SETUPS[:1]:
                plain = [kind for kind in kinds if not kind.endswith("model")]
                for some, env in ((plain, {}), ([kind for kind in kinds if kind not in plain], self.model_env)):
                    if some:
                        with self._services(processes, env) as services:
                            asyncio.run(self._measure_kinds(services, some, projects, keep))
            self._measure_seals()
            keep(self.costs)

    def _start_servers(self, stack: ExitStack, servers: Stage) -> None:
        model = servers.start("model", [sys.executable, "-m", "tests.bench.model", str(port := free_port())], port)
        asyncio.run(_plan(model))
        self.model_env = {"OPENAI_BASE_URL": f"http://127.0.0.1:{model.port}/v1", "OPENAI_MODEL": "bench"}
        if self.database == SQLITE:
            return
        server = stack.enter_context(engines.postgres())
        redis, nats = free_port(), free_port()
        options = ["--port", str(redis), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
        started = servers.start("redis", ["redis-server", *options], redis, ANY_CORE)
        options = ["-js", "-sd", str(self.folder / "nats"), "-a", "127.0.0.1", "-p", str(nats)]
        log = servers.start("nats", ["nats-server", *options], nats, ANY_CORE)
        for one in (started, log):
            asyncio.run(relays.ready(one))
        self.pids |= {POSTGRESQL: [server.pid], REDIS: [started.popen.pid], NATS: [log.popen.pid]}
        self.env["DATABASE_URL"] = server.address
        self.env_of_services = {"REDIS_URL": f"redis://127.0.0.1:{redis}/0", "VIEW_LOG_URL": f"nats://127.0.0.1:{nats}"}

    def _fill(self) -> None:
        call = self.filler.call
        say(f"{self.database}: filling")
        made = call("projects", count=PROJECTS)
        self.keys = [(domain, key) for domain, key in made["keys"]]
        self.large, self.owner = {key: made[key] for key in ("project_id", "admin_key")}, made["owner"]
        call("sections", folder=str(self.manifest.parent), count=SECTIONS)
        domains = call("bulk", projects=MANY_PROJECTS, views=self.views)["domains"]
        self.keys += [(domain, "") for domain in domains]

    @contextmanager
    def _services(self, processes: int, env: dict[str, str]) -> Iterator[list[Process]]:
        """Web processes, and a worker beside them where the database is a server."""
        stage = Stage(self.folder)
        env = {**self.env, **env, **(self.env_of_services if self.database == POSTGRESQL else {})}
        try:
            services = []
            for number in range(processes):
                port = free_port()
                command = [sys.executable, "manage.py", "serve", "--port", str(port)]
                command += ["--no-background"] * (self.database == POSTGRESQL)
                services.append(stage.start(f"ours-{port}-{number}", command, port, ANY_CORE, **env))
            self.pids[WEB] = [one.popen.pid for one in services]
            if self.database == POSTGRESQL:
                command = [sys.executable, "manage.py", "worker", "--port", str(port := free_port())]
                worker = stage.start(f"ours-{port}-worker", command, port, ANY_CORE, **env)
                self.pids[WORKER] = [worker.popen.pid]
                asyncio.run(relays.ready(worker))
            yield services
        finally:
            stage.end()

    async def _measure_kinds(
        self, services: list[Process], kinds: Sequence[str], projects: int, keep: Callable[[list[Cost]], None]
    ) -> None:
        for service in services:
            await relays.ready(service)
        load = Requests(services, self.keys, self.questions, lambda: 0.0, lambda: 0)
        load.owner, load.batches = self.owner, self.large
        await self._settle()
        for kind in kinds:
            say(f"{self.database}: {kind}, {len(services)} of the service, {projects:,} projects")
            await self._warm(load, kind, projects)
            await self._settle()
            rounds = [await self._measure_round(load, kind, projects) for _ in range(ROUNDS)]
            self.costs.append(take_median(rounds))
            keep(self.costs)

    async def _warm(self, load: Requests, kind: str, projects: int) -> None:
        """Let the processes know the projects, unless there are so many that most requests are the first of one."""
        one_project = kind in ("batch", "page", "push")
        wanted = 1 if one_project or projects > PROJECTS else WARM_REQUESTS * projects * len(load.services)
        spent: list[float] = []
        until = time.monotonic() + WARM_SECONDS
        while len(spent) < wanted and time.monotonic() < until:
            await load.run(kind, projects, WARM, spent, Figures(kind, 0, 0))

    async def _measure_round(self, load: Requests, kind: str, projects: int) -> Cost:
        cost, figures, spent = Cost(self.database, kind, len(load.services), projects), Figures(kind, 0, 0), []
        witness, before, began = Witness(), self._read(), time.perf_counter()
        with witness.watch(kind):
            await load.run(kind, projects, SECONDS, spent, figures)
            elapsed = time.perf_counter() - began
            await self._settle()
        cost.requests = len(spent) * (BATCH if kind == "batch" else 1)
        cost.per_second, cost.failures = cost.requests / elapsed, figures.failures
        after, count = self._read(), cost.requests or 1
        cost.cpu = {part: 1000 * (after[part] - before[part]) / count for part in after}
        cost.memory = sum(service.rss() for service in load.services)
        cost.others = witness.share(kind)
        return cost

    async def _settle(self) -> None:
        """Wait until nothing works any more, such as the worker on what the log holds."""
        until, cpu = time.monotonic() + SETTLE_SECONDS, sum(self._read().values())
        while time.monotonic() < until:
            await asyncio.sleep(1)
            before, cpu = cpu, sum(self._read().values())
            if cpu - before < SETTLED:
                return

    def _measure_seals(self) -> None:
        """What counting views costs, which depends on how many a project has at once."""
        self.pids = {part: pids for part, pids in self.pids.items() if part == POSTGRESQL}
        for views, projects in SEALS:
            cost = Cost(self.database, f"count {views:,} views of a project", 0, projects, views * projects)
            rounds = []
            for _ in range(ROUNDS):
                self.filler.call("few", projects=projects, views=views)
                before = self._read()
                spent = self.filler.call("seal")["cpu"]
                server = {part: seconds - before[part] for part, seconds in self._read().items()}
                rounds.append({WORKER: spent, **server})
            cost.cpu = {part: 1000 * median(one[part] for one in rounds) / cost.requests for part in rounds[0]}
            self.costs.append(cost)

    def _read(self) -> dict[str, float]:
        """Seconds of each part, with processes that it has started and that have ended."""
        return {
            part: sum(read_cpu(list_processes(pid), with_ended=True) for pid in pids)
            for part, pids in self.pids.items()
        }


async def _plan(model: Process) -> None:
    await relays.ready(model)
    await Caller(model.port).post("/plan", asdict(Plan(tokens=TOKENS)))


def take_median(rounds: Sequence[Cost]) -> Cost:
    """The median of each part; the most of what makes a row void."""
    one = rounds[0]
    one.cpu = {part: median(cost.cpu[part] for cost in rounds) for part in one.cpu}
    one.per_second = median(cost.per_second for cost in rounds)
    one.requests = sum(cost.requests for cost in rounds)
    one.memory, one.others = (max(getattr(cost, name) for cost in rounds) for name in ("memory", "others"))
    one.failures = sum(cost.failures for cost in rounds)
    return one


def measure(databases: Sequence[str], views: int, data: Path, folder: Path, keep: Callable[[Any], None]) -> Any:
    """Every cost, as JSON. `keep` gets it after each load."""
    done: list[dict[str, Any]] = []
    for database in databases:
        run, before = Run(database, views, data, folder / database), [*done]
        run.measure(lambda costs, before=before: keep(before + [asdict(cost) for cost in costs]))
        done += [asdict(cost) for cost in run.costs]
    return done
