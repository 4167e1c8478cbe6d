"""A service whose breaker has a clock that a test moves, so that nobody waits for the end of a rest."""

import multiprocessing
import time
from functools import partial
from types import SimpleNamespace
from typing import Any

from tests.processes import manage


class BreakerClock:
    """Shared with the process of a service."""

    def __init__(self) -> None:
        self._ahead = multiprocessing.get_context("forkserver").Value("d", 0.0)
        self.run = partial(_manage, self._ahead)  # for `Start.fresh`

    def move_on(self, seconds: float) -> None:
        """Move it on by some seconds."""
        with self._ahead.get_lock():
            self._ahead.value += seconds


def _manage(ahead: Any, *arguments: str) -> None:
    from assistant.upstream import breaker

    breaker.time = SimpleNamespace(monotonic=lambda: time.monotonic() + ahead.value)  # type: ignore[assignment]
    manage(*arguments)
