"""What is measured: our service under Daphne and uvicorn, its peers, and the fake model server behind them all.

Every process listens on loopback, has an environment of a few chosen variables, is held to one core, and is ended
by its process id. Our service runs on data of its own in a temporary folder, with its limits raised.
"""

import asyncio
import contextlib
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.bench.load import QUESTION, Endpoint
from tests.ports import free_port

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
# Before a question. Each makes it another text, with a vector and a search of its own.
OPENINGS = (
    "",
    "Hello! ",
    "Quick question: ",
    "Sorry to ask. ",
    "I am new here. ",
    "Please help me: ",
    "Hm. ",
    "Again: ",
)
START_SECONDS = 90.0
INSTALL_SECONDS = 900.0
DOMAIN, TINY, EMPTY = "bench", "tiny", "empty"
MAX_QUESTION = 300  # characters
STOCK_KEY = "stock-key"  # also in stock.py
LITELLM_KEY = "sk-bench"
_TICK = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100


class Trouble(Exception):
    """The benchmark cannot go on; a sentence for people."""


@dataclass
class Process:
    """A running server, with what it takes from the machine."""

    name: str
    port: int
    popen: "subprocess.Popen[bytes]"
    log: Path

    def pids(self) -> list[int]:
        """The process and its children."""
        return list_processes(self.popen.pid)

    def cpu(self) -> float:
        """Seconds of CPU used so far, by user and system."""
        return read_cpu(self.pids())

    def rss(self) -> int:
        """Bytes of resident memory."""
        total = 0
        for pid in self.pids():
            with contextlib.suppress(OSError):
                found = re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text())
                total += int(found[1]) * 1024 if found else 0
        return total

    def tail(self) -> str:
        """The end of its log."""
        return self.log.read_text(errors="replace")[-2_000:]

    def end(self, pids: list[int]) -> None:
        """Wait for it to end after its SIGTERM; SIGKILL for whatever of it is left after five seconds."""
        try:
            self.popen.wait(5)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            self.popen.wait(5)
        for child in pids[1:]:
            with contextlib.suppress(OSError):
                os.kill(child, 9)


def list_processes(pid: int) -> list[int]:
    """A process and its descendants."""
    found, waiting = [], [pid]
    while waiting:
        pid = waiting.pop()
        found.append(pid)
        for task in Path(f"/proc/{pid}/task").glob("*/children"):
            with contextlib.suppress(OSError):
                waiting += [int(child) for child in task.read_text().split()]
    return found


def read_cpu(pids: Iterable[int], *, with_ended: bool = False) -> float:
    """Seconds of CPU that processes have used, by user and system; also of their children that have ended."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
            total += sum(map(int, fields[11 : 15 if with_ended else 13]))
    return total / _TICK


def busy(core: int) -> float:
    """Seconds that a core has worked since the machine started, for whomever."""
    found = re.search(rf"^cpu{core} (.+)$", Path("/proc/stat").read_text(), re.MULTILINE)
    fields = [int(field) for field in found[1].split()] if found else []
    return (sum(fields[:3]) + sum(fields[5:8])) / _TICK  # without idle, waiting, and guests, who are in user


@dataclass
class Stage:
    """Starts processes and ends them all. Cores: the first for the relays, the last for the load."""

    folder: Path
    processes: list[Process] = field(default_factory=list)

    def __post_init__(self) -> None:
        cores = sorted(os.sched_getaffinity(0))
        self.relay_core, self.load_core = cores[0], cores[-1]

    def start(self, name: str, command: Sequence[str | Path], port: int, cores: str = "", **env: str) -> Process:
        """Start a server that is to listen on the port, on the relays' core if no others are named."""
        log = self.folder / f"{name}.log"
        with log.open("wb") as out:
            popen = subprocess.Popen(
                ["taskset", "-c", cores or str(self.relay_core), *map(str, command)],
                cwd=self.cwd(name), env=environment(**env), stdout=out, stderr=subprocess.STDOUT,
            )  # fmt: skip
        process = Process(name, port, popen, log)
        self.processes.append(process)
        return process

    def cwd(self, name: str) -> Path:
        """Peers and tools run from this repository, our service from the checkout that is measured."""
        return OURS if name.startswith("ours") else ROOT

    def end(self) -> None:
        """End every process that was started, by its id."""
        running = [(process, process.pids()) for process in self.processes]
        for process, _ in running:
            process.popen.terminate()
        for process, pids in running:
            with contextlib.suppress(OSError, subprocess.SubprocessError):
                process.end(pids)


OURS = Path(os.environ.get("OURS") or ROOT).resolve()
ENVIRONMENTS = ROOT / ".venv-bench"


def environment(**more: str) -> dict[str, str]:
    """The environment of a process: nothing of the shell's settings, proxies and keys."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "LD_LIBRARY_PATH") if name in os.environ}
    return {**kept, "PYTHONUNBUFFERED": "1", "PYTHONDONTWRITEBYTECODE": "1", **more}


def run(command: Sequence[str | Path], seconds: float, cwd: Path, **env: str) -> str:
    """The output of a command that must succeed."""
    try:
        done = subprocess.run(
            [str(part) for part in command], cwd=cwd, env=environment(**env), timeout=seconds, check=True,
            capture_output=True, text=True,
        )  # fmt: skip
    except subprocess.CalledProcessError as failed:
        raise Trouble(f"{' '.join(map(str, command[:4]))} … failed:\n{failed.stderr[-2_000:]}") from None
    except subprocess.TimeoutExpired:
        raise Trouble(f"{' '.join(map(str, command[:4]))} … took more than {seconds:.0f} s.") from None
    return done.stdout


def install(name: str, *requirements: Path) -> Path:
    """The Python of an environment that has these packages; made when it is missing or they have changed."""
    folder = ENVIRONMENTS / name
    python = folder / "bin" / "python"
    wanted = hashlib.sha256(b"".join(file.read_bytes() for file in requirements)).hexdigest()
    mark = folder / "installed"
    if not mark.exists() or mark.read_text() != wanted:
        say(f"Installing packages into {folder.relative_to(ROOT)} …")
        # The shell's environment stays: it says where packages come from.
        for command in (
            [sys.executable, "-m", "venv", "--clear", folder],
            *(
                [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", *_arguments(file)]
                for file in requirements
            ),
        ):
            try:
                subprocess.run(list(map(str, command)), timeout=INSTALL_SECONDS, check=True, stderr=subprocess.PIPE)
            except subprocess.SubprocessError as failed:
                output = getattr(failed, "stderr", None) or b""
                lines = [line for line in output.decode(errors="replace").splitlines() if "WARNING" not in line]
                raise Trouble("\n".join([f"The environment {name} could not be made.", *lines[-5:]])) from None
        mark.write_text(wanted)
    return python


def _arguments(requirements: Path) -> list[str | Path]:
    """Those of pip for a file. A lock file, which has hashes, names all packages that it needs."""
    return [*(["--no-deps"] if b"--hash=" in requirements.read_bytes() else []), "-r", requirements]


def list_requirements() -> list[Path]:
    """What `make demo` installs for our service, and what the benchmark adds."""
    return [OURS / "requirements.txt", OURS / "requirements-meaning.txt", HERE / "requirements.txt"]


def say(line: str) -> None:
    """Progress goes to stderr; stdout holds the table."""
    sys.stderr.write(f"{line}\n")
    sys.stderr.flush()


async def ready(process: Process) -> None:
    """Wait until a process listens; raise Trouble when it ends or takes too long."""
    until = time.monotonic() + START_SECONDS
    while True:
        if process.popen.poll() is not None:
            raise Trouble(f"{process.name} ended at once:\n{process.tail()}")
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", process.port)
            writer.close()
            return
        if time.monotonic() > until:
            raise Trouble(f"{process.name} did not listen within {START_SECONDS:.0f} s:\n{process.tail()}")
        await asyncio.sleep(0.1)


# Our service


@dataclass(frozen=True)
class Tenant:
    """Projects with real documentation, one page and none, and the folder of the database that has them."""

    data: Path
    keys: dict[str, str]  # by domain
    questions: tuple[str, ...]  # to the documentation
    sections: int


def limits() -> dict[str, str]:
    """Every limit of the service at a height that no run reaches, under the names that each `env.py` gives them."""
    text = "".join((OURS / app / "env.py").read_text() for app in ("docsite", "analytics", "assistant", "search"))
    rates = re.findall(r"^    (limit_\w+): Rate", text, re.MULTILINE)
    counts = re.findall(r"^    (max_\w+|daily_tokens_\w+): int", text, re.MULTILINE)
    return {name.upper(): "1000000000/d" for name in rates} | {name.upper(): "1000000000" for name in counts}


def prepare(stage: Stage, python: Path, documentation: Path) -> Tenant:
    """Make the database, with the largest set of a folder of judged queries."""
    data, page = stage.folder / "data", stage.folder / "page"
    manifest, questions = find_documentation(documentation, stage.folder / "docs")
    page.mkdir()
    (page / "feeder.md").write_text(f"# Label printers\n\n{QUESTION} Press the button beside the feeder.\n")

    def manage(*arguments: str | Path) -> str:
        return run([python, "manage.py", *arguments], 300, OURS, DATA_DIR=str(data))

    manage("migrate", "--verbosity", "0")
    keys = {}
    for domain in (DOMAIN, TINY, EMPTY):
        made = manage("createproject", domain, "--organization", domain, "--docs-url", "https://docs.example", "--json")
        keys[domain] = json.loads(made)["assistant_key"]
    ingested = json.loads(manage("ingest", DOMAIN, manifest.parent, "--manifest", manifest, "--json"))
    manage("ingest", TINY, page, "--json")
    for domain in (DOMAIN, TINY):
        manage("embed", domain)
    return Tenant(data, keys, questions, ingested["sections"])


def find_documentation(data: Path, folder: Path) -> tuple[Path, tuple[str, ...]]:
    """The manifest of the largest set of a folder of judged queries, and the questions to it."""
    for archive in sorted((data / "corpora").glob("*.tar.gz")):
        with tarfile.open(archive) as packed:
            packed.extractall(folder, filter="data")
    manifests = list(folder.glob("*/manifest.jsonl"))
    if not manifests:
        raise Trouble(f"{data} holds no documentation sets.")
    manifest = max(manifests, key=lambda file: len(file.read_bytes().splitlines()))
    queries = map(json.loads, (data / "queries.jsonl").read_text().splitlines())
    asked = [query["query"] for query in queries if query["corpus"] == manifest.parent.name]
    short = [question for question in asked if len(question) < MAX_QUESTION]
    return manifest, tuple(f"{opening}{question}" for opening in OPENINGS for question in short)


def serve(
    stage: Stage, name: str, server: str, python: Path, tenant: Tenant, upstream: Process, workers: int = 1
) -> Process:
    """Start our service on a copy of the database; uvicorn with as many workers, each with a core if there are."""
    port, data = free_port(), stage.folder / name
    shutil.copytree(tenant.data, data)
    command = {
        "daphne": [python, "manage.py", "serve", "--port", str(port)],
        "uvicorn": [*uvicorn(python, "docsite.asgi:application", port), "--workers", str(workers)],
    }[server]
    url = f"http://127.0.0.1:{upstream.port}/v1"
    extra = dict(pair.split("=", 1) for pair in os.environ.get("OURS_ENV", "").split())
    cores = f"{stage.relay_core}-{stage.relay_core + workers - 1}"
    return stage.start(
        name, command, port, cores, DATA_DIR=str(data), OPENAI_BASE_URL=url, OPENAI_MODEL="bench", **limits(), **extra
    )


def uvicorn(python: Path, application: str, port: int) -> list[str | Path]:
    """uvicorn as in production: one worker, no line for each request."""
    return [*(python, "-m", "uvicorn", application, "--port", str(port)), "--no-access-log", "--log-level", "warning"]


def build_endpoint(process: Process, kind: str, tenant: Tenant, domain: str = DOMAIN) -> Endpoint:
    """An endpoint of our service."""
    version, last = ("v2", "message") if kind == "v2" else ("v1", "socket" if kind == "socket" else "message")
    path = f"/discovery/{version}/assistant/{domain}/{last}"
    questions = tenant.questions if domain == DOMAIN else (QUESTION,)
    return Endpoint(kind, process.port, path, tenant.keys[domain], questions)


# Peers


def start_model(stage: Stage) -> Process:
    """The fake model server, on the core of the load."""
    port = free_port()
    return stage.start("model", [sys.executable, "-m", "tests.bench.model", str(port)], port, str(stage.load_core))


def start_floor(stage: Stage, python: Path, upstream: Process) -> Process:
    """The minimal relay."""
    port = free_port()
    return stage.start(
        "starlette",
        uvicorn(python, "tests.bench.floor:app", port),
        port,
        OPENAI_BASE_URL=f"http://127.0.0.1:{upstream.port}/v1",
    )


def start_litellm(stage: Stage, python: Path, upstream: Process) -> Process:
    """LiteLLM's proxy as its documentation deploys it: one worker, a master key, production mode, errors logged.

    Without a database, and without looking anything up on the internet.
    """
    port, config = free_port(), stage.folder / "litellm.yaml"
    config.write_text(
        "model_list:\n  - model_name: bench\n    litellm_params:\n      model: openai/bench\n"
        f"      api_base: http://127.0.0.1:{upstream.port}/v1\n      api_key: sk-none\n"
        "litellm_settings:\n  num_retries: 0\n  request_timeout: 120\n"
        f"general_settings:\n  master_key: {LITELLM_KEY}\n"
    )
    command = [python.with_name("litellm"), "--config", config, "--host", "127.0.0.1", "--port", str(port)]
    return stage.start(
        "litellm", command, port,
        LITELLM_LOCAL_MODEL_COST_MAP="True", LITELLM_MODE="PRODUCTION", LITELLM_LOG="ERROR",
        LITELLM_DONT_SHOW_FEEDBACK_BOX="True", NO_COLOR="1",
    )  # fmt: skip


def start_stock(stage: Stage, python: Path) -> Process:
    """The stock Django project, on Daphne."""
    port, data = free_port(), stage.folder / "stock"
    data.mkdir()
    run([python, "-m", "tests.bench.stock"], 60, ROOT, DATA_DIR=str(data))
    command = [python, "-m", "daphne", "-v", "0", "-b", "127.0.0.1", "-p", str(port), "tests.bench.stock:application"]
    return stage.start("stock", command, port, DATA_DIR=str(data))
