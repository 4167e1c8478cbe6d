"""A thread in each process that serves. It groups new questions, and asks again what owners have marked as fixed."""

import threading

from assistant.gaps import nearest, repetition
from assistant.question_groups import grouping
from docsite.core.background import BackgroundThread

GROUP_SECONDS = 2.0  # for grouping at once
REST_SECONDS = 0.02


def work(stopping: threading.Event) -> None:
    """Group what is new, ask again what is due, and find the nearest pages."""

    def rest() -> bool:
        """Pause between two searches, so that readers go first. Returns whether to stop."""
        return stopping.wait(REST_SECONDS)

    while not grouping.catch_up(GROUP_SECONDS) and not stopping.is_set():
        pass
    repetition.ask_due(rest)
    nearest.find_due(rest)


_thread = BackgroundThread(
    "question groups",
    work,
    pause_seconds=2.0,
    retry_seconds=60.0,
    failure="Questions could not be grouped or asked again.",
)
start, stop = _thread.start, _thread.stop
