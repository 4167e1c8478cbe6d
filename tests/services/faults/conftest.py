"""Runs print their line while they run."""

import sys
from collections.abc import Callable

import pytest


@pytest.fixture(scope="session")
def report(pytestconfig: pytest.Config) -> Callable[[str], None]:
    """Print the line of a run, which pytest would keep for itself."""
    capture = pytestconfig.pluginmanager.getplugin("capturemanager")
    assert capture

    def write(line: str) -> None:
        with capture.global_and_fixture_disabled():
            sys.stdout.write(f"\n{line}\n")
            sys.stdout.flush()

    return write
