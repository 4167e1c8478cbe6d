"""Find the first and the latest hour with counted views of a project.

Removed views leave empty cells, so an hour needs a count above zero.
"""

from datetime import datetime

from django.db.models.functions import Length

from analytics.counting import cells
from analytics.models import EPOCH, AnalyticsSettings, Cells
from docsite.core.tenants.models import Project
from docsite.core.workspace.reports.report_state import HOUR

_NOTHING = len(cells.merge(0, []).encode())  # bytes


def first_hour(project: Project) -> datetime | None:
    """The first hour with a view that counts."""
    return _find_hour(project, "start")


def latest_hour(project: Project) -> datetime | None:
    """The latest hour with a view that counts."""
    return _find_hour(project, "-start")


def _find_hour(project: Project, order: str) -> datetime | None:
    crawlers = AnalyticsSettings.for_project(project).ai_scope == AnalyticsSettings.AiScope.ALL
    hours = Cells.objects.alias(size=Length("blob")).filter(project=project, span=1, size__gt=_NOTHING).order_by(order)
    for start, blob in hours.values_list("start", "blob").iterator():
        _, viewed = cells.count_page([cells.Bucket.decode(start, bytes(blob))], start)
        if cells.sum_layers(viewed[None, :], crawlers=crawlers).any():
            return EPOCH + HOUR * start
    return None
