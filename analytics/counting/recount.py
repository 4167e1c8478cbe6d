"""Counting views anew: when the rules have changed, and when sample views are taken away.

Cells hold no visitors, but a change of a few views is still a sum: with each
visitor concerned, the cells that its trail makes now, less those that it made
before. Each step holds the lease of its shard and writes views, trails and cells
in one transaction, so it may be killed and started again.
"""

import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from itertools import islice
from typing import NamedTuple, cast

import numpy as np
from django.conf import settings
from django.db import connection, transaction

from analytics import agents
from analytics.counting import agent_views, sealer, sweeper, trails
from analytics.counting.agent_views import Read
from analytics.counting.cells import Ints, add_up
from analytics.counting.sealer import HOUR, Followed, Lease, Lost
from analytics.models import PageView, Seal, Trail
from docsite.projects.models import Project

Progress = Callable[[int, int], None]

STEP_VISITORS = 1_000
_COLUMNS = "id, at, page, visitor, client_class, surface, verified, agent, operator, rule, user_agent, sample"


class Stored(NamedTuple):
    """A view as it is stored."""

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

    @property
    def is_read(self) -> bool:
        """Whether it is among the views that `analytics.counting.agent_views` sums up."""
        return self.client_class != "human" or self.surface != "html"


Judge = Callable[[Stored], Stored | None]
Changes = list[tuple[Stored, Stored | None]]  # views that are sealed, and what they are to be; None: nothing


def reclassify(project: Project, progress: Progress | None = None) -> Counter[tuple[str, str]]:
    """Class the project's views anew by today's rules; returns how many went from which class to which.

    Only views whose user agent is kept can be: those that were not classed as people's,
    for as long as single views are kept. A visitor stays the one that it was.
    """
    since = sweeper.boundary() * HOUR
    moved: Counter[tuple[str, str]] = Counter()

    def judged(view: Stored) -> Stored:
        if not view.user_agent or view.at < since:
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

    for before, after in _recount(project, judged, progress):
        if after and after.client_class != before.client_class:
            moved[before.client_class, after.client_class] += 1
    PageView.objects.filter(project=project, rules_version__lt=agents.VERSION).exclude(user_agent="").update(
        rules_version=agents.VERSION
    )
    return moved


def remove_sample(project: Project, progress: Progress | None = None) -> int:
    """Take the project's sample views away, out of every count; returns how many there were."""
    return sum(1 for _ in _recount(project, lambda view: None if view.sample else view, progress))


def _recount(project: Project, judge: Judge, progress: Progress | None) -> Iterator[tuple[Stored, Stored | None]]:
    """Put what `judge` says in the place of each view, and yield those that changed, with what became of them."""
    upto = sealer.newest()
    sealer.seal(patience=float("inf"))
    concerned = {view.visitor for view in _views(project.pk, 0, upto) if judge(view) != view}
    known = defaultdict(list)
    for view in _views(project.pk, 0, upto):
        if view.visitor in concerned:
            known[view.visitor].append(view)
    todo, most = concerned, STEP_VISITORS
    while todo:
        done: set[int] = set()
        for shard in Seal.objects.values_list("shard", flat=True):
            lease = sealer.take(shard)
            if lease is None:
                time.sleep(0.05)
                continue
            mine = list(islice((visitor for visitor in todo if visitor & (lease.shards - 1) == shard), most))
            views = [view for visitor in mine for view in known[visitor]]
            views += _views(project.pk, upto, lease.sealed_to, set(mine))
            changes = [(view, judge(view)) for view in views]
            try:
                _step(project.pk, lease, changes)
            except Lost:
                most = max(1, most // 2)
                continue
            yield from ((before, after) for before, after in changes if before != after)
            done.update(mine)
        todo = todo - done
        if progress and done:
            progress(len(concerned) - len(todo), len(concerned))


def _views(project_id: int, after: int, upto: int, visitors: set[int] | None = None) -> Iterator[Stored]:
    """The views with ids in a range, some thousand at a time, so that nobody waits for us."""
    while after < upto:
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT {_COLUMNS} FROM analytics_pageview WHERE project_id = %s AND id > %s AND id <= %s "
                "ORDER BY id LIMIT 20000",
                [project_id, after, upto],
            )
            rows = cast("list[tuple[int, int, int, int, str, str, str, str, str, str, str, bool]]", cursor.fetchall())
        if not rows:
            return
        after = rows[-1][0]
        for row in rows:
            view = Stored(*row)
            if visitors is None or view.visitor in visitors:
                yield view


def _step(project_id: int, lease: Lease, changes: Changes) -> None:
    """Make changes of all views of some visitors of one shard, and give the lease back. Raises `Lost`."""
    change, followed, gone = _followed(project_id, changes)
    buckets = sealer.updated(project_id, lease, sealer.deltas(change, *_views_by_hour(changes)))
    with transaction.atomic():
        sealer.release(lease)
        sealer.store_trails(project_id, followed)
        Trail.objects.filter(project=project_id, visitor__in=gone).delete()
        sealer.store_cells(project_id, lease.shard, buckets)
        agent_views.add(_reads(project_id, changes))
        _write([(before, after) for before, after in changes if before != after])


def _followed(project_id: int, changes: Changes) -> tuple[trails.Change, Followed, list[int]]:
    """What changes in the cells, the trails as they are then, and the visitors of whom nothing is left."""
    visitors = sorted({before.visitor for before, _ in changes})
    number = {visitor: place for place, visitor in enumerate(visitors)}
    old = _sightings(number, [before for before, _ in changes])
    new = _sightings(number, [after for _, after in changes if after])
    trimmed, blobs = sealer.read_trails(project_id, visitors)
    known = (trails.decode(blobs) + old).sorted()  # the trail, and what had been trimmed of it
    horizon = settings.ENV.visitor_horizon_days * 24
    change = trails.replace(known, (known.without(old.without(new)) + new).sorted(), horizon)
    kept = trails.encode(trails.trim(change.trails, trimmed, horizon), len(visitors))
    left = [place for place, blob in enumerate(kept) if blob]
    followed = Followed([visitors[n] for n in left], [int(trimmed[n]) for n in left], [kept[n] for n in left])
    return change, followed, [visitor for visitor, blob in zip(visitors, kept, strict=True) if not blob]


def _sightings(number: dict[int, int], views: list[Stored]) -> trails.Sightings:
    seen = [
        (number[view.visitor], view.page, kind, view.at // HOUR)
        for view in views
        if (kind := sealer.kind_of(view.client_class, view.surface)) is not None
    ]
    return trails.sightings(*np.array(seen, np.int64).reshape(-1, 4).T)


def _views_by_hour(changes: Changes) -> tuple[Ints, Ints, Ints]:
    """How many views each hour and slot has more or less."""
    found = [
        (view.at // HOUR, view.page << 3 | kind, sign)
        for pair in changes
        for view, sign in zip(pair, (-1, 1), strict=True)
        if view and (kind := sealer.kind_of(view.client_class, view.surface)) is not None
    ]
    hour, slot, n = np.array(found, np.int64).reshape(-1, 3).T
    return cast("tuple[Ints, Ints, Ints]", tuple(add_up(hour, slot, n=n)))


def _reads(project_id: int, changes: Changes) -> list[Read]:
    """What agents read less, and what they read more."""
    return [
        Read(
            project_id=project_id,
            hour=view.at // HOUR,
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
        if view and view.is_read
    ]


def _write(changes: Changes) -> None:
    gone = [before.id for before, after in changes if after is None]
    for start in range(0, len(gone), 500):
        PageView.objects.filter(pk__in=gone[start : start + 500]).delete()
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
