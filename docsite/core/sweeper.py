"""A thread in each process that serves. Every hour it deletes what is stored for a limited time only."""

import logging
from collections.abc import Callable, Iterable

from django.db import close_old_connections

from docsite.core.background import BackgroundThread

logger = logging.getLogger(__name__)


class Sweeper(BackgroundThread):
    """A thread that sweeps at once, and then every hour."""

    name = "sweeper"
    seconds = 3600.0
    works_at_once = True

    def __init__(self, sweeps: Iterable[Callable[[], object]]) -> None:
        super().__init__()
        self.sweeps = tuple(sweeps)

    def work(self) -> None:
        """Sweep once."""
        sweep_once(self.sweeps)


def sweep_once(sweeps: Iterable[Callable[[], object]]) -> None:
    """Run every sweep. A sweep that fails is logged, and the others still run."""
    for sweep in sweeps:
        close_old_connections()
        try:
            sweep()
        except Exception:  # the others must run
            logger.exception("Old data could not be deleted by %s.%s.", sweep.__module__, sweep.__qualname__)
        close_old_connections()
