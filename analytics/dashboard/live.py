"""The visitors of the last five minutes, as a part of pages and as JSON, with which a script renews that part."""

from typing import Any

from django.http import HttpRequest, JsonResponse
from django.utils import timezone

from analytics.reports.live_counts import LiveCounts, count_live
from docsite.core.tenants.models import Project
from docsite.core.workspace.reports.formatting import visible
from search.indexing.page_groups import find_hidden


def show_live(request: HttpRequest, project: Project) -> JsonResponse:
    """The visitors, and the pages that most of them read."""
    counts = count_live(project, timezone.now())
    pages = [{"path": path, "visitors": visitors} for path, visitors in _visible_pages(project, counts)]
    return JsonResponse({"visitors": counts.visitors, "pages": pages})


def describe_live(project: Project) -> dict[str, Any]:
    """The context of the part of a page. A page whose readers may ask for the JSON adds `live_link`."""
    counts = count_live(project, timezone.now())
    return {"live_visitors": counts.visitors, "live_pages": _visible_pages(project, counts)}


def _visible_pages(project: Project, counts: LiveCounts) -> list[tuple[str, int]]:
    hidden = find_hidden(project, [path for path, _ in counts.pages])
    return [(visible(path), visitors) for path, visitors in counts.pages if path not in hidden]
