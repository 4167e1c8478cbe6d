"""The thread that seals new views, in each process that serves. One of them sweeps, each project once a day."""

import time
from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from functools import partial

from analytics.counting import partitions
from analytics.counting.sealer import seal, seal_project
from analytics.counting.sweeper import sweep
from docsite.core.background import BackgroundThread
from docsite.core.notifications import routines

SEAL_AFTER_VIEWS = 5_000  # of one project, so that a report has little left to seal
SEAL_AFTER_SECONDS = 60.0
REST = 10  # times the duration of a round over all projects, until the next one
MAX_REST_SECONDS = 300.0
SWEEP = "sweep of views"
SWEEP_PAUSE = timedelta(minutes=10)  # until it is asked again which projects are due


class _Sealer(BackgroundThread):
    """A thread that seals after enough views or a minute, and sweeps unless another process does.

    To seal a project costs a dozen statements, however few views it has. So where rounds over thousands of projects
    take long, they become rarer; projects with many views do not wait for them.
    """

    name = "sealer"
    seconds = retry_seconds = SEAL_AFTER_SECONDS
    may_be_cut = True

    def __init__(self) -> None:
        super().__init__()
        self._views: Counter[int] = Counter()  # by project, since it was sealed
        self._next_round = 0.0  # as time.monotonic()

    def report_views(self, views: Mapping[int, int]) -> None:
        """Count views that this process has committed, by project; wake the thread when one has enough."""
        self._views.update(views)
        if any(self._views[project_id] >= SEAL_AFTER_VIEWS for project_id in views):
            self.wake()

    def work(self) -> None:
        """Seal, then sweep, even if the views of a project cannot be sealed."""
        began = time.monotonic()
        is_round = began >= self._next_round
        views = Counter(self._views)
        sealed = [] if is_round else [one for one, count in views.items() if count >= SEAL_AFTER_VIEWS]
        try:
            for project_id in sealed:
                seal_project(project_id, timeout=3600)
            if is_round:
                seal(timeout=3600)
                now = time.monotonic()
                self._next_round = now + min(MAX_REST_SECONDS, REST * (now - began))
                sealed = list(views)
            for project_id in sealed:
                self._views.pop(project_id, None)
        finally:
            partitions.extend()
            if claimed := routines.claim(SWEEP, SWEEP_PAUSE):
                sweep(go_on=partial(routines.extend, claimed))
                routines.finish(claimed, SWEEP_PAUSE)


thread = _Sealer()
