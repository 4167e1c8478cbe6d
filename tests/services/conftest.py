"""PostgreSQL and Redis, both real, started here on free ports."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest

from tests.conftest import PATIENCE, wait_for
from tests.docsite.server.test_migrate import migrate_twice_at_once
from tests.ports import free_port


def postgres_program(name: str) -> str:
    """A program of PostgreSQL's: on the path, or where Debian keeps each version's."""
    kept = sorted(Path("/usr/lib/postgresql").glob(f"*/bin/{name}"))
    return str(kept[-1]) if kept else shutil.which(name) or name


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """Address of an empty database of a server. It refuses to run as root, so it runs as somebody else."""
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


@pytest.fixture(scope="session")
def new_database(postgres: str) -> Callable[[str], dict[str, str]]:
    """Make a migrated database, a copy of one. Returns the environment of its users.

    Two processes migrate that one at once, as in `test_migrate_on_postgresql.py`.
    """

    def make(name: str, template: str = "migrated") -> dict[str, str]:
        with psycopg.connect(postgres, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name} TEMPLATE {template}")
        return {"DATABASE_URL": f"{postgres.rpartition('/')[0]}/{name}"}

    migrate_twice_at_once(make("migrated", "template0"))
    return make


@pytest.fixture(scope="session")
def pooled(postgres: str) -> Iterator[Callable[[str], str]]:
    """How to reach the databases of the server through PgBouncer in transaction mode, which has few connections."""
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if program is None:
        pytest.skip("tests/install.sh could not install PgBouncer")
    server, port = urlsplit(postgres), free_port()
    folder = Path(tempfile.mkdtemp(prefix="docs-service-pgbouncer-"))
    settings = folder / "pgbouncer.ini"
    settings.write_text(
        f"[databases]\n* = host=127.0.0.1 port={server.port} user=docs\n"
        f"[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = any\n"
        "pool_mode = transaction\ndefault_pool_size = 8\nmax_client_conn = 500\nserver_reset_query =\n"
    )
    user = None
    if os.getuid() == 0:  # it refuses to run as root
        user = "postgres" if "postgres" in {entry.pw_name for entry in pwd.getpwall()} else "nobody"
        shutil.chown(folder, user)
        settings.chmod(0o644)
    log = (folder / "log").open("w")
    pooler = subprocess.Popen([program, "-q", settings], user=user, cwd=folder, stdout=log, stderr=log)
    wait_for(lambda: _accepts(port) or pooler.poll() is not None, "PgBouncer to start")
    assert pooler.poll() is None, (folder / "log").read_text()
    yield lambda url: url.replace(f":{server.port}/", f":{port}/")
    pooler.kill()
    pooler.wait(PATIENCE)
    shutil.rmtree(folder)


def start_redis(port: int, *options: str) -> subprocess.Popen[bytes]:
    """An empty Redis."""
    server = subprocess.Popen(
        ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", *options],
        stdout=subprocess.DEVNULL,
    )
    wait_for(lambda: _accepts(port) or server.poll() is not None, "Redis to start")
    assert server.poll() is None
    return server


def _accepts(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


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
