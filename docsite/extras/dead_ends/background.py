"""A thread in each process that serves. It stores what was asked for, and follows each new index."""

from docsite.core.background import BackgroundThread
from docsite.extras.dead_ends import recording, watching

SECONDS = 5.0
REST_SECONDS = 0.02


class _Watcher(BackgroundThread):
    name = "dead ends"
    seconds = SECONDS

    def work(self) -> None:
        """Store what waits, and bring projects up to date."""
        recording.flush()
        if watching.is_due():
            watching.catch_up(self._rest)

    def _rest(self) -> bool:
        """Pause, so that readers go first. Returns whether to stop."""
        return self.stopping.wait(REST_SECONDS)


thread = _Watcher()
