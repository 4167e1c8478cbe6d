"""A thread in each process that serves. Every hour it deletes what is stored for a limited time only."""

import logging
import threading
import time
from collections.abc import Callable, Iterable

from django.db import close_old_connections, connection

logger = logging.getLogger(__name__)

SWEEP_SECONDS = 3600.0


_thread: threading.Thread | None = None


def start(sweeps: Iterable[Callable[[], object]]) -> None:
    """Start the thread, unless it runs. It sweeps at once, and then every hour."""
    global _thread
    if _thread is None:
        _thread = threading.Thread(target=_run, args=(tuple(sweeps),), name="sweeper", daemon=True)
        _thread.start()


def _run(sweeps: tuple[Callable[[], object], ...]) -> None:
    while True:
        sweep_once(sweeps)
        connection.close()  # others may need it
        time.sleep(SWEEP_SECONDS)


def sweep_once(sweeps: Iterable[Callable[[], object]]) -> None:
    """Run every sweep. A sweep that fails is logged, and the others still run."""
    for sweep in sweeps:
        close_old_connections()
        try:
            sweep()
        except Exception:  # the thread lives as long as the process
            logger.exception("Old data could not be deleted by %s.%s.", sweep.__module__, sweep.__qualname__)
        close_old_connections()
