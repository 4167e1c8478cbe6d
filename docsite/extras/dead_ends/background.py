"""Two threads. One writes the missing pages that this process was asked for from memory into the database.
The other compares the pages of each new index with those before; like all work in the background, a worker may do it.
"""

from docsite.core.background import BackgroundThread
from docsite.extras.dead_ends import recording, watching

SECONDS = 5.0
REST_SECONDS = 0.02


class _Recorder(BackgroundThread):
    name = "dead ends asked for"
    seconds = SECONDS

    def work(self) -> None:
        """Store what was counted in memory."""
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
