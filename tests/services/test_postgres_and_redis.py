"""The same suite on PostgreSQL and Redis, both real, both started here on free ports."""

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT, free_port, wait_for

pytestmark = pytest.mark.services


def postgres_program(name: str) -> str:
    """A program of PostgreSQL's: on the path, or where Debian keeps each version's."""
    kept = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(kept[-1]) if kept else shutil.which(name) or name


@pytest.fixture(scope="module")
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
        [postgres_program("postgres"), "-D", folder / "data", "-p", str(port), "-k", folder, "-h", "127.0.0.1"],
        user=user, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    ready = [postgres_program("pg_isready"), "-h", "127.0.0.1", "-p", str(port)]
    wait_for(lambda: subprocess.run(ready, capture_output=True).returncode == 0, 20, "PostgreSQL to start")
    yield f"postgres://docs@127.0.0.1:{port}/postgres"
    server.terminate()
    server.wait(20)
    shutil.rmtree(folder)


@pytest.fixture(scope="module")
def redis() -> Iterator[str]:
    """Address of an empty Redis."""
    port = free_port()
    server = subprocess.Popen(
        ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"],
        stdout=subprocess.DEVNULL,
    )
    time.sleep(0.3)
    assert server.poll() is None
    yield f"redis://127.0.0.1:{port}/0"
    server.terminate()
    server.wait(10)


def test_the_quick_suite_passes_on_postgresql_and_redis(postgres: str, redis: str) -> None:
    stores = {"TEST_DATABASE_URL": postgres, "TEST_REDIS_URL": redis}
    run = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-m", "not browser and not node and not services"],
        cwd=ROOT, env={**os.environ, **stores}, capture_output=True, text=True,
    )  # fmt: skip
    assert run.returncode == 0, run.stdout[-8000:]
    assert " passed" in run.stdout.splitlines()[-1]
