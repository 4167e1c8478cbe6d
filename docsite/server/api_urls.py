"""URLs behind the API middleware: the API of `api.py`, the scripts for other sites, health."""

from django.http import HttpRequest, JsonResponse
from django.urls import include, path
from django.views.decorators.http import require_GET

from docsite.core.access.api_middleware import own_origin
from docsite.core.http.errors import NotFound
from docsite.server.api import api
from docsite.server.health.database import health
from docsite.server.openapi import build_document


def not_found(request: HttpRequest, exception: Exception) -> JsonResponse:
    """No such path."""
    return NotFound("No such path.").response()


@require_GET
async def openapi(request: HttpRequest) -> JsonResponse:
    """The OpenAPI document."""
    return JsonResponse(build_document(own_origin(request)))


urlpatterns = [
    path("health", health),
    path("openapi.json", openapi),
    path("", include("assistant.urls")),
    path("", include("analytics.urls")),
    path("", include("docsite.mcp.urls")),
    path("", api.urls),
]

handler404 = not_found
