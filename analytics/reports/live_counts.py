"""Count who reads a project right now. From single views, which are stored before a view is acknowledged."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import reduce
from operator import or_

from django.db.models import Count, Q

from analytics.counting import pages
from analytics.models import EPOCH, PageView
from analytics.reports.filtered_counts import kinds_of_views
from docsite.core.tenants.models import Project

PERIOD = timedelta(minutes=5)
MAX_PAGES = 5


@dataclass(frozen=True)
class LiveCounts:
    """The unique visitors of the last five minutes, and those of the pages that most of them read."""

    visitors: int
    pages: list[tuple[str, int]]


def count_live(project: Project, now: datetime) -> LiveCounts:
    """Count the visitors of the total: people, and the clients that count as AI."""
    since = (now - PERIOD - EPOCH) // timedelta(microseconds=1)
    counted = [Q(client_class=name, surface=form) for (name, form), kind in kinds_of_views(project).items() if kind]
    views = PageView.objects.filter(reduce(or_, counted), project=project, at__gte=since)
    visitors = views.aggregate(visitors=Count("visitor", distinct=True))["visitors"]
    top = views.values("page").annotate(visitors=Count("visitor", distinct=True)).order_by("-visitors", "page")
    rows = list(top.values_list("page", "visitors")[:MAX_PAGES])
    paths = pages.paths_of(project.pk, [number for number, _ in rows])
    return LiveCounts(visitors, [(path, number) for path, (_, number) in zip(paths, rows, strict=True)])
