"""Processes of the service that start fast: forked from one process that has imported all modules.

Each reads the settings from its own environment: see `tests.preload`. In all of them `blockbuster` raises where the
service blocks its event loop.
"""

import atexit
import gc
import importlib
import json
import multiprocessing
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SERVICE = ["docsite", "search", "assistant", "analytics"]
# The callers of the event loop, which are below whatever Twisted does in it.
LOOPS = [
    "docsite/server/daphne.py",
    "docsite/server/management",
    "docsite/extras/demo/management",
    "docsite/core/tenants/management",
]

_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["tests.preload", "tests.processes"])


class Process:
    """A forked process, with the interface of `subprocess.Popen`. Both its outputs go to the files."""

    def __init__(
        self,
        target: Callable[..., None],
        arguments: tuple[Any, ...],
        environment: dict[str, str],
        out: Path,
        err: Path,
        input: Path = Path(os.devnull),
    ):
        files = (str(input), str(out), str(err))
        self._process = _forks.Process(target=_run, args=(target, arguments, environment, files))
        self._process.start()

    @property
    def pid(self) -> int:
        """Its id."""
        assert self._process.pid
        return self._process.pid

    @property
    def returncode(self) -> int | None:
        """Its exit code, or the negative number of the signal that ended it; None while it runs."""
        return self._process.exitcode

    def poll(self) -> int | None:
        """The same."""
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it ends. Raises subprocess.TimeoutExpired after that many seconds."""
        self._process.join(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired("a forked process", timeout or 0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send it a signal, unless it has ended."""
        if self.returncode is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send SIGTERM."""
        self._process.terminate()

    def kill(self) -> None:
        """Send SIGKILL."""
        self._process.kill()


def collect_garbage_less() -> None:
    """Never look again at the objects that exist now, which stay, and less often at others, as the service does.

    Migrations make many objects, and take a third less CPU time by it.
    """
    gc.freeze()
    gc.set_threshold(10_000, 20, 50)


def manage(*arguments: str) -> None:
    """Run `manage.py` with these arguments, in this process."""
    from django.core.management import execute_from_command_line

    sys.argv = ["manage.py", *arguments]
    execute_from_command_line(sys.argv)


def call(module: str, name: str, *arguments: str) -> None:
    """Set up Django and call a function, in this process."""
    import django

    django.setup()
    getattr(importlib.import_module(module), name)(*arguments)


def constants(values: Mapping[str, object]) -> dict[str, str]:
    """The environment of a process with other constants, by their dotted names: what no operator has to change."""
    return {"TEST_CONSTANTS": json.dumps({**json.loads(os.environ["TEST_CONSTANTS"]), **values})}


def _set_constants() -> None:
    for path, value in json.loads(os.environ.get("TEST_CONSTANTS", "{}")).items():
        module, _, name = path.rpartition(".")
        owner = importlib.import_module(module)
        assert hasattr(owner, name), path
        setattr(owner, name, value)


def _forbid_blocking() -> None:
    from blockbuster import BlockBuster

    watch = BlockBuster(scanned_modules=SERVICE, excluded_modules=[_module(path) for path in LOOPS])
    for function in watch.functions.values():
        function.can_block_in("django/core/handlers/asgi.py", "read_body")  # a large body goes into a file
        function.can_block_in("docsite/server/middleware/static_files.py", "__call__")  # a few kB, in the page cache
        function.can_block_in("docsite/core/http/dates.py", "find_zone")  # a few kB, once for each zone
        function.can_block_in("importlib/metadata/__init__.py", "version")  # the client of Redis, when it connects
    watch.activate()


def _module(path: str) -> ModuleType:
    """A stand-in for the code at a path. `blockbuster` takes modules, and reads only where their files are."""
    module = ModuleType(path)
    module.__file__ = str(ROOT / path)
    return module


def _run(
    target: Callable[..., None], arguments: tuple[Any, ...], environment: dict[str, str], files: tuple[str, str, str]
) -> None:
    collect_garbage_less()
    os.chdir(ROOT)
    os.environ.clear()
    os.environ.update(environment)
    importlib.import_module("tests.preload").forget_settings()  # imported here: the process of the tests never loads it
    for number, path in enumerate(files):
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND if number else os.O_RDONLY, 0o644)
        os.dup2(file, number)
        os.close(file)
    sys.stdin = os.fdopen(0, closefd=False)  # multiprocessing had closed it
    _set_constants()
    _forbid_blocking()
    try:
        target(*arguments)
    finally:  # as at the end of an interpreter; multiprocessing calls neither
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
