"""What all trials share: a folder outside the repository, the built files, and programs that run there."""

import contextlib
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SECONDS = 600  # for one command
# What would lead a program from its clean environment back to the repository.
OURS = ("DJANGO_SETTINGS_MODULE", "DATA_DIR", "DATABASE_URL", "PYTHONPATH", "VIRTUAL_ENV", "XDG_DATA_HOME")


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    package: str
    size: str
    tried_with: str
    seen: str

    def __str__(self) -> str:
        return f"| {self.package} | {self.size} | {self.tried_with} | {self.seen} |"


@dataclass(frozen=True)
class Built:
    """The files of a release."""

    wheel: Path
    docusaurus: Path
    react: Path
    chart: Path


@dataclass(frozen=True)
class Trial:
    """Where packages are tried: `folder` is forgotten at the end, `output` stays."""

    folder: Path
    output: Path
    built: Built

    def make_folder(self, name: str) -> Path:
        """A new, empty folder outside the repository, whose name begins with this one."""
        return Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self.folder))


def clean_environment(**more: str) -> dict[str, str]:
    """The variables of this process without ours and those of a model, and with these."""
    kept = {name: value for name, value in os.environ.items() if name not in OURS and not name.startswith("OPENAI_")}
    return kept | more


def run(*command: str | Path, cwd: Path, **more: str) -> str:
    """Run a command to its end and return what it printed. Raises CalledProcessError if it fails."""
    done = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env=clean_environment(**more),
        capture_output=True,
        text=True,
        check=True,
        timeout=SECONDS,
    )
    return done.stdout


def make_environment(folder: Path, python: str) -> Path:
    """Make an empty virtual environment. Returns the folder of its programs."""
    run(python, "-m", "venv", folder, cwd=folder.parent)
    return folder / "bin"


def install(programs: Path, *packages: str | Path) -> None:
    """Install packages into an environment, with uv where the repository has it: it takes a fraction of pip's time."""
    uv = Path(sys.prefix) / "bin" / "uv"
    command = (uv, "pip", "install", "--python", programs / "python") if uv.exists() else (programs / "pip", "install")
    run(*command, "--quiet", *packages, cwd=programs)


def describe_size(file: Path) -> str:
    """The size in KB or MB."""
    size = file.stat().st_size / 1000
    return f"{size:,.0f} KB" if size < 1000 else f"{size / 1000:.1f} MB"


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


@contextlib.contextmanager
def serve(folder: Path) -> Iterator[str]:
    """Serve a built site on loopback, and give its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
