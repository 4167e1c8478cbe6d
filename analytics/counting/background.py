"""The thread that seals new views, in each process that serves. One of them sweeps, each project once a day."""

from datetime import timedelta
from functools import partial

from analytics.counting import partitions
from analytics.counting.sealer import seal
from analytics.counting.sweeper import sweep
from docsite.core.background import BackgroundThread
from docsite.core.notifications import routines

SEAL_AFTER_VIEWS = 5_000  # so that a report has little left to seal
SEAL_AFTER_SECONDS = 60.0
SWEEP = "sweep of views"
SWEEP_PAUSE = timedelta(minutes=10)  # until it is asked again which projects are due


class _Sealer(BackgroundThread):
    """A thread that seals after enough views or a minute, and sweeps unless another process does."""

    name = "sealer"
    seconds = retry_seconds = SEAL_AFTER_SECONDS
    may_be_cut = True
    views = 0

    def report_views(self, views: int) -> None:
        """Count views that this process has committed; wake the thread when there are enough."""
        self.views += views
        if self.views >= SEAL_AFTER_VIEWS:
            self.views = 0
            self.wake()

    def work(self) -> None:
        """Seal, then sweep, even if the views of a project cannot be sealed."""
        try:
            seal(timeout=3600)
        finally:
            partitions.extend()
            if claimed := routines.claim(SWEEP, SWEEP_PAUSE):
                sweep(go_on=partial(routines.extend, claimed))
                routines.finish(claimed, SWEEP_PAUSE)


thread = _Sealer()
