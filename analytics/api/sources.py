"""The endpoint that exports where readers come from and what they read with."""

from django.http import HttpResponse
from django.utils import timezone
from ninja import Query, Router

from analytics.api import paging
from analytics.api.schemas import VisitorsTrafficTotals
from analytics.api.source_schemas import SourceRow, SourcesQuery, SourcesResponse
from analytics.limits import analytics_charges
from analytics.reports.audience_report import FILTERS, AudienceReport, build_row
from docsite.core.access.request_checks import AdminKey, CallerRequest
from docsite.core.db import REPORTS, in_db
from docsite.core.http.dates import find_zone
from docsite.core.tenants.models import Project

router = Router()


@router.get(
    "/{projectId}/sources",
    auth=AdminKey(analytics_charges),
    operation_id="getSources",
    summary="Get visitors by source",
    description="Unique visitors or views by channel, referring site, campaign, device, browser, language or entry "
    "page. The most frequent value first, then by value. Counts are exact over any range, as in `getVisitors`. With "
    "filters they come from single views, which are stored for a time that is a setting (30 days by default): "
    "`countedFrom` says where they begin. Later pages count again.",
    response=SourcesResponse,
)
async def sources(request: CallerRequest, projectId: str, params: Query[SourcesQuery]) -> HttpResponse:
    """The values of one dimension of a range."""
    return await in_db(_sources, REPORTS)(request.auth.project, params)


def _sources(project: Project, params: SourcesQuery) -> HttpResponse:
    filters = {name: value for name in FILTERS if (value := getattr(params, name)) is not None}
    begin = paging.start_cursor(
        params, f"sources {project.project_id} {params.dimension} {params.metric} {sorted(filters.items())}"
    )
    with timezone.override(find_zone(params.timezone)):  # the period before has as many days of it
        report = AudienceReport.load(project, begin.start, begin.end, params.metric, filters)
    rows = report.rows(params.dimension)
    if begin.place:
        total, value = begin.place
        rows = [row for row in rows if (-row.total, row.value) > (-total, value)]
    page, following = paging.split_page(begin, rows, params.limit, lambda row: [row.total, row.value])
    return paging.json_response(
        SourcesResponse(
            dimension=params.dimension,
            countedFrom=report.counted_from,
            totals=VisitorsTrafficTotals(**report.totals),
            sources=[SourceRow(**build_row(row)) for row in page],
            nextCursor=following,
        )
    )
