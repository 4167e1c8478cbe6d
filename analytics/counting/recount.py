"""Count views again: after a change of the rules, and to remove sample views.

Cells hold no visitors, but the effect of a few changed views is still a sum: for each visitor,
the cells of the new visit history minus the cells of the old one. A step holds the lease of the
project, reads all views of some visitors, and writes views, histories and cells in one transaction.
So it may be killed and started again, and two processes may share the work.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

import numpy as np
from django.conf import settings
from django.db import connection, transaction
from django.db.models import F, Min

from analytics import agents
from analytics.counting import (
    agent_views,
    audiences,
    sealer,
    stored_cells,
    sweeper,
    unsealed,
    visit_history,
)
from analytics.counting.agent_views import AgentSum
from analytics.counting.cells import Ints
from analytics.counting.sealer import HOUR, Lease, LeaseLost, VisitorHistories
from analytics.models import AnalyticsSettings, PageView, Trail, left_out
from docsite.core import sql
from docsite.core.tenants.models import Project

logger = logging.getLogger(__name__)

Progress = Callable[[int, int], None]

_MAX_IDS = 900  # of one query
_BATCH = 20_000  # views read or marked by one statement, so that nobody waits for long


class StoredView(NamedTuple):
    """A stored view."""

    id: int
    at: int
    page: int
    visitor: int
    client_class: str
    surface: str
    verified: str
    agent: str
    operator: str
    rule: str
    user_agent: str
    sample: bool
    audience: int

    @property
    def is_agent_view(self) -> bool:
        """Whether it is among the views that `analytics.counting.agent_views` sums up."""
        return self.client_class != "human" or self.surface != "html"


Decide = Callable[[StoredView], StoredView | None]  # returns the changed view, or None to remove it
Changes = list[tuple[StoredView, StoredView | None]]  # sealed views before and after


def reclassify(project: Project, progress: Progress | None = None) -> Counter[tuple[str, str]]:
    """Classify the project's views by the current rules. Returns how many moved from one class to another.

    Only views with a stored user agent can move: raw views of clients other than people. The visitor
    of a view stays the same.
    """
    since = sweeper.first_kept_hour(project) * HOUR
    moved: Counter[tuple[str, str]] = Counter()

    def decide(view: StoredView) -> StoredView:
        if not view.user_agent or view.at < since or view.verified == PageView.Verified.SIGNED:
            return view
        verdict = agents.classify(view.user_agent)
        return view._replace(
            client_class=verdict.client_class,
            agent=verdict.agent,
            operator=verdict.operator,
            rule=verdict.rule,
            verified=view.verified if verdict.agent == view.agent else "",
            user_agent="" if verdict.client_class == "human" else view.user_agent,
        )

    recount = _Recount(project, decide, "user_agent <> ''", progress)
    for before, after in recount.run():
        if after and after.client_class != before.client_class:
            moved[before.client_class, after.client_class] += 1
    _mark_as_current(project.pk, recount.start, recount.up_to, since)
    return moved


def remove_sample(project: Project) -> int:
    """Remove the project's sample views from every count. Returns their number."""
    return sum(1 for _ in _Recount(project, lambda view: None if view.sample else view, "sample", None).run())


def remove_left_out(project: Project) -> int:
    """Remove the stored views whose referrer the project leaves out from every count. Returns their number."""
    own = AnalyticsSettings.for_project(project)
    listed = left_out.parse(own.left_out)
    views = project.views.exclude(referrer="").values_list("referrer", flat=True)
    spam = [referrer for referrer in views.distinct() if listed.has_referrer(referrer)] if listed.hosts else []
    ids: set[int] = set()
    for first in range(0, len(spam), _MAX_IDS):
        some = project.views.filter(referrer__in=spam[first : first + _MAX_IDS])
        ids.update(some.values_list("pk", flat=True))
    removed = 0
    if ids:
        recount = _Recount(project, lambda view: None if view.id in ids else view, "referrer <> ''", None)
        removed = sum(1 for _ in recount.run())
    AnalyticsSettings.objects.filter(pk=own.pk).update(applied_left_out=own.left_out)
    return removed


def apply_left_out() -> None:
    """Remove what changed lists leave out, in all projects."""
    changed = AnalyticsSettings.objects.exclude(left_out=F("applied_left_out")).select_related("project")
    for own in changed:
        try:
            remove_left_out(own.project)
        except Exception:  # of one project, such as a damaged row; the others go on
            logger.exception("What %s leaves out could not be removed.", own.project)


class _Recount:
    """Replaces each view by the result of `decide`. Only views that match `condition`, which is SQL, may change."""

    def __init__(self, project: Project, decide: Decide, condition: str, progress: Progress | None) -> None:
        self.project, self.decide, self.condition, self.progress = project, decide, condition, progress
        self.step_size = sealer.StepSize()
        self.up_to = unsealed.newest_view_id(project.pk)
        self.start = (
            project.views.aggregate(first=Min("pk"))["first"] or 1
        ) - 1  # the id before the first view of the project
        sealer.seal_project(project.pk, timeout=float("inf"))
        self.ids: dict[int, list[int]] = {}  # by visitor to recount, the ids of all their views

    def run(self) -> Iterator[tuple[StoredView, StoredView | None]]:
        """Make the changes, and yield each one as the view before and after."""
        changing = _select_views(self.project.pk, self.start, self.up_to, self.condition)
        todo = sorted({view.visitor for view in changing if self.decide(view) != view})
        self.ids = {visitor: [] for visitor in todo}
        self._collect_ids(_select_visitors(self.project.pk, self.start, self.up_to))
        count = len(todo)
        while todo:
            changes, done = self._step(todo)
            yield from changes
            todo = todo[done:]
            if self.progress and done:
                self.progress(count - len(todo), count)

    def _collect_ids(self, owners: Iterable[tuple[int, int]]) -> None:
        for pk, visitor in owners:
            if visitor in self.ids:
                self.ids[visitor].append(pk)

    def _step(self, todo: list[int]) -> tuple[Changes, int]:
        """Count the first visitors again. Returns the changes, and how many visitors are done."""
        # Read before the lease is acquired, to hold it only for a moment.
        highest = unsealed.newest_view_id(self.project.pk)
        self._collect_ids(_select_visitors(self.project.pk, self.up_to, highest))
        self.up_to = max(self.up_to, highest)
        lease = sealer.acquire_lease(self.project.pk)
        if lease is None:
            time.sleep(0.05)
            return [], 0
        self._collect_ids(_select_visitors(self.project.pk, self.up_to, lease.sealed_to))
        self.up_to = max(self.up_to, lease.sealed_to)
        mine = self._choose(todo)
        ids = [pk for visitor in mine for pk in self.ids[visitor] if pk <= lease.sealed_to]
        changes = [(view, self.decide(view)) for view in _load_views(ids)]
        try:
            _write_step(self.project.pk, lease, changes)
        except LeaseLost:
            self.step_size.shrink()
            return [], 0
        self.step_size.grow()
        return [(before, after) for before, after in changes if before != after], len(mine)

    def _choose(self, todo: list[int]) -> list[int]:
        """The first visitors that have as many views together as a step takes; at least one."""
        some = todo[: self.step_size.size]
        views = np.cumsum([len(self.ids[visitor]) for visitor in some])
        return some[: max(1, int(np.searchsorted(views, self.step_size.size, "right")))]


def _mark_as_current(project_id: int, after: int, up_to: int, since: int) -> None:
    """Store that views were classified by the current rules."""
    for first in range(after, up_to, _BATCH):
        sql.execute(
            "UPDATE analytics_pageview SET rules_version = %s WHERE id > %s AND id <= %s AND project_id = %s "
            "AND at >= %s AND rules_version < %s AND user_agent <> ''",
            [agents.VERSION, first, min(first + _BATCH, up_to), project_id, since, agents.VERSION],
        )


def _select_views(project_id: int, after: int, up_to: int, condition: str) -> Iterator[StoredView]:
    """The views that match a condition, with ids in a range."""
    while after < up_to:
        rows = _fetch_views(
            f"id > %s AND id <= %s AND project_id = %s AND {condition} ORDER BY id LIMIT {_BATCH}",
            [after, up_to, project_id],
        )
        if not rows:
            return
        after = rows[-1].id
        yield from rows


def _select_visitors(project_id: int, after: int, up_to: int) -> Iterator[tuple[int, int]]:
    """Ids and visitors of the views with ids in a range."""
    for first in range(after, up_to, _BATCH):
        yield from sql.fetch_all(
            "SELECT id, visitor FROM analytics_pageview WHERE id > %s AND id <= %s AND project_id = %s",
            [first, min(first + _BATCH, up_to), project_id],
        )


def _load_views(ids: list[int]) -> Iterator[StoredView]:
    """The views with these ids that still exist."""
    for first in range(0, len(ids), _MAX_IDS):
        some = ids[first : first + _MAX_IDS]
        yield from _fetch_views(f"id IN ({', '.join(['%s'] * len(some))})", some)


def _fetch_views(condition: str, values: list[int]) -> list[StoredView]:
    rows = sql.fetch_all(f"SELECT {', '.join(StoredView._fields)} FROM analytics_pageview WHERE {condition}", values)
    return [StoredView._make(row) for row in rows]


def _write_step(project_id: int, lease: Lease, changes: Changes) -> None:
    """Store the changes of all views of some visitors, and release the lease. Raises `LeaseLost`."""
    change, histories, removed = _compute_change(project_id, changes)
    added = sealer.hourly_changes(change, *_changed_views(project_id, changes))
    buckets = stored_cells.update(project_id, lease.closed, added)
    with transaction.atomic():
        sealer.release_lease(lease)
        sealer.store_histories(project_id, histories)
        Trail.objects.filter(project=project_id, visitor__in=removed).delete()
        stored_cells.store(project_id, buckets)
        agent_views.add_sums(_agent_sums(project_id, changes))
        _write_views([(before, after) for before, after in changes if before != after])


def _compute_change(project_id: int, changes: Changes) -> tuple[visit_history.Change, VisitorHistories, list[int]]:
    """How the cells change, the new visit histories, and the visitors whose history is empty now."""
    visitors = sorted({before.visitor for before, _ in changes})
    number = {visitor: place for place, visitor in enumerate(visitors)}
    old = _visits(project_id, number, [before for before, _ in changes])
    new = _visits(project_id, number, [after for _, after in changes if after])
    trimmed, blobs = sealer.load_histories(project_id, visitors)
    known = (visit_history.decode(blobs) + old).sorted()  # the visit history, and visits that were trimmed from it
    horizon = settings.ENV.visitor_horizon_days * 24
    change = visit_history.replace_visits(known, (known.exclude(old.exclude(new)) + new).sorted(), horizon)
    packed = visit_history.encode(visit_history.trim(change.histories, trimmed, horizon), len(visitors))
    left = [place for place, blob in enumerate(packed) if blob]
    histories = VisitorHistories(
        [visitors[n] for n in left], [int(trimmed[n]) for n in left], [packed[n] for n in left]
    )
    return change, histories, [visitor for visitor, blob in zip(visitors, packed, strict=True) if not blob]


def _visits(project_id: int, number: dict[int, int], views: list[StoredView]) -> visit_history.Visits:
    seen = [
        (number[view.visitor], view.page, kind, view.at // HOUR, view.audience)
        for view in views
        if (kind := sealer.kind_of(view.client_class, view.surface)) is not None
    ]
    who, page, kinds, hour, audience = np.array(seen, np.int64).reshape(-1, 5).T
    return visit_history.from_views(who, page, kinds, hour, audiences.for_project(project_id).keys_of(audience, page))


def _changed_views(project_id: int, changes: Changes) -> tuple[Ints, Ints, Ints, tuple[Ints, Ints], Ints]:
    """The views that go and that come: hour, page, kind, the keys of their audiences, and -1 or 1."""
    found = [
        (view.at // HOUR, view.page, kind, view.audience, sign)
        for pair in changes
        for view, sign in zip(pair, (-1, 1), strict=True)
        if view and (kind := sealer.kind_of(view.client_class, view.surface)) is not None
    ]
    hour, page, kinds, audience, sign = np.array(found, np.int64).reshape(-1, 5).T
    return hour, page, kinds, audiences.for_project(project_id).keys_of(audience, page), sign


def _agent_sums(project_id: int, changes: Changes) -> list[AgentSum]:
    """The views to take from agents and to add to them."""
    return [
        AgentSum(
            project_id=project_id,
            span=1,
            start=view.at // HOUR,
            client_class=view.client_class,
            agent=view.agent,
            rule=view.rule,
            surface=view.surface,
            verified=view.verified,
            operator=view.operator,
            views=sign,
            last_at=view.at,
        )
        for pair in changes
        if pair[0] != pair[1]
        for view, sign in zip(pair, (-1, 1), strict=True)
        if view and view.is_agent_view
    ]


def _write_views(changes: Changes) -> None:
    removed = [before.id for before, after in changes if after is None]
    for start in range(0, len(removed), 500):
        PageView.objects.filter(pk__in=removed[start : start + 500]).delete()
    with connection.cursor() as cursor:
        cursor.executemany(
            "UPDATE analytics_pageview SET client_class = %s, agent = %s, operator = %s, rule = %s, verified = %s, "
            "user_agent = %s, rules_version = %s WHERE id = %s",
            [
                (
                    *(view.client_class, view.agent, view.operator, view.rule, view.verified, view.user_agent),
                    *(agents.VERSION, view.id),
                )
                for _, view in changes
                if view
            ],
        )
