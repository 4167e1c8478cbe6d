"""Endpoints that export visitors and views, and that collect views."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from datetime import datetime
from typing import Any

from django.db import IntegrityError
from django.http import HttpResponse, JsonResponse
from ninja import Query, Router

from analytics.api import paging
from analytics.api.schemas import (
    CollectIn,
    CollectOut,
    RangeQuery,
    ViewIn,
    ViewsByPageResponse,
    VisitorsByPageResponse,
    validate_views,
)
from analytics.collecting import recording, view_log
from analytics.collecting.requests import find_skip_reason, is_staff, observe
from analytics.collecting.writer import Receipt
from analytics.limits import analytics_charges, collect_charges
from analytics.reports import exports, visitor_counts
from analytics.reports.visitor_counts import Counts
from docsite.core.access.authentication import Caller
from docsite.core.access.request_checks import (
    AdminKey,
    AllowedOrigin,
    BrowserRequest,
    CallerRequest,
)
from docsite.core.db import REPORTS, REQUESTS, in_db
from docsite.core.group_commit import QueueFull
from docsite.core.http.errors import NotFound, Unavailable
from docsite.core.tenants.models import ApiKey, Project

router = Router()
collect_router = Router()
view_router = Router()

_PRECISION = (
    "Exact to the instant while single views are stored (`RAW_VIEW_DAYS`, 30 by default, or fewer by a setting of the "
    "project). Before that, counts are of whole hours, and an end within an hour is rounded down. Includes every view "
    "that was acknowledged before the request, unless the view log, if there is one, and counting take longer than 5 "
    "s. In a range longer than 400 days, a visitor who was away for that long counts again. A request with offset 0 "
    "pins the rows: for ten minutes, later offsets of the same key and dates read the same rows."
)


@router.get(
    "/{projectId}/visitors",
    auth=AdminKey(analytics_charges),
    operation_id="getVisitors",
    summary="Get unique visitors",
    description=f"{_PRECISION} A visitor seen both as a person and as an AI client counts once in `total`.",
    response=VisitorsByPageResponse,
)
async def visitors(request: CallerRequest, projectId: str, params: Query[RangeQuery]) -> Any:
    """Unique visitors of a range, site-wide and for each page."""
    totals, rows, has_more = await _read_page(request.auth, "visitors", params, visitor_counts.count_visitors)
    return {"totals": totals, "visitors": rows, "hasMore": has_more}


@router.get(
    "/{projectId}/views",
    auth=AdminKey(analytics_charges),
    operation_id="getViews",
    summary="Get page views",
    description=f"{_PRECISION} `total` is `human` and `ai` together.",
    response=ViewsByPageResponse,
)
async def views(request: CallerRequest, projectId: str, params: Query[RangeQuery]) -> Any:
    """Page views of a range, site-wide and for each page."""
    totals, rows, has_more = await _read_page(request.auth, "views", params, visitor_counts.count_views)
    return {"totals": totals, "views": rows, "hasMore": has_more}


async def _read_page(
    caller: Caller, name: str, params: RangeQuery, report: Callable[[Project, datetime, datetime], Counts]
) -> tuple[dict[str, int], list[dict[str, Any]], bool]:
    start, end = paging.parse_range(params)
    export_name = f"{name} {params.dateFrom} {params.dateTo} {params.timezone}"
    return await in_db(exports.read_page, REPORTS)(
        caller, export_name, params.limit, params.offset, lambda: report(caller.project, start, end)
    )


@collect_router.post(
    "/{projectId}/views",
    auth=AdminKey(collect_charges, CollectIn, allows_stale=True, collects_views=True),
    operation_id="collectViews",
    summary="Report page views in batches",
    response=CollectOut,
)
async def collect_views(request: CallerRequest, projectId: str, payload: CollectIn) -> JsonResponse:
    """Store page views, 1 to 1,000, that a server has recorded. The response means that they are stored.

    A collecting key adds only views of agents and of Markdown. The views of people in its batches are refused.
    """
    key = request.auth.key
    agents_only = key is not None and key.kind == ApiKey.Kind.COLLECTING
    refused, sent = await in_db(_submit)(request.auth.project, payload, agents_only=agents_only)
    receipt = await _wait_for_receipt(sent)
    # with what the project leaves out
    ignored = len(payload.views) - receipt.accepted - receipt.duplicates - refused
    counts = {"accepted": receipt.accepted, "duplicates": receipt.duplicates, "ignored": ignored}
    if agents_only:
        counts["refused"] = refused
    return JsonResponse(counts, content_type="application/json; charset=utf-8")


def _submit(project: Project, payload: CollectIn, *, agents_only: bool) -> "tuple[int, Future[Receipt]]":
    """Send a batch. Returns how many of its views are refused as those of people, and the receipt of the others."""
    views = validate_views(payload)
    if not agents_only:
        return 0, recording.send(project, views)
    views = recording.find_signers(project, views)  # a signed agent may have the user agent of a browser
    refused = sum(map(recording.is_of_person, views))
    # bots that are in no count are left out as well: this key adds views of agents and of Markdown, and nothing else
    counted = [view for view in views if recording.is_counted(view) and not recording.is_of_person(view)]
    return refused, recording.send(project, counted)


@view_router.post(
    "/{domain}",
    auth=AllowedOrigin(ViewIn, allows_stale=True),
    operation_id="reportView",
    summary="Report a page view from a browser",
    response={204: None, 202: None},
)
async def view(request: BrowserRequest, domain: str, payload: ViewIn) -> HttpResponse:
    """Count a reader's view: 204 once it is stored, 202 with `X-View` saying why it is not counted."""
    reason = find_skip_reason(request)
    if not reason and request.COOKIES and await in_db(is_staff)(request):
        reason = "staff"
    seen = observe(request, payload.id, payload.path, payload.referrer or "", payload.visitor or "")
    if reason := reason or recording.find_left_out(request.auth, seen):
        return HttpResponse(status=202, headers={"X-View": reason})
    sent = recording.try_send(request.auth, seen) or await in_db(recording.send)(request.auth, [seen])
    await _wait_for_receipt(sent)
    if not recording.is_counted(seen):
        return HttpResponse(status=202, headers={"X-View": "bot: recorded, but in no count"})
    return HttpResponse(status=204)


async def _wait_for_receipt(future: "Future[Receipt]") -> Receipt:
    try:
        return await asyncio.wait_for(asyncio.wrap_future(future), REQUESTS.count_seconds_left())
    except TimeoutError:
        store = "view log" if view_log.find() else "database"
        raise Unavailable(f"The {store} does not answer. Try again shortly.") from None
    except QueueFull as failure:
        raise Unavailable(str(failure)) from None
    except IntegrityError:  # it was deleted this moment
        raise NotFound("No such project.") from None
