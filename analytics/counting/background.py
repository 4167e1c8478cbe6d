"""The thread that seals new views and sweeps once a day, in each process that serves."""

from analytics.counting.sealer import seal
from analytics.counting.sweeper import sweep
from docsite.core.background import BackgroundThread

SEAL_AFTER_VIEWS = 5_000
SEAL_AFTER_SECONDS = 60.0


class _Sealer(BackgroundThread):
    """A thread that seals after enough views or a minute, and sweeps once a day."""

    name = "sealer"
    seconds = retry_seconds = SEAL_AFTER_SECONDS
    views = 0

    def report_views(self, views: int) -> None:
        """Count views that this process has committed; wake the thread when there are enough."""
        self.views += views
        if self.views >= SEAL_AFTER_VIEWS:
            self.views = 0
            self.wake()

    def work(self) -> None:
        """Seal, then sweep."""
        seal(timeout=3600)
        sweep()


_sealer = _Sealer()
start, report_views = _sealer.start, _sealer.report_views
