"""Scenarios: functions of the tests that run in a process and a database of their own."""

import os
import subprocess
import sys
from collections.abc import Callable

from tests.conftest import ROOT


def run(scenario: Callable[..., None], database: dict[str, str], *arguments: object) -> str:
    """Run a scenario in a process of its own, on a database given by environment. Returns what it printed."""
    code = (
        "import sys, django; django.setup()\n"
        f"from {scenario.__module__} import {scenario.__name__}\n"
        f"{scenario.__name__}(*sys.argv[1:])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, *map(str, arguments)],
        cwd=ROOT, env=environment(database), capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-6000:]
    return done.stdout


def environment(database: dict[str, str]) -> dict[str, str]:
    """The environment of a process that uses another database than the tests do."""
    return {**os.environ, "DATABASE_URL": "", "DJANGO_SETTINGS_MODULE": "docsite.settings", **database}


def migrate(database: dict[str, str]) -> dict[str, str]:
    """Make the tables."""
    subprocess.run(
        [sys.executable, "manage.py", "migrate", "--verbosity=0"], cwd=ROOT, env=environment(database), check=True
    )
    return database
