"""What processes do in the test of the sweep: each runs in a process of its own, some minutes from now."""

import os
import signal
from collections.abc import Callable
from datetime import timedelta

import time_machine
from django.utils import timezone

from docsite.core.sweeper import Sweeper


def sweep(file: str, minutes: str = "0") -> None:
    """Sweep if it is time to, and write that into a file."""
    _sweep(lambda: _note(file, "swept"), minutes)


def sweep_and_die(file: str, minutes: str) -> None:
    """Die by SIGKILL in the middle of a sweep."""

    def die() -> None:
        _note(file, "killed")
        os.kill(os.getpid(), signal.SIGKILL)

    _sweep(die, minutes)


def _sweep(sweep: Callable[[], None], minutes: str) -> None:
    with time_machine.travel(timezone.now() + timedelta(minutes=float(minutes))):
        Sweeper([sweep]).work()


def _note(file: str, word: str) -> None:
    with open(file, "a") as notes:  # noqa: PTH123  # at once and in one write
        notes.write(f"{word}\n")
