"""Scenarios: functions of the tests that run in a process and a database of their own."""

import os
import sqlite3
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, TextIO

from tests import processes


def run(scenario: Callable[..., None], database: dict[str, str], *arguments: object) -> str:
    """Run a scenario in a process of its own, on a database given by environment. Returns what it printed."""
    return _output(processes.call, (scenario.__module__, scenario.__name__, *map(str, arguments)), database)


def manage(arguments: tuple[str, ...], database: dict[str, str], *, errors: str | None = None) -> str:
    """Run a command of `manage.py` in a process of its own. Returns what it printed; `errors` is what it must say."""
    return _output(processes.manage, arguments, database, errors)


def complete(*arguments: object, text: str = "", **more: str) -> "subprocess.CompletedProcess[str]":
    """Run a command of `manage.py` to its end, whatever that is. `text` is its input, `more` its extra environment."""
    with tempfile.TemporaryDirectory() as folder:
        out, err, input = Path(folder, "out"), Path(folder, "err"), Path(folder, "in")
        input.write_text(text)
        words = tuple(map(str, arguments))
        code = processes.Process(processes.manage, words, {**os.environ, **more}, out, err, input).wait()
        return subprocess.CompletedProcess(words, code, out.read_text(), err.read_text())


@contextmanager
def running(*arguments: object, **more: str) -> Iterator[tuple[processes.Process, TextIO]]:
    """A command of `manage.py` while it runs, and what it prints. At the end it is waited for."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "out")
        os.mkfifo(out)
        words = tuple(map(str, arguments))
        process = processes.Process(processes.manage, words, {**os.environ, **more}, out, Path(folder, "err"))
        with out.open() as printed:
            yield process, printed
        process.wait()


def environment(database: dict[str, str]) -> dict[str, str]:
    """The environment of a process that uses another database than the tests do."""
    return {**os.environ, "DATABASE_URL": "", "DJANGO_SETTINGS_MODULE": "docsite.settings", **database}


def query(database: dict[str, str], sql: str) -> list[tuple[Any, ...]]:
    """The rows of a statement on a SQLite database, without a process: for conditions that are looked at many times."""
    with closing(sqlite3.connect(Path(database["DATA_DIR"], "db.sqlite3"), timeout=60)) as connection:
        return connection.execute(sql).fetchall()


def migrate(database: dict[str, str]) -> dict[str, str]:
    """Make the tables."""
    manage(("migrate", "--verbosity=0"), database)
    return database


def _output(
    target: Callable[..., None], arguments: tuple[Any, ...], database: dict[str, str], errors: str | None = None
) -> str:
    with tempfile.TemporaryDirectory() as folder:
        out, err = Path(folder, "out"), Path(folder, "err")
        code = processes.Process(target, arguments, environment(database), out, err).wait()
        assert code == 0, out.read_text()[-2000:] + err.read_text()[-6000:]
        assert errors is None or err.read_text() == errors
        return out.read_text()
