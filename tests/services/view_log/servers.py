"""Servers of NATS with JetStream that may be killed and started again on their files."""

import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import nats
import pytest

from tests.conftest import PATIENCE, wait_for
from tests.ports import free_port


def program() -> str:
    """The path of the server. Skips the test where tests/install.sh could not install it."""
    found = shutil.which("nats-server") or shutil.which("nats-server", path="/usr/sbin")
    if found is None:
        pytest.skip("tests/install.sh could not install nats-server")
    return found


class Server:
    """A running server. `settings` is added to its configuration."""

    def __init__(self, settings: str = "") -> None:
        self.port = free_port()
        self._program = program()
        self._folder = Path(tempfile.mkdtemp(prefix="docs-service-nats-"))
        self._config = self._folder / "nats.conf"
        self._config.write_text(
            f'listen: "127.0.0.1:{self.port}"\njetstream {{store_dir: "{self._folder}"}}\n{settings}'
        )
        self.start()

    @property
    def host(self) -> str:
        """Where it listens."""
        return f"127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """Its address as `VIEW_LOG_URL`."""
        return f"nats://{self.host}"

    def start(self) -> None:
        """Start it on the files that it has."""
        command = [self._program, "--config", str(self._config), "--log", str(self._folder / "log")]
        self._process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_for(lambda: self._accepts() or self._process.poll() is not None, "NATS to start")
        assert self._process.poll() is None, (self._folder / "log").read_text()

    def kill(self) -> None:
        """End it with SIGKILL."""
        self._process.kill()
        self._process.wait(PATIENCE)

    def end(self) -> None:
        """End it, and remove its files."""
        self.kill()
        shutil.rmtree(self._folder)

    def _accepts(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0


async def stream(url: str, name: str = "docs_views", **changes: Any) -> Any:
    """The state of a stream; with `changes`, after its configuration was changed."""
    client = await nats.connect(url)
    try:
        context = client.jetstream()
        info = await context.stream_info(name)
        if changes:
            await context.update_stream(info.config, **changes)
        return info.state
    finally:
        await client.close()
