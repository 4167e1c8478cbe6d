"""PostgreSQL servers that may be killed."""

import os
import pwd
import shutil
import signal
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg

from tests.conftest import PATIENCE, wait_for
from tests.ports import free_port
from tests.services.conftest import postgres_program


class Server:
    """A running PostgreSQL server: a replica of `primary`, or without one a primary of its own."""

    def __init__(self, primary: "Server | None" = None) -> None:
        self._user = None
        if os.getuid() == 0:  # it refuses to run as root
            self._user = "postgres" if "postgres" in {entry.pw_name for entry in pwd.getpwall()} else "nobody"
        self._folder = Path(tempfile.mkdtemp(prefix="docs-service-faults-"))
        if self._user:
            shutil.chown(self._folder, self._user)
        self.port = free_port()
        data = str(self._folder / "data")
        if primary:
            copy = ("-h", "127.0.0.1", "-p", str(primary.port), "-U", "docs", "-R", "-X", "stream", "--checkpoint=fast")
            self._run("pg_basebackup", "-D", data, *copy, "--no-sync")
        else:
            self._run("initdb", "-D", data, "-U", "docs", "--auth=trust", "--no-sync")
        self._server = subprocess.Popen(
            [postgres_program("postgres"), "-D", data, "-p", str(self.port), "-k", self._folder, "-h", "127.0.0.1"],
            user=self._user, cwd=self._folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        ready = [postgres_program("pg_isready"), "-h", "127.0.0.1", "-p", str(self.port)]
        wait_for(lambda: subprocess.run(ready, capture_output=True).returncode == 0, "PostgreSQL to start")

    def _run(self, program: str, *options: str) -> None:
        command = [postgres_program(program), *options]
        subprocess.run(command, check=True, user=self._user, cwd=self._folder, capture_output=True)

    @property
    def url(self) -> str:
        """The address of its database."""
        return f"postgres://docs@127.0.0.1:{self.port}/postgres"

    def query(self, statement: str) -> list[tuple[Any, ...]]:
        """The rows of a statement."""
        with psycopg.connect(self.url, autocommit=True) as database:
            cursor = database.execute(statement)
            return cursor.fetchall() if cursor.description else []

    def kill(self) -> None:
        """End it at once, without a word to its clients."""
        if self._server.poll() is not None:
            return
        children = Path(f"/proc/{self._server.pid}/task/{self._server.pid}/children").read_text().split()
        self._server.kill()  # first, or it would start anew
        for child in children:
            with suppress(ProcessLookupError):
                os.kill(int(child), signal.SIGKILL)
        self._server.wait(PATIENCE)

    def remove(self) -> None:
        """End it and remove its data."""
        self._server.send_signal(signal.SIGQUIT)  # at once
        self._server.wait(PATIENCE)
        shutil.rmtree(self._folder)
