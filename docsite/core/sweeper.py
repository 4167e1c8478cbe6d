"""A thread in each process that serves. Every hour one of them deletes what is stored for a limited time only."""

import logging
import time
from collections.abc import Callable, Iterable
from datetime import timedelta
from functools import partial

from django.db import close_old_connections, connection

from docsite.core import sql, write_ahead_log
from docsite.core.background import BackgroundThread
from docsite.core.notifications import routines

NAME = "sweep"
EVERY = timedelta(hours=1)
MIN_FREE_PAGES = 5_000  # 20 MB
PAGES_OF_A_STEP = 500  # 2 MB, for which writers wait
EMPTYING_SECONDS = 5.0
_INCREMENTAL = 2
logger = logging.getLogger(__name__)


class Sweeper(BackgroundThread):
    """A thread that sweeps once an hour, unless another process does. A killed one is followed after ten minutes.

    It empties SQLite's write-ahead log once a minute, so that this holds nothing longer that somebody has erased.
    """

    name = "sweeper"
    seconds = 60.0
    works_at_once = may_be_cut = True

    def __init__(self, sweeps: Iterable[Callable[[], object]]) -> None:
        super().__init__()
        self.sweeps = tuple(sweeps)

    def work(self) -> None:
        """Sweep if it is time to, and empty the log."""
        if claimed := routines.claim(NAME, EVERY):
            go_on = partial(routines.extend, claimed)
            sweep_once([*self.sweeps, lambda: shrink_file(go_on)], go_on)
            routines.finish(claimed, EVERY)
        write_ahead_log.empty(EMPTYING_SECONDS)


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


def shrink_file(go_on: Callable[[], object] = bool) -> int:
    """Give free pages of the SQLite file back to the disk, in small steps, after each of which `go_on` is called.
    Returns their number.

    It keeps those that new rows will soon need: a quarter of the file. `migrate` has SQLite list what to move.
    https://www.sqlite.org/pragma.html#pragma_auto_vacuum
    """
    if connection.vendor != "sqlite" or _read_pragma("auto_vacuum") != _INCREMENTAL:
        return 0
    before = free = _read_pragma("freelist_count")
    while free > max(MIN_FREE_PAGES, _read_pragma("page_count") // 4):
        began = time.monotonic()
        sql.fetch_all(f"PRAGMA incremental_vacuum({PAGES_OF_A_STEP})")  # each step of the statement moves a page
        last, free = free, _read_pragma("freelist_count")
        if free >= last:  # others free pages as fast
            break
        go_on()
        time.sleep(time.monotonic() - began)
    return before - free


def _read_pragma(name: str) -> int:
    return int(sql.fetch_value(f"PRAGMA {name}"))
