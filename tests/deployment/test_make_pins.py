"""`make pins`, with a stand-in for Docker Hub and GitHub."""

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.processes import ROOT

DIGESTS = {
    "node/manifests/22-bookworm-slim": "sha256:" + "a" * 64,
    "python/manifests/3.12-slim-bookworm": "sha256:" + "b" * 64,
    "postgres/manifests/17-bookworm": "sha256:" + "c" * 64,
    "redis/manifests/8-bookworm": "sha256:" + "d" * 64,
    "nats/manifests/2-alpine": "sha256:" + "e" * 64,
    "nginx/manifests/1.28-bookworm": "sha256:" + "f" * 64,
}
COMMITS = {
    "actions/checkout/commits/v4": "1" * 40,
    "actions/setup-python/commits/v5": "2" * 40,
    "docker/setup-buildx-action/commits/v3": "3" * 40,
    "docker/setup-qemu-action/commits/v3": "4" * 40,
}
PIN = re.compile(r"@sha256:[0-9a-f]{64}|[0-9a-f]{40} # ")


@pytest.fixture
def hub() -> Iterator[Any]:
    """The server. It wants a token for images, as Docker Hub does. `server.failing` is a part of a path that fails."""

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            if self.headers.get("Authorization") != "Bearer of a reader":
                scope = f'Bearer realm="{url}/token",service="registry",scope="{self.path}"'
                return self.answer(401, **{"WWW-Authenticate": scope})
            assert "image.index" in self.headers["Accept"]
            digest = DIGESTS[self.path.removeprefix("/v2/library/")]
            return self.answer(200, **{"Docker-Content-Digest": digest})

        def do_GET(self) -> None:
            if self.path.startswith("/token?service=registry&scope="):
                return self.answer(200, b'{"token": "of a reader"}')
            return self.answer(200, COMMITS[self.path.removeprefix("/repos/")].encode())

        def answer(self, status: int, content: bytes = b"", **headers: str) -> None:
            self.send_response(500 if server.failing in self.path else status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    server: Any = HTTPServer(("127.0.0.1", 0), Handler)
    server.failing = "nothing"
    url = server.url = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    yield server
    server.shutdown()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The files with tags."""
    for name in ("Dockerfile", "docsite/deploy/compose.yaml", ".github/workflows/release.yml"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def read(clone: Path) -> str:
    return "".join(path.read_text() for path in sorted(clone.rglob("*")) if path.is_file())


def pin(clone: Path, url: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "REGISTRY": url, "GITHUB_API": url, "NO_PROXY": "127.0.0.1"}
    command = [sys.executable, str(ROOT / ".ci/pins.py")]
    return subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_tags_get_what_they_name_today(hub: Any, clone: Path) -> None:
    before = PIN.sub("", read(clone))  # the repository may have pins
    for _ in range(2):
        done = pin(clone, hub.url)
        assert (done.returncode, done.stderr) == (0, "")
    text = read(clone)
    images = re.findall(r"(?m)^(?:FROM(?: --platform=\S+)?| +image:) ([\w.-]+):([\w.-]+)@(\S+)", text)
    assert {f"{name}/manifests/{tag}": digest for name, tag, digest in images} == DIGESTS
    actions = re.findall(r"uses: (\S+)@(\S+) # (\S+)\n", text)
    assert {f"{name}/commits/{tag}": commit for name, commit, tag in actions} == COMMITS
    assert PIN.sub("", text) == before, "nothing else changes"


@pytest.mark.parametrize("failing", ["/token", "redis", "setup-python"])
def test_nothing_changes_unless_all_is_found(hub: Any, clone: Path, failing: str) -> None:
    before = read(clone)
    hub.failing = failing
    done = pin(clone, hub.url)
    assert (done.returncode, read(clone)) == (1, before)
    assert done.stderr.startswith("Nothing was changed, since something could not be looked up: HTTP Error 500")


def test_without_a_network_it_says_so(clone: Path) -> None:
    done = pin(clone, "http://127.0.0.1:9")
    assert done.returncode == 1
    assert re.fullmatch("Nothing was changed, since something could not be looked up: .*refused.*\n", done.stderr)
