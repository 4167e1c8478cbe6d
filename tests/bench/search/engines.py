"""The engines that are compared, each a process of its own, and the settings that make engines of ours."""

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.bench.relays import ROOT, Trouble, environment

OURS = "ours"
MINISEARCH = "MiniSearch fuzzy"
HERE = Path(__file__).resolve().parent

PYTHON_PEERS = {"FTS5 porter": "fts5", "FTS5 porter, whole pages": "fts5-pages", "tantivy en_stem": "tantivy"}
NODE_PEERS = {MINISEARCH: "minisearch", "lunr": "lunr", "Orama": "orama", "Pagefind": "pagefind"}
PEERS = {**PYTHON_PEERS, **NODE_PEERS}
LARGE_PEERS = ("FTS5 porter", "tantivy en_stem")

# The hook for another engine of ours: a name and the settings that choose it. Measured on the large site.
OURS_LARGE: dict[str, dict[str, str]] = {OURS: {}}


class Worker:
    """A process that answers a line of JSON with one. Its files are in the folder of the run, which goes with it."""

    def __init__(self, name: str, command: Sequence[str | Path], folder: Path, **env: str) -> None:
        self.name = name
        self.log = folder / f"{name}.log"
        with self.log.open("wb") as errors:
            self.process = subprocess.Popen(
                list(map(str, command)), cwd=ROOT, env=environment(TMPDIR=str(folder), **env), stdin=subprocess.PIPE,
                stdout=subprocess.PIPE, stderr=errors, text=True,
            )  # fmt: skip

    def call(self, what: str, **message: Any) -> dict[str, Any]:
        """Its answer. Raises Trouble when it has ended."""
        assert self.process.stdin
        assert self.process.stdout
        try:
            self.process.stdin.write(json.dumps({"do": what, **message}) + "\n")
            self.process.stdin.flush()
            return dict(json.loads(self.process.stdout.readline()))
        except (OSError, ValueError):
            self.process.wait(5)
            raise Trouble(f"{self.name} failed:\n{self.log.read_text(errors='replace')[-2_000:]}") from None

    def end(self) -> None:
        """End it by its id."""
        self.process.terminate()
        try:
            self.process.wait(5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(5)


def start_ours(python: Path, folder: Path, name: str = OURS, **env: str) -> Worker:
    """Our search with a database of its own, at `folder/NAME`."""
    data = folder / name
    data.mkdir()
    command = [python, "-m", "tests.bench.search.ours"]
    return Worker(name, command, folder, DATA_DIR=str(data), DJANGO_SETTINGS_MODULE="docsite.settings", **env)


def start_peer(name: str, python: Path, folder: Path) -> Worker:
    """One of the peers."""
    if name in PYTHON_PEERS:
        return Worker(name, [python, "-m", "tests.bench.search.peers", PYTHON_PEERS[name]], folder)
    return Worker(name, ["node", HERE / "peers.mjs", NODE_PEERS[name]], folder)
