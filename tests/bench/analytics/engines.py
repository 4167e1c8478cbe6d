"""Starts what is compared: a process for each engine, packages for each peer, and a PostgreSQL server."""

import os
import pwd
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.bench import relays
from tests.bench.relays import Trouble
from tests.bench.search.engines import Worker
from tests.ports import free_port
from tests.services.conftest import postgres_program

OURS, SMALL, SMALL_POSTGRES = "ours", "ours-tenth", "ours-tenth-postgresql"
PACKAGES = {  # of the peers; those of PostgreSQL's client are the service's own
    "postgresql": "",
    "duckdb": "duckdb",
    "duckdb-approx": "duckdb",
    "datasketches": "datasketches",
    "clickhouse": "chdb",
    "clickhouse-by-page": "chdb",
}
REQUIREMENTS = relays.HERE / "requirements-analytics.txt"
START_SECONDS = 20
POSTGRES = {
    "shared_buffers": "1GB",
    "effective_cache_size": "4GB",
    "work_mem": "256MB",
    "maintenance_work_mem": "512MB",
    "max_wal_size": "8GB",
}


def start_peer(name: str, folder: Path, address: str) -> Worker:
    """A peer, with an environment that has its packages. Raises Trouble when they cannot be installed."""
    python, own = Path(sys.executable), folder / name
    if package := PACKAGES[name]:
        pins = re.findall(rf"^(?:numpy|{package})==.+$", REQUIREMENTS.read_text(), re.MULTILINE)
        wanted = folder / f"{package}.txt"
        wanted.write_text("\n".join(pins))
        python = relays.install(f"analytics-{package}", wanted)
    own.mkdir()
    return Worker(name, [python, "-m", "tests.bench.analytics.peers", name, own, address], folder)


def start_ours(name: str, folder: Path, address: str = "") -> Worker:
    """Our service's library, on SQLite in `folder/NAME` if no database is named."""
    data = folder / name
    data.mkdir()
    command = [sys.executable, "-m", "tests.bench.analytics.ours"]
    env = {"DATA_DIR": str(data), "DATABASE_URL": address, "DJANGO_SETTINGS_MODULE": "docsite.settings"}
    return Worker(name, command, folder, **env)


@dataclass(frozen=True)
class Server:
    """A running PostgreSQL server."""

    address: str
    pid: int


@contextmanager
def postgres() -> Iterator[Server]:
    """An empty server, with memory for this machine. Raises Trouble when there is none."""
    folder = Path(tempfile.mkdtemp(prefix="bench-postgres-"))
    try:
        try:
            port = free_port()
            server = _start_postgres(folder, port)
        except (OSError, subprocess.CalledProcessError) as failed:
            raise Trouble(f"PostgreSQL could not be started: {failed}") from None
        try:
            _wait_for_postgres(server, port)
            yield Server(f"postgres://docs@127.0.0.1:{port}/postgres", server.pid)
        finally:
            server.send_signal(signal.SIGINT)  # ends without waiting for its clients
            server.wait(30)
    finally:
        shutil.rmtree(folder)


def _start_postgres(folder: Path, port: int) -> "subprocess.Popen[bytes]":
    """The server refuses to run as root, so it runs as somebody else."""
    user = None
    if os.getuid() == 0:
        user = "postgres" if "postgres" in {entry.pw_name for entry in pwd.getpwall()} else "nobody"
        shutil.chown(folder, user)
    quiet = {"cwd": folder, "user": user, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    initdb = [postgres_program("initdb"), "-D", "data", "-U", "docs", "--auth=trust", "--no-sync"]
    subprocess.run(initdb, check=True, **quiet)
    command = [postgres_program("postgres"), "-D", "data", "-p", str(port), "-k", str(folder), "-h", "127.0.0.1"]
    options = [part for name, value in POSTGRES.items() for part in ("-c", f"{name}={value}")]
    return subprocess.Popen([*command, *options], **quiet)


def _wait_for_postgres(server: "subprocess.Popen[bytes]", port: int) -> None:
    ready = [postgres_program("pg_isready"), "-h", "127.0.0.1", "-p", str(port)]
    until = time.monotonic() + START_SECONDS
    while subprocess.run(ready, capture_output=True).returncode:
        if time.monotonic() > until or server.poll() is not None:
            raise Trouble("PostgreSQL did not start.")
        time.sleep(0.05)
