"""The visitors of the last five minutes, as a part of pages and as JSON, with which a script renews that part."""

from datetime import timedelta
from functools import reduce
from operator import or_
from typing import Any

from django.db.models import Count, Q
from django.http import HttpRequest, JsonResponse
from django.utils import timezone

from analytics.counting import pages
from analytics.models import EPOCH, PageView
from analytics.reports.filtered_counts import kinds_of_views
from docsite.core.tenants.models import Project
from docsite.core.workspace.reports.formatting import visible
from search.indexing.page_groups import find_hidden

PERIOD = timedelta(minutes=5)
MAX_PAGES = 5


def show_live(request: HttpRequest, project: Project) -> JsonResponse:
    """The visitors, and the pages that most of them read."""
    visitors, read = _count(project)
    return JsonResponse({"visitors": visitors, "pages": [{"path": path, "visitors": number} for path, number in read]})


def describe_live(project: Project) -> dict[str, Any]:
    """The context of the part of a page. A page whose readers may ask for the JSON adds `live_link`."""
    visitors, read = _count(project)
    return {"live_visitors": visitors, "live_pages": read}


def _count(project: Project) -> tuple[int, list[tuple[str, int]]]:
    """The unique visitors, people and clients that count as AI, and those of the pages that most of them read.

    From single views, which are stored before a view is acknowledged.
    """
    since = (timezone.now() - PERIOD - EPOCH) // timedelta(microseconds=1)
    counted = [Q(client_class=name, surface=form) for (name, form), kind in kinds_of_views(project).items() if kind]
    views = PageView.objects.filter(reduce(or_, counted), project=project, at__gte=since)
    visitors = views.aggregate(visitors=Count("visitor", distinct=True))["visitors"]
    top = views.values("page").annotate(visitors=Count("visitor", distinct=True)).order_by("-visitors", "page")
    rows = list(top.values_list("page", "visitors")[:MAX_PAGES])
    paths = pages.paths_of(project.pk, [page for page, _ in rows])
    hidden = find_hidden(project, paths)
    return visitors, [
        (visible(path), number) for path, (_, number) in zip(paths, rows, strict=True) if path not in hidden
    ]
