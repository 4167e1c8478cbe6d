"""The pages as HTML or Markdown, the search page, and the 404 page."""

import hashlib
import re
from typing import TYPE_CHECKING, Any

from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.utils.cache import patch_vary_headers
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

from analytics.collecting.requests import prefetch_purpose
from assistant.widget.files import get_panel_path
from docsite.core.context import limit_database_time, measure_cpu_time
from docsite.core.http import cpu_time, ratelimit
from docsite.core.http.client_address import client_ip, network_of
from docsite.core.http.errors import TooMany
from docsite.core.tenants.models import Project
from docsite.site import additions, forms, home, interface_texts
from docsite.site.for_programs.agent_files import link_header, markdown_response, page_markdown, wants_markdown
from docsite.site.for_programs.conventions import structured_data
from docsite.site.navigation import (
    DEFAULT_LANGUAGE,
    Page,
    all_pages,
    language_or_default,
    moved_pages,
    neighbours,
    pages,
    readable_pages,
)
from docsite.site.nearest_pages import MAX_PAGES as MAX_NEAR
from docsite.site.nearest_pages import find_nearest
from docsite.site.page_context import (
    PATIENCE_SECONDS,
    is_reader,
    language_of,
    last_site_project,
    page_context,
    site_project,
)
from search import missing_pages
from search.hits import Filters
from search.limits import SEARCH_IP
from search.missing_pages import MissingRequest
from search.models import SearchQuery
from search.query_log import recording

if TYPE_CHECKING:
    from collections.abc import Sequence

    from search.hits import Hit

MAX_QUERY_LENGTH = 400
MAX_RESULTS = 20
START_PAGES = ("quickstart", "configuration", "errors-and-limits")


@require_safe
def page(request: HttpRequest, slug: str = "index", language: str = DEFAULT_LANGUAGE) -> HttpResponse:
    """One page as HTML, or as Markdown for clients that prefer it."""
    found = _find_page(slug, language)
    if request.path_info != found.path:
        return HttpResponsePermanentRedirect(found.path)
    response = markdown_response(page_markdown(request, found)) if wants_markdown(request) else _html(request, found)
    return _describe(response, request, found)


@require_safe
def markdown(request: HttpRequest, slug: str, language: str = DEFAULT_LANGUAGE) -> HttpResponse:
    """The Markdown of a page."""
    found = _find_page(slug, language)
    if request.path_info != found.markdown_path:
        return HttpResponsePermanentRedirect(found.markdown_path)
    return _describe(markdown_response(page_markdown(request, found)), request, found)


def _describe(response: HttpResponse, request: HttpRequest, found: Page) -> HttpResponse:
    """Add the headers of a page."""
    response["Link"] = link_header(request, found)
    response["ETag"] = f'"{hashlib.sha256(response.content).hexdigest()[:20]}"'
    patch_vary_headers(response, ["Accept"])
    return response


@require_safe
def redirect_without_slash(request: HttpRequest, slug: str, language: str = DEFAULT_LANGUAGE) -> HttpResponseBase:
    """Redirect an address with a trailing slash to its page."""
    return HttpResponsePermanentRedirect(_find_page(slug, language).path)


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """Search results without JavaScript: `?q=`; `&language=` puts pages in that language first."""
    query = request.GET.get("q", "").strip()[:MAX_QUERY_LENGTH]
    language = language_or_default(request.GET.get("language", ""))
    project = site_project()
    refusal: TooMany | None = None
    try:
        if project and query:
            network = network_of(client_ip(request))
            cpu_time.charge(network)
            ratelimit.spend((SEARCH_IP, network))
            cpu_time.measure(network)
    except TooMany as error:
        refusal = error
    with measure_cpu_time():
        hits = _search_language_first(project, query, language) if project and query and not refusal else []
    if project and not refusal and is_reader(request):
        user_agent = request.headers.get("User-Agent", "")
        recording.record(
            project,
            recording.hash_caller(project, client_ip(request), user_agent),
            query,
            len(hits),
            SearchQuery.CallerKind.WEB,
            Filters(language=language),
            first_score=hits[0].score if hits else None,
        )
    results = [
        {
            "title": hit.breadcrumb[-1],
            "href": hit.link,
            "trail": hit.breadcrumb[:-1],
            "excerpt": _highlight(hit.excerpt, hit.highlights),
        }
        for hit in hits
    ]
    available = readable_pages(language)
    context = {
        "query": query,
        "results": results,
        "ready": project is not None,
        "refusal": interface_texts.translate_refusal(language, refusal) if refusal else "",
        "start": [available[slug] for slug in START_PAGES],
    }
    response = render(
        request, "pages/search.html", page_context(language) | context, status=refusal.status if refusal else 200
    )
    return forms.finish_response(response, refusal) if refusal else response


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404, with pages that resemble the address, or else the first pages."""
    language = language_of(request.path_info)
    near = _find_near(request, language)
    translated = pages(language)
    start = [translated["index"], translated["quickstart"]]
    if request.path_info.endswith(".md") or wants_markdown(request):
        lines = ["# Page not found", "", "The nearest pages:" if near else "Start here:", ""]
        lines += [f"- [{each.title}]({each.markdown_path})" for each in near or start]
        response = markdown_response("\n".join([*lines, "- [Search](/search)"]) + "\n", status=404)
    else:
        query = " ".join(re.findall(r"\w+", request.path_info.removeprefix(f"/{language}/")))[:MAX_QUERY_LENGTH]
        context = page_context(language) | {"near": near, "start": start, "query": query}
        response = render(request, "pages/not_found.html", context, status=404)
    patch_vary_headers(response, ["Accept"])
    return response


def _find_near(request: HttpRequest, language: str) -> list[Page]:
    """The pages that are near to an address: first the one that took its place. The request for it is recorded."""
    near = find_nearest(request.path_info, language)
    project = last_site_project()
    if project is None:
        return near
    path = project.path_of(request.path_info)
    try:
        if request.method == "GET" and not prefetch_purpose(request):
            headers = request.headers
            agent, referrer = headers.get("User-Agent", ""), headers.get("Referer", "")
            missing = MissingRequest(path, timezone.now(), agent, referrer, network_of(client_ip(request)))
            missing_pages.record(project, [missing])
        with limit_database_time(PATIENCE_SECONDS):
            moved = missing_pages.find_replacement(project, path)
    except DatabaseError:  # the pages need no database
        return near
    there = [page for page in all_pages() if page.path == moved]
    return [*there, *(page for page in near if page not in there)][:MAX_NEAR]


def _find_page(slug: str, language: str) -> Page:
    """The page of a slug, or the page that took its place."""
    available = readable_pages(language)
    if slug not in available and (moved := moved_pages().get(f"/{slug}")):
        slug = moved.slug
    if slug not in available:
        raise Http404
    return available[slug]


def _html(request: HttpRequest, found: Page) -> HttpResponse:
    before, after = neighbours(found)
    context: dict[str, Any] = {
        "page": found,
        "menu_parts": additions.render_menu_parts(request, found.reader_language),
        "parts": additions.render_page_parts(request, found.slug) if found.language == DEFAULT_LANGUAGE else [],
        "html": mark_safe(found.rendered.html),  # from our own files, whose HTML is escaped
        "before": before,
        "after": after,
        "structured_data": structured_data(request, found),
    }
    template = "page"
    if found.slug == "gallery":
        template, context["panel"] = "gallery", get_panel_path()
    elif found.slug == "playground":
        template = "playground"
    elif found.slug == "index":
        template = "home"
        context |= home.build_context(found.reader_language)
    return render(request, f"pages/{template}.html", page_context(found.reader_language, found) | context)


def _find(project: Project, query: str, limit: int, language: str = "") -> "list[Hit]":
    from search.retrieval.page_search import find

    return find(project, query, filters=Filters(language=language or None), limit=limit)


def _search_language_first(project: Project, query: str, language: str) -> "list[Hit]":
    """Pages in the language; pages in the default language follow, since few are translated."""
    hits = _find(project, query, MAX_RESULTS, language)
    if language != DEFAULT_LANGUAGE:
        paths = {hit.path for hit in hits}
        hits += [hit for hit in _find(project, query, MAX_RESULTS, DEFAULT_LANGUAGE) if hit.path not in paths]
    return hits[:MAX_RESULTS]


def _highlight(excerpt: str, ranges: "Sequence[tuple[int, int]]") -> SafeString:
    """The excerpt as HTML, with the words that matched marked."""
    starts, ends = [0, *(end for _, end in ranges)], [*(start for start, _ in ranges), len(excerpt)]
    before = [excerpt[start:end] for start, end in zip(starts, ends, strict=True)]
    matches = [format_html("<mark>{}</mark>", excerpt[start:end]) for start, end in ranges]
    return format_html_join("", "{}{}", zip(before, [*matches, ""], strict=True))
