"""Scenarios: functions of the tests that run in a process and a database of their own."""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests import processes


def run(scenario: Callable[..., None], database: dict[str, str], *arguments: object) -> str:
    """Run a scenario in a process of its own, on a database given by environment. Returns what it printed."""
    return _output(processes.call, (scenario.__module__, scenario.__name__, *map(str, arguments)), database)


def manage(arguments: tuple[str, ...], database: dict[str, str], *, errors: str | None = None) -> str:
    """Run a command of `manage.py` in a process of its own. Returns what it printed; `errors` is what it must say."""
    return _output(processes.manage, arguments, database, errors)


def environment(database: dict[str, str]) -> dict[str, str]:
    """The environment of a process that uses another database than the tests do."""
    return {**os.environ, "DATABASE_URL": "", "DJANGO_SETTINGS_MODULE": "docsite.settings", **database}


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
