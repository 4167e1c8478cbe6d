"""The files that describe the server of a project. They need no key."""

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_GET

from docsite.core.access.request_checks import BROWSER_IP
from docsite.core.base_path import service_url
from docsite.core.db import in_db
from docsite.core.http import ratelimit
from docsite.core.http.client_address import client_ip, network_of
from docsite.extras.mcp import access
from docsite.extras.mcp.discovery import CARD_TYPE, McpServer

_HEADERS = {"Access-Control-Allow-Origin": "*", "Cache-Control": "public, max-age=300"}


@require_GET
async def server_card(request: HttpRequest, domain: str) -> HttpResponse:
    """The server card."""
    server = await _find_server(request, domain)
    return JsonResponse(server.build_card(), content_type=CARD_TYPE, headers=_HEADERS)


@require_GET
async def skill(request: HttpRequest, domain: str) -> HttpResponse:
    """The skill file."""
    server = await _find_server(request, domain)
    return HttpResponse(server.write_skill(), content_type="text/markdown; charset=utf-8", headers=_HEADERS)


async def _find_server(request: HttpRequest, domain: str) -> McpServer:
    project = await in_db(access.find_project)(domain)
    await in_db(ratelimit.spend)((BROWSER_IP, network_of(client_ip(request))))
    return McpServer(project, service_url(request))
