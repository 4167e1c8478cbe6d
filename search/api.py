"""Search, report a click, read a page as Markdown: `/discovery/v1/search` and `/discovery/v1/page`."""

from typing import Any

from django.http import HttpRequest, HttpResponse, JsonResponse
from ninja import Router

from docsite.core.access.readers import narrow, set_reader_groups
from docsite.core.access.request_checks import (
    AllowedOrigin,
    AssistantKey,
    BrowserRequest,
    CallerRequest,
)
from docsite.core.db import SEARCHES, in_db
from docsite.core.http.client_address import client_ip
from docsite.core.http.errors import NotFound
from docsite.core.tenants.models import Project
from search.hits import Filters
from search.limits import search_charges
from search.models import Document, SearchQuery
from search.query_log import recording
from search.retrieval import page_search
from search.retrieval.links import page_of
from search.schemas import ClickIn, PageIn, PageOut, SearchIn, SearchResult, build_result

router = Router()
page_router = Router()


@router.post(
    "/{domain}",
    auth=AssistantKey(search_charges, SearchIn),
    operation_id="search",
    summary="Search documentation",
    response=list[SearchResult],
)
async def search(request: CallerRequest, domain: str, payload: SearchIn) -> Any:
    """Pages that match the query, best first."""
    project = request.auth.project
    filters = payload.filter.to_filters() if payload.filter else Filters()
    set_reader_groups(narrow(payload.filter.groups if payload.filter else None))
    hits = await in_db(page_search.find, SEARCHES)(
        project,
        payload.query,
        filters=filters,
        limit=payload.pageSize,
        threshold=payload.scoreThreshold or 0.0,
    )
    kind = SearchQuery.CallerKind.WEB if request.headers.get("Origin") else SearchQuery.CallerKind.API
    first_score = hits[0].score if hits else None
    recording.record(project, hash_caller(request, project), payload.query, len(hits), kind, filters, first_score)
    return JsonResponse([build_result(hit) for hit in hits], safe=False)


@router.post(
    "/{domain}/click",
    auth=AllowedOrigin(ClickIn),
    operation_id="reportClick",
    summary="Report the result that a reader opened",
    response={204: None},
)
async def click(request: BrowserRequest, domain: str, payload: ClickIn) -> HttpResponse:
    """Settle the reader's search on a result: 204 once it is committed. An unknown page is ignored."""
    project = request.auth
    caller, path = hash_caller(request, project), project.path_of(payload.path)
    await in_db(recording.record_click)(project, caller, payload.query, path, payload.position)
    return HttpResponse(status=204)


@page_router.post(
    "/{domain}",
    auth=AssistantKey(search_charges, PageIn),
    operation_id="getPage",
    summary="Read a page as Markdown",
    response=PageOut,
)
async def page(request: CallerRequest, domain: str, payload: PageIn) -> Any:
    """The Markdown of a page as it was last ingested."""
    project = request.auth.project
    document = await in_db(_get_document, SEARCHES)(project, project.path_of(payload.path))
    return JsonResponse({"path": document.path, "content": document.content})


def _get_document(project: Project, path: str) -> Document:
    document = Document.objects.filter(project=project, path=page_of(project, path)).only("path", "content").first()
    if document is None:
        raise NotFound("No such page.")
    return document


def hash_caller(request: HttpRequest, project: Project) -> int:
    """The caller as a keyed hash."""
    return recording.hash_caller(project, client_ip(request), request.headers.get("User-Agent", ""))
