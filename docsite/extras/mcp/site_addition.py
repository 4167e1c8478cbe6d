"""Names the address of the site's MCP server in `llms.txt`, in the page menu and on the page about coding agents."""

import tomllib
from pathlib import Path

from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import path
from django.utils.safestring import SafeString, mark_safe

from docsite.core.base_path import absolute_url, service_url
from docsite.extras.mcp import site_files
from docsite.extras.mcp.discovery import McpServer, find_server
from docsite.site.additions import Addition
from docsite.site.markdown import render as render_markdown
from docsite.site.page_context import last_site_project

_WORDS = tomllib.loads((Path(__file__).parent / "texts.toml").read_text(encoding="utf-8"))


def _find_server(request: HttpRequest) -> McpServer | None:
    return find_server(last_site_project(), service_url(request))


def _render_on_page(request: HttpRequest) -> SafeString:
    """The address of the server, and how to add it."""
    server = _find_server(request)
    if server is None:
        return mark_safe("")
    command = mark_safe(render_markdown(f"```sh\n{server.claude_command}\n```\n").html)
    return mark_safe(render_to_string("mcp/_on_page.html", {"server": server, "command": command}))


def _render_in_menu(request: HttpRequest, language: str) -> SafeString:
    """Links that add the server to an editor."""
    server = _find_server(request)
    if server is None:
        return mark_safe("")
    return mark_safe(render_to_string("mcp/_in_menu.html", {"server": server, "words": _WORDS[language]}))


def _write_note(request: HttpRequest) -> str:
    """Where the server and its skill file are."""
    server = _find_server(request)
    if server is None:
        return ""
    return (
        f"Agents can search these pages and ask about them through an MCP server at {server.url}; "
        f"{absolute_url(request, '/coding-agents.md')} says how to add it. "
        f"{absolute_url(request, '/skill.md')} is a skill file for agents."
    )


ADDITION = Addition(
    addresses=(
        path("skill.md", site_files.skill),
        path(".well-known/mcp/server-card.json", site_files.server_card),
        path(".well-known/mcp", site_files.server_card),
        path(".well-known/ai-catalog.json", site_files.catalog),
        path(".well-known/agent-skills/index.json", site_files.skills),
    ),
    page_parts={"coding-agents": _render_on_page},
    menu_part=_render_in_menu,
    note_for_agents=_write_note,
)
