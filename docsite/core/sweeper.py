"""A thread in each process that serves. Every hour one of them deletes what is stored for a limited time only."""

import logging
from collections.abc import Callable, Iterable
from datetime import timedelta

from django.db import close_old_connections

from docsite.core.background import BackgroundThread
from docsite.core.notifications import routines

NAME = "sweep"
EVERY = timedelta(hours=1)
logger = logging.getLogger(__name__)


class Sweeper(BackgroundThread):
    """A thread that sweeps once an hour, unless another process does. A killed one is followed after ten minutes."""

    name = "sweeper"
    seconds = 60.0
    works_at_once = True

    def __init__(self, sweeps: Iterable[Callable[[], object]]) -> None:
        super().__init__()
        self.sweeps = tuple(sweeps)

    def work(self) -> None:
        """Sweep if it is time to."""
        if claimed := routines.claim(NAME, EVERY):
            sweep_once(self.sweeps, claimed.extend)
            claimed.finish(EVERY)


def sweep_once(sweeps: Iterable[Callable[[], object]], go_on: Callable[[], object] = bool) -> None:
    """Run every sweep, after each of them `go_on`. One that fails is logged, and the others still run."""
    for sweep in sweeps:
        close_old_connections()
        try:
            sweep()
        except Exception:  # the others must run
            logger.exception("Old data could not be deleted by %s.%s.", sweep.__module__, sweep.__qualname__)
        close_old_connections()
        go_on()
