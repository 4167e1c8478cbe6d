"""PostgreSQL and Redis, both real, started here on free ports."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import PATIENCE, wait_for
from tests.ports import free_port


def postgres_program(name: str) -> str:
    """A program of PostgreSQL's: on the path, or where Debian keeps each version's."""
    kept = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(kept[-1]) if kept else shutil.which(name) or name


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Address of an empty database. The server refuses to run as root, so it runs as somebody else."""
    user = None
    if os.getuid() == 0:
        names = {entry.pw_name for entry in pwd.getpwall()}
        user = "postgres" if "postgres" in names else "nobody"
    folder = Path(tempfile.mkdtemp(prefix="docs-service-postgres-"))
    if user:
        shutil.chown(folder, user)
    port = free_port()
    subprocess.run(
        [postgres_program("initdb"), "-D", folder / "data", "-U", "docs", "--auth=trust", "--no-sync"],
        check=True, user=user, cwd=folder, capture_output=True,
    )  # fmt: skip
    server = subprocess.Popen(
        [postgres_program("postgres"), "-D", folder / "data", "-p", str(port), "-k", folder, "-h", "127.0.0.1",
         "-c", "max_connections=500",  # tests start many services, each with up to 16
         "-c", "fsync=off", "-c", "full_page_writes=off"],  # no test cuts the power
        user=user, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    ready = [postgres_program("pg_isready"), "-h", "127.0.0.1", "-p", str(port)]
    wait_for(lambda: subprocess.run(ready, capture_output=True).returncode == 0, "PostgreSQL to start")
    yield f"postgres://docs@127.0.0.1:{port}/postgres"
    server.send_signal(signal.SIGQUIT)  # at once: nobody needs what it has not written yet
    server.wait(PATIENCE)
    shutil.rmtree(folder)


def start_redis(port: int) -> subprocess.Popen[bytes]:
    """An empty Redis."""
    server = subprocess.Popen(
        ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
        stdout=subprocess.DEVNULL,
    )
    time.sleep(0.3)
    assert server.poll() is None
    return server


@pytest.fixture(scope="session")
def redis() -> Iterator[str]:
    """Address of an empty Redis."""
    port = free_port()
    server = start_redis(port)
    yield f"redis://127.0.0.1:{port}/0"
    server.terminate()
    server.wait(PATIENCE)


@pytest.fixture
def own_redis() -> Iterator[tuple[str, Callable[[], None]]]:
    """Address of a Redis for one test, and how to kill and start it anew."""
    port = free_port()
    servers = [start_redis(port)]

    def restart() -> None:
        servers[-1].kill()
        servers[-1].wait(PATIENCE)
        servers.append(start_redis(port))

    yield f"redis://127.0.0.1:{port}/0", restart
    servers[-1].terminate()
    servers[-1].wait(PATIENCE)
