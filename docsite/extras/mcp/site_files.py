"""Where agents look for the MCP server of these pages: the well-known addresses and the skill file."""

import hashlib

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.http import require_safe

from docsite.core.base_path import service_url
from docsite.extras.mcp.discovery import CARD_TYPE, SKILLS_SCHEMA, McpServer, find_server
from docsite.site.for_programs.agent_files import markdown_response
from docsite.site.page_context import site_project

_EVERY_ORIGIN = {"Access-Control-Allow-Origin": "*"}


@require_safe
def server_card(request: HttpRequest) -> HttpResponse:
    """The server card (SEP-2127)."""
    return JsonResponse(_find_server(request).build_card(), content_type=CARD_TYPE, headers=_EVERY_ORIGIN)


@require_safe
def catalog(request: HttpRequest) -> HttpResponse:
    """The catalog of this host, with the server card as its only entry (AI Catalog)."""
    return JsonResponse(_find_server(request).build_catalog(), headers=_EVERY_ORIGIN)


@require_safe
def skill(request: HttpRequest) -> HttpResponse:
    """The skill file."""
    response = markdown_response(_find_server(request).write_skill())
    response["Access-Control-Allow-Origin"] = "*"
    return response


@require_safe
def skills(request: HttpRequest) -> HttpResponse:
    """The index of skills, with the digest of the only one (Agent Skills Discovery 0.2.0)."""
    server = _find_server(request)
    entry = {
        "name": server.skill_name,
        "type": "skill-md",
        "description": server.skill_description,
        "url": "/skill.md",
        "digest": f"sha256:{hashlib.sha256(server.write_skill().encode()).hexdigest()}",
    }
    return JsonResponse({"$schema": SKILLS_SCHEMA, "skills": [entry]}, headers=_EVERY_ORIGIN)


def _find_server(request: HttpRequest) -> McpServer:
    server = find_server(site_project(), service_url(request))
    if server is None:
        raise Http404
    return server
