"""Threads: one in each process that answers requests stores what was asked for; one follows each new index."""

from docsite.core.background import BackgroundThread
from docsite.extras.dead_ends import recording, watching

SECONDS = 5.0
REST_SECONDS = 0.02


class _Recorder(BackgroundThread):
    name = "dead ends asked for"
    seconds = SECONDS

    def work(self) -> None:
        """Store what waits in this process."""
        recording.flush()


class _Watcher(BackgroundThread):
    name = "dead ends"
    seconds = SECONDS

    def work(self) -> None:
        """Bring projects up to date."""
        if watching.is_due():
            watching.catch_up(self._rest)

    def _rest(self) -> bool:
        """Pause, so that readers go first. Returns whether to stop."""
        return self.stopping.wait(REST_SECONDS)


recorder, watcher = _Recorder(), _Watcher()
