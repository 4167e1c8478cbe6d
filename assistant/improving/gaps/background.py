"""A thread in each process that serves. It groups new questions, and asks again what owners have marked as fixed."""

from assistant.improving.gaps import asking_again, nearest
from assistant.improving.question_groups import grouping
from docsite.core.background import BackgroundThread

POLL_SECONDS = 2.0
REST_SECONDS = 0.02


class _Grouper(BackgroundThread):
    name = "question groups"
    seconds = POLL_SECONDS

    def work(self) -> None:
        """Group the questions that are new, and ask again those that are due."""
        while grouping.has_new() and not grouping.catch_up(POLL_SECONDS) and not self.stopping.is_set():
            pass
        if asking_again.is_due():
            asking_again.ask_due(self._rest_between_searches)
        if nearest.is_due():
            nearest.find_due(self._rest_between_searches)

    def _rest_between_searches(self) -> bool:
        """Pause, so that readers go first. Returns whether to stop."""
        return self.stopping.wait(REST_SECONDS)


thread = _Grouper()
