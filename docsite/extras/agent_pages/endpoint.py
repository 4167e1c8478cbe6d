"""Answers agents: lists of pages, pages as Markdown, and the files for the site. Public pages only, without a key."""

import hashlib
from collections import Counter
from collections.abc import AsyncIterator

from django.conf import settings
from django.http import HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils import timezone
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_GET

from docsite.core.access import authentication
from docsite.core.access.request_checks import BROWSER_IP
from docsite.core.base_path import service_url
from docsite.core.db import REPORTS, in_db
from docsite.core.http import cpu_time, ratelimit
from docsite.core.http.client_address import client_ip, network_of
from docsite.core.http.errors import NotFound, TooMany
from docsite.core.http.ratelimit import Limit
from docsite.core.tenants.models import Project
from docsite.extras.agent_pages import contents as lists
from docsite.extras.agent_pages import edge, pages
from docsite.extras.agent_pages.models import is_served
from docsite.extras.agent_pages.pages import Place
from docsite.site.for_programs.agent_files import markdown_response, wants_markdown
from search import missing_pages
from search.missing_pages import MissingRequest
from search.retrieval import index_state

EDGE_HEADER = "X-Docs-Edge"  # an edge file sends it: then the addresses in the answer are those of the site
# All agents of a site have the address of its edge. Anybody can send the header: it changes this limit and no other.
EDGE = Limit("agents-edge", "limit_agents_edge", fail_open=True)
_HEADERS = {"Cache-Control": "public, max-age=300", "Vary": f"Accept, {EDGE_HEADER}"}
MAX_RUNNING = 2  # downloads of all pages by one address, in this process
_RETRY_SECONDS = 10
_NO_PAGE = "There is no Markdown at this address."

_running: Counter[str] = Counter()  # downloads by network


@require_GET
async def contents(request: HttpRequest, domain: str, folder: str = "", part: int = 0) -> HttpResponseBase:
    """llms.txt: the list of the pages, in sections; of a folder, or a part of a long list."""
    place = await _admit(request, domain)
    text = await in_db(lists.write_contents)(place, place.project.path_of(f"/{folder}"), part)
    return _respond(request, text)


@require_GET
async def page(request: HttpRequest, domain: str, address: str = "") -> HttpResponseBase:
    """The Markdown of a page: `PATH.md`, or the address of the page for a client that prefers Markdown to HTML."""
    place = await _admit(request, domain)
    if not address.endswith(".md") and not wants_markdown(request):
        raise NotFound(_NO_PAGE)
    text = await in_db(pages.find_page)(place, f"/{address}")
    if text is None and place.is_site:
        _record_missing(request, place.project, address)
    return _respond(request, text)


def _record_missing(request: HttpRequest, project: Project, address: str) -> None:
    """Note what an agent missed on the site. nginx and Caddy name no agent: their logs have the request."""
    if agent := request.headers.get("User-Agent"):
        path, network = project.path_of(f"/{address}"), network_of(client_ip(request))
        asked = MissingRequest(path, timezone.now(), agent, network=network, wants_markdown=True)
        missing_pages.record(project, [asked])


@require_GET
async def all_pages(request: HttpRequest, domain: str, folder: str = "") -> HttpResponseBase:
    """llms-full.txt: the Markdown of every page, page after page."""
    place = await _admit(request, domain)
    inside = place.project.path_of(f"/{folder}")
    state = await in_db(_describe_state)(place, inside)
    if state is None:
        raise NotFound(_NO_PAGE)
    network = network_of(client_ip(request))
    if _running[network] >= MAX_RUNNING:
        raise TooMany(_RETRY_SECONDS)
    response = StreamingHttpResponse(
        _stream(place, inside, network), content_type="text/markdown; charset=utf-8", headers=_HEADERS
    )
    return _finish(request, response, _make_tag(state))


@require_GET
async def edge_file(request: HttpRequest, domain: str, name: str) -> HttpResponseBase:
    """The file for the server or the worker before the site of a project."""
    place = await _admit(request, domain)
    text = edge.write_file(place.project, service_url(request), name)
    if text is None:
        raise NotFound("No such file.")
    response = HttpResponse(text, content_type="text/plain; charset=utf-8", headers={"Cache-Control": "no-cache"})
    return _finish(request, response, _make_tag(text))


async def _admit(request: HttpRequest, domain: str) -> Place:
    """Where the pages of a domain are. Raises 404, or 429 at the limit of the address."""
    network = network_of(client_ip(request))
    cpu_time.measure(network)
    is_site = bool(request.headers.get(EDGE_HEADER))
    project = await in_db(_find_project)(domain, network, is_site=is_site)
    url = project.docs_url.rstrip("/") if is_site else f"{service_url(request)}/agents/{domain}"
    return Place(project, url, is_site)


def _find_project(domain: str, network: str, *, is_site: bool) -> Project:
    project = authentication.project_by_domain(domain)
    if project is None or not is_served(project):
        raise NotFound("This domain has no pages for agents.")
    cpu_time.charge(network)
    ratelimit.spend((EDGE, f"{project.pk} {network}") if is_site else (BROWSER_IP, network))
    return project


def _respond(request: HttpRequest, text: str | None) -> HttpResponseBase:
    if text is None:
        raise NotFound(_NO_PAGE)
    response = markdown_response(text)
    for name, value in _HEADERS.items():
        response.headers[name] = value
    return _finish(request, response, _make_tag(text))


def _finish(request: HttpRequest, response: HttpResponseBase, tag: str) -> HttpResponseBase:
    """The response with its tag, or 304 for a client that has it."""
    response.headers["ETag"] = tag
    known = get_conditional_response(request, etag=tag)
    if known is None or known.status_code != 304:
        return response
    for name, value in response.headers.items():
        if name not in ("Content-Type", "Content-Length"):
            known.headers[name] = value
    return known


def _make_tag(text: str) -> str:
    return f'"{hashlib.sha256(text.encode()).hexdigest()[:20]}"'


def _describe_state(place: Place, folder: str) -> str | None:
    """What the text of all pages depends on. None where there are none."""
    if not pages.list_documents(place.project, folder).exists():
        return None
    return repr((index_state.get_scope(place.project), place.url, place.project.docs_url, folder, settings.VERSION))


async def _stream(place: Place, folder: str, network: str) -> AsyncIterator[str]:
    """The pages, some at a time, at the expense of a network.

    It raises where it cannot go on. Then the server breaks the connection off, so that nobody takes the text for whole.
    """
    _running[network] += 1
    try:
        last = ""
        while True:
            before = "\n" if last else ""
            text, last = await in_db(_load_batch, REPORTS)(place, folder, last, network)
            if not last:
                return
            yield before + text
    finally:
        _running[network] -= 1
        if not _running[network]:
            del _running[network]


def _load_batch(place: Place, folder: str, after: str, network: str) -> tuple[str, str]:
    cpu_time.charge(network)
    return pages.load_batch(place, folder, after)
