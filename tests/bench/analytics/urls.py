"""The addresses of the service's API and one more, which does nothing (`API_URLCONF`)."""

from django.http import HttpRequest, HttpResponse
from django.urls import path

from docsite.server.api_urls import handler404, urlpatterns

__all__ = ["handler404", "urlpatterns"]


async def empty(request: HttpRequest) -> HttpResponse:
    """What a request costs without any work of ours."""
    return HttpResponse(status=204)


urlpatterns = [path("v1/empty", empty), *urlpatterns]
