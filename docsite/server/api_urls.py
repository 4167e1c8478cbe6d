"""URLs behind the API middleware: the API of `api.py`, the scripts for other sites, health."""

import asyncio

from django.http import HttpRequest, JsonResponse
from django.urls import include, path
from django.views.decorators.http import require_GET

from docsite.core import sql
from docsite.core.base_path import service_url
from docsite.core.db import HEALTH, in_db
from docsite.core.http.errors import NotFound
from docsite.server import api_additions
from docsite.server.api import api
from docsite.server.openapi import build_document


def not_found(request: HttpRequest, exception: Exception) -> JsonResponse:
    """No such path."""
    return NotFound("No such path.").response()


@require_GET
async def health(request: HttpRequest) -> JsonResponse:
    """200 `{"status": "ok"}` when the database answers; else 503, from the API middleware."""
    await in_db(sql.fetch_value, HEALTH)("SELECT 1")
    return JsonResponse({"status": "ok"})


@require_GET
async def openapi(request: HttpRequest) -> JsonResponse:
    """The OpenAPI document."""
    document = await asyncio.to_thread(build_document, service_url(request))
    return JsonResponse(document)


urlpatterns = [
    path("health", health),
    path("openapi.json", openapi),
    path("", include("assistant.widget.urls")),
    path("", include("analytics.urls")),
    *api_additions.load_addresses(),
    path("", api.urls),
]

handler404 = not_found
