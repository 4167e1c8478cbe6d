"""All parts of the profile on loopback ports, in a folder of their own."""

import asyncio
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import psycopg

from tests.grown.parts import Part, copy_files, engine, wait_until
from tests.ports import free_port
from tests.processes import ROOT

WEB = ("web-1", "web-2")


class Profile:
    """PostgreSQL with a standby, a PgBouncer beside each, Redis with Sentinel, three of NATS, nginx, and the service.

    `more` is further environment of the service.
    """

    def __init__(self, **more: str) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="docs-service-grown-"))
        copy_files(self.folder)
        self.password = secrets.token_hex(16)
        self.parts: dict[str, Part] = {}
        self.primary, self.standby = "postgres-1", "postgres-2"
        self._add_databases()
        self._add_redis()
        self._add_nats()
        self.environment = {**os.environ, **self._settings(), **more}
        self._add_service()

    @property
    def url(self) -> str:
        """Of nginx."""
        return f"https://{self.parts['nginx'].address}"

    @property
    def commands(self) -> dict[str, str]:
        """The environment of commands, which go to PostgreSQL itself."""
        return {**self.environment, "DATABASE_URL": self._database_url("postgres-1", "postgres-2")}

    def start(self) -> None:
        """Start all parts, and wait until the site answers."""
        engines = [part for part in self.parts.values() if part.name not in (*WEB, "worker")]
        for part in engines:
            part.launch()
        for part in engines:
            part.wait()
        self._wait_for_standby()
        self.run("migrate", "--verbosity", "0")
        for name in (*WEB, "worker"):
            self.parts[name].launch()
        for name in (*WEB, "worker"):
            self.parts[name].wait()

    def start_redis(self) -> None:
        """Start only Redis and its Sentinels."""
        for name, part in self.parts.items():
            if name.startswith(("redis", "sentinel")):
                part.start()
        wait_until(self._redis_is_whole, "Redis to have its replica")

    def run(self, *words: str) -> str:
        """Run a command of `manage.py`, and return what it prints."""
        done = subprocess.run(
            [sys.executable, "manage.py", *words], cwd=ROOT, env=self.commands, capture_output=True, text=True
        )
        if done.returncode:
            raise RuntimeError(f"{words}: {done.stdout}{done.stderr}")
        return done.stdout

    def end(self) -> None:
        """End all parts, those that use others first, and remove the folder."""
        parts = list(reversed(self.parts.values()))
        users = [part for part in parts if part.name in ("nginx", "worker", *WEB)]
        for group in (users, [part for part in parts if part not in users]):
            for part in group:
                # A "fast" end of PostgreSQL does not wait for its clients.
                part.ask_to_end(signal.SIGINT if part.name.startswith("postgres") else signal.SIGTERM)
            for part in group:
                part.end()
        shutil.rmtree(self.folder)

    def query(self, name: str, statement: str) -> list[tuple[Any, ...]]:
        """The rows of a statement on one of the PostgreSQL servers."""
        with psycopg.connect(self._database_url(name), autocommit=True, connect_timeout=5) as database:
            cursor = database.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def promote(self) -> None:
        """Make the primary of the standby. The old one must not accept connections any more."""
        self.query(self.standby, "SELECT pg_promote()")
        self.primary, self.standby = self.standby, self.primary

    def rebuild_standby(self) -> None:
        """Make a standby of the server that was the primary, from the new one."""
        old = self.parts[self.standby]
        old.kill()
        shutil.rmtree(old.folder / "data", ignore_errors=True)
        self.parts[self.standby] = self._postgresql(self.standby, follows=self.parts[self.primary], port=old.port)
        self.parts[self.standby].start()
        self.query(self.primary, "ALTER SYSTEM SET synchronous_standby_names = '*'")
        self.query(self.primary, "SELECT pg_reload_conf()")
        self._wait_for_standby()

    def mend(self) -> None:
        """Bring all parts back that have failed, and wait until each has its peers again."""
        if not self.parts[self.standby].is_running:
            self.rebuild_standby()
        for part in self.parts.values():
            part.wait()
        self._wait_for_standby()
        wait_until(self._redis_is_whole, "Redis to have its replica")
        wait_until(lambda: len(self.nats_roles()[1]) == 2, "NATS to have its replicas")

    def find_redis_primary(self) -> str:
        """The part that Sentinel calls the primary. Empty: none is known."""
        for number in (1, 2, 3):
            words = ("sentinel", "get-master-addr-by-name", "docs")
            found = self._ask_redis(self.parts[f"sentinel-{number}"], *words).split()
            if len(found) == 2:
                return next((name for name in ("redis-1", "redis-2") if str(self.parts[name].port) == found[1]), "")
        return ""

    def _redis_is_whole(self) -> bool:
        """Whether the primary has its replica."""
        name = self.find_redis_primary()
        return bool(name) and "state=online" in self._ask_redis(self.parts[name], "info", "replication")

    def nats_roles(self) -> tuple[str, list[str]]:
        """The server that leads the stream of views, and those that follow it and are up to date."""
        cluster = asyncio.run(self._stream_info()).get("cluster", {})
        current = [each["name"] for each in cluster.get("replicas", ()) if each.get("current")]
        return cluster.get("leader", ""), current

    def _add_databases(self) -> None:
        primary = self.parts["postgres-1"] = self._postgresql("postgres-1")
        self.parts["postgres-2"] = self._postgresql("postgres-2", follows=primary)
        for number in (1, 2):
            server = self.parts[f"postgres-{number}"]
            self._add("pgbouncer", f"pgbouncer-{number}", SERVERS=server.address)

    def _postgresql(self, name: str, follows: Part | None = None, port: int | None = None) -> Part:
        followed = follows.address if follows else ""
        part = engine("postgresql", name, self.folder, port, PASSWORD=self.password, FOLLOWS=followed)
        part.is_ready = lambda: self._answers(name)
        return part

    def _answers(self, name: str) -> bool:
        with suppress(psycopg.OperationalError):
            return bool(self.query(name, "SELECT 1"))
        return False

    def _add_redis(self) -> None:
        primary = self._add("redis", "redis-1")
        self._add("redis", "redis-2", FOLLOWS=primary.address)
        for number in (1, 2, 3):
            self._add("sentinel", f"sentinel-{number}", FOLLOWS=primary.address)

    def _add_nats(self) -> None:
        ports = [str(free_port()) for _ in range(3)]
        routes = ",".join(f"127.0.0.1:{port}" for port in ports)
        for number, port in enumerate(ports, 1):
            self._add("nats", f"nats-{number}", CLUSTER_PORT=port, SERVERS=routes)

    def _add_service(self) -> None:
        ports = [free_port() for _ in range(3)]
        servers = ",".join(f"127.0.0.1:{port}" for port in ports[:2])
        self._add("nginx", "nginx", SERVERS=servers, HTTP_PORT=str(free_port()))
        for name, port in zip((*WEB, "worker"), ports, strict=True):
            words = ["serve", "--no-background"] if name in WEB else ["worker"]
            command = [sys.executable, "manage.py", *words, "--host", "127.0.0.1", "--port", str(port)]
            part = Part(name, command, self.folder / name, self.environment, port=port)
            part.is_ready = partial(_is_ready, port)
            self.parts[name] = part

    def _add(self, kind: str, name: str, **variables: str) -> Part:
        self.parts[name] = engine(kind, name, self.folder, PASSWORD=self.password, **variables)
        return self.parts[name]

    def _settings(self) -> dict[str, str]:
        hosts = {
            kind: ",".join(part.address for part in self.parts.values() if part.name.startswith(kind))
            for kind in ("sentinel", "nats")
        }
        return {
            "ALLOWED_HOSTS": "127.0.0.1,localhost",
            "TRUSTED_PROXIES": "127.0.0.1",
            "HTTPS_ONLY": "true",
            "SECRET_KEY": secrets.token_hex(32),
            "DATA_DIR": str(self.folder / "data"),
            "DATABASE_URL": self._database_url("pgbouncer-1", "pgbouncer-2"),
            "REDIS_URL": f"redis+sentinel://:{self.password}@{hosts['sentinel']}/docs/0?sentinel_password={self.password}",
            "VIEW_LOG_URL": f"nats://docs:{self.password}@{hosts['nats']}",
        }

    def _database_url(self, *names: str) -> str:
        hosts = ",".join(self.parts[name].address for name in names)
        return f"postgres://docs:{self.password}@{hosts}/docs"

    def _wait_for_standby(self) -> None:
        states = "SELECT sync_state FROM pg_stat_replication"
        wait_until(lambda: self.query(self.primary, states) == [("sync",)], "the standby to follow")

    def _ask_redis(self, part: Part, *words: str) -> str:
        command = ["redis-cli", "-h", "127.0.0.1", "-p", str(part.port), *words]
        environment = {**os.environ, "REDISCLI_AUTH": self.password}
        with suppress(subprocess.TimeoutExpired):
            return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=2).stdout
        return ""

    async def _stream_info(self) -> dict[str, Any]:
        import nats

        servers = [f"nats://{part.address}" for part in self.parts.values() if part.name.startswith("nats")]
        client = await nats.connect(servers, user="docs", password=self.password, connect_timeout=2)
        try:
            answer = await client.request("$JS.API.STREAM.INFO.docs_views", b"", timeout=2)
            info: dict[str, Any] = json.loads(answer.data)
            return info
        finally:
            await client.close()


def _is_ready(port: int) -> bool:
    with suppress(OSError), urlopen(f"http://127.0.0.1:{port}/health/ready", timeout=3) as answer:
        return bool(answer.status == 200)
    return False
