"""Visitors out, page views in."""

from typing import Any

from django.http import HttpResponse
from django.utils import timezone
from ninja import Query, Router

from analytics import collect, dates, exports, reports
from analytics.collect import Observation
from analytics.observe import not_a_reader, observation
from analytics.schemas import CollectIn, CollectOut, ViewIn, VisitorsByPageResponse, VisitorsQuery
from docsite.db import in_db
from docsite.http.errors import BadRequest
from docsite.http.schemas import responses
from docsite.projects.guards import (
    AdminKey,
    AllowedOrigin,
    BrowserRequest,
    CallerRequest,
    analytics_charges,
    collect_charges,
)

router = Router()
collect_router = Router()
view_router = Router()

_PRECISION = (
    "Exact to the instant. A visitor seen both as a person and as an AI client counts once in `total`. "
    "A request with offset 0 pins the rows that later offsets of the same key and dates read for ten minutes."
)


@router.get(
    "/{projectId}/visitors",
    auth=AdminKey(analytics_charges),
    summary="Get unique visitors",
    description=_PRECISION,
    response=responses(VisitorsByPageResponse, bodyless=True),
)
async def visitors(request: CallerRequest, projectId: str, params: Query[VisitorsQuery]) -> Any:
    """Unique visitors of a range, site-wide and for each page."""
    try:
        start, end = dates.window(params.dateFrom, params.dateTo, timezone.now())
    except ValueError as wrong:
        raise BadRequest(f"dateFrom: {wrong}") from None
    caller = request.auth
    asked = f"visitors {params.dateFrom} {params.dateTo} {caller.project.ai_scope}"
    totals, rows, has_more = await in_db(exports.page)(
        caller, asked, params.limit, params.offset, lambda: reports.visitors(caller.project, start, end)
    )
    return {"totals": totals, "visitors": rows, "hasMore": has_more}


@collect_router.post(
    "/{projectId}/views",
    auth=AdminKey(collect_charges),
    summary="Report page views in batches",
    response=responses(CollectOut),
)
async def collect_views(request: CallerRequest, projectId: str, payload: CollectIn) -> Any:
    """Take 1 to 1,000 views that a server saw; answered after they are committed."""
    seen = [
        Observation(
            view_id=view.id,
            raw_path=view.path,
            at=view.timestamp,
            address=view.address,
            user_agent=view.userAgent,
            accept=view.accept or "",
            referrer=view.referrer or "",
        )
        for view in payload.views
    ]
    receipt = await in_db(collect.record)(request.auth.project, seen)
    return {"accepted": receipt.accepted, "duplicates": receipt.duplicates, "ignored": receipt.ignored}


@view_router.post(
    "/{domain}",
    auth=AllowedOrigin(),
    summary="Report a page view from a browser",
    response={**responses(None, status=204), 202: None},
)
async def view(request: BrowserRequest, domain: str, payload: ViewIn) -> HttpResponse:
    """Count a reader's view: 204 once it is committed, 202 with `X-View` saying why it is not counted."""
    if reason := not_a_reader(request):
        return HttpResponse(status=202, headers={"X-View": reason})
    seen = observation(request, payload.id, payload.path, payload.referrer or "")
    await in_db(collect.record)(request.auth, [seen])
    if not collect.counts(seen):
        return HttpResponse(status=202, headers={"X-View": "bot: recorded, but in no count"})
    return HttpResponse(status=204)
