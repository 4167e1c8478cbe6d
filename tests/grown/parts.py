"""Processes that may be killed, silenced, and started again on the files that they have.

The engines among them are started by `docsite/deploy/grown/part.sh`, as in the containers.
"""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from tests.ports import free_port
from tests.processes import ROOT

DEPLOY = ROOT / "docsite" / "deploy"
PROGRAMS = f"{sys.prefix}/programs/bin"  # of `tests/unpack.sh`
SECONDS = 60.0  # for a start, an end, or whatever else an engine does
ENGINES = ("postgresql", "pgbouncer", "redis", "sentinel", "nats", "nginx")


def wait_until(condition: Callable[[], object], what: str, seconds: float = SECONDS) -> float:
    """Wait until the condition holds. Returns the seconds it took. Raises TimeoutError."""
    began = time.monotonic()
    while not condition():
        if time.monotonic() > began + seconds:
            raise TimeoutError(f"waited {seconds:.0f} s for {what}")
        time.sleep(0.05)
    return time.monotonic() - began


def accepts(port: int) -> bool:
    """Whether something listens at a port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def engine_user() -> str | None:
    """As whom engines run: PostgreSQL and PgBouncer refuse root. None: as whoever runs this."""
    if os.getuid() != 0:
        return None
    return "postgres" if "postgres" in {entry.pw_name for entry in pwd.getpwall()} else "nobody"


class Part:
    """A process with its children. It has a folder with its log."""

    def __init__(
        self,
        name: str,
        command: Sequence[str | Path],
        folder: Path,
        environment: dict[str, str],
        *,
        port: int,
        user: str | None = None,
        is_ready: Callable[[], bool] | None = None,
    ) -> None:
        self.name, self.port, self.folder = name, port, folder
        self.log = folder / "log"
        self._command, self._environment, self._user = command, environment, user
        self.is_ready = is_ready or (lambda: accepts(port))
        self._process: subprocess.Popen[bytes] | None = None
        folder.mkdir(mode=0o700, exist_ok=True)
        if user:
            shutil.chown(folder, user)

    @property
    def address(self) -> str:
        """Where it listens."""
        return f"127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        """Of its first process."""
        assert self._process
        return self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def launch(self) -> None:
        """Start it. It may not be ready yet."""
        self._end_orphans()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [str(word) for word in self._command],
                env=self._environment, cwd=self.folder if self._user else ROOT, user=self._user,
                stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip

    def wait(self) -> None:
        """Wait until the part is ready. Raises RuntimeError with the end of its log if its process ends instead."""
        wait_until(lambda: self.is_ready() or not self.is_running, f"{self.name}, {self.log}")
        if not self.is_running:
            raise RuntimeError(f"{self.name} has ended:\n{self.log.read_text(errors='replace')[-3000:]}")

    def start(self) -> None:
        """Start it, and wait until it is ready."""
        self.launch()
        self.wait()

    def kill(self) -> None:
        """End it with SIGKILL, without a word to anybody."""
        self._signal(signal.SIGKILL)
        if self._process:
            self._process.wait(SECONDS)

    def silence(self) -> None:
        """Stop it with SIGSTOP: connections stay open and say nothing, as in a network that drops packets."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Let it go on, with all that its peers have sent meanwhile."""
        self._signal(signal.SIGCONT)

    def ask_to_end(self, number: signal.Signals = signal.SIGTERM) -> None:
        """Send the first process a signal, after which it ends."""
        if self.is_running:
            self.resume()
            os.kill(self.pid, number)

    def end(self) -> None:
        """Wait until it has ended, and kill it if it does not."""
        if self._process:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(10)
            self.kill()
            self._end_orphans()

    def _end_orphans(self) -> None:
        """End what a killed process has left in its group: a worker of nginx holds the port, and answers with 502."""
        if self._process and not self.is_running:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    def _signal(self, number: signal.Signals) -> None:
        if not self.is_running:
            return
        for pid in _family(self.pid):  # the first process first, or it would start the others anew
            with suppress(ProcessLookupError):
                os.kill(pid, number)


def _family(pid: int) -> list[int]:
    """A process and all that descend from it, the oldest first."""
    found = [pid]
    for each in found:
        for task in Path(f"/proc/{each}/task").glob("*/children"):
            with suppress(OSError):
                found += map(int, task.read_text().split())
    return found


def copy_files(folder: Path) -> None:
    """Copy what starts an engine into a folder that the user of engines can read."""
    shutil.copytree(DEPLOY / "grown", folder / "deploy" / "grown")
    for name in ("pgbouncer.ini", "redis.conf", "nginx.conf"):
        shutil.copy(DEPLOY / name, folder / "deploy")
    if user := engine_user():
        for file in (folder, *folder.rglob("*")):
            shutil.chown(file, user)


def engine(kind: str, name: str, folder: Path, port: int | None = None, **variables: str) -> Part:
    """An engine, not started yet, in a folder below one with `copy_files`. `variables` are those of `part.sh`."""
    port = port or free_port()
    environment = {
        "PATH": f"{PROGRAMS}:{os.environ['PATH']}",
        "FOLDER": str(folder / name),
        "LISTEN": "127.0.0.1",
        "HOST": name if kind in ("postgresql", "nats") else "127.0.0.1",
        "PORT": str(port),
        **variables,
    }
    # The programs that were unpacked may be where only whoever runs this can read.
    user = None if kind == "nginx" else engine_user()
    script = folder / "deploy" / "grown" / "part.sh"
    return Part(name, ["sh", script, kind], folder / name, environment, port=port, user=user)
