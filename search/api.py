"""`POST /discovery/v1/search/{domain}`."""

from typing import Any

from django.http import JsonResponse
from ninja import Router

from docsite.db import in_db
from docsite.http.schemas import responses
from docsite.projects.guards import AssistantKey, CallerRequest, search_charges
from search import index
from search.hits import Filters
from search.schemas import SearchIn, SearchResult, result_of

router = Router()


@router.post(
    "/{domain}",
    auth=AssistantKey(search_charges),
    summary="Search documentation",
    response=responses(list[SearchResult]),
)
async def search(request: CallerRequest, domain: str, payload: SearchIn) -> Any:
    """Pages that match the query, best first."""
    hits = await in_db(index.find)(
        request.auth.project,
        payload.query,
        filters=payload.filter.filters() if payload.filter else Filters(),
        limit=payload.pageSize,
        threshold=payload.scoreThreshold or 0.0,
    )
    return JsonResponse([result_of(hit) for hit in hits], safe=False)
