"""The pages as HTML or Markdown, the search page, and the page for what is not there."""

import re
from typing import TYPE_CHECKING

from django.http import Http404, HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

from analytics import agents
from analytics.collecting.requests import not_a_reader
from assistant.widget.files import panel_path
from docsite.core.http.client_address import client_ip
from docsite.core.tenants.models import Project
from docsite.site.agent_files import links, markdown_response, wants_markdown
from docsite.site.frame import frame, language_of, site_project
from docsite.site.navigation import (
    FIRST,
    Page,
    known_language,
    neighbours,
    pages,
)
from docsite.site.nearest_pages import nearest
from search.hits import Filters
from search.query_log import recording

if TYPE_CHECKING:
    from search.hits import Hit

LONGEST_QUERY = 400
MOST_RESULTS = 20
WHERE_TO_START = ("quickstart", "configuration", "errors-and-limits")


@require_safe
def page(request: HttpRequest, slug: str = "index", language: str = FIRST) -> HttpResponse:
    """One page, as Markdown to a client that asks for Markdown."""
    shown = _known(slug, language)
    if request.path_info != shown.path:
        return HttpResponsePermanentRedirect(shown.path)
    response = markdown_response(shown.markdown) if wants_markdown(request) else _html(request, shown)
    response["Link"] = links(request, shown)
    patch_vary_headers(response, ["Accept"])
    return response


@require_safe
def markdown(request: HttpRequest, slug: str, language: str = FIRST) -> HttpResponse:
    """The Markdown of a page."""
    shown = _known(slug, language)
    response = markdown_response(shown.markdown)
    response["Link"] = links(request, shown)
    patch_vary_headers(response, ["Accept"])
    return response


@require_safe
def without_slash(request: HttpRequest, slug: str, language: str = FIRST) -> HttpResponseBase:
    """Lead an address with a trailing slash to its page."""
    return HttpResponsePermanentRedirect(_known(slug, language).path)


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """Search results without JavaScript: `?q=`, and `&language=` to have pages in that language first."""
    query = request.GET.get("q", "").strip()[:LONGEST_QUERY]
    language = known_language(request.GET.get("language", ""))
    project = site_project()
    hits = _language_first(project, query, language) if project and query else []
    if project and _is_reader(request):
        user_agent = request.headers.get("User-Agent", "")
        recording.record(project, recording.hash_caller(project, client_ip(request), user_agent), query, len(hits))
    results = [
        {
            "title": hit.breadcrumb[-1],
            "href": hit.link,
            "trail": hit.breadcrumb[:-1],
            "excerpt": _marked(hit.excerpt, query),
        }
        for hit in hits
    ]
    known = {**pages(), **pages(language)}
    context = {
        "query": query,
        "results": results,
        "ready": project is not None,
        "start": [known[slug] for slug in WHERE_TO_START],
    }
    return render(request, "pages/search.html", frame(language) | context)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404, with the pages that are near what was asked for, or else where to start."""
    language = language_of(request.path)
    near = nearest(request.path, language)
    known = pages(language)
    start = [known["index"], known["quickstart"]]
    if request.path.endswith(".md") or wants_markdown(request):
        lines = ["# Page not found", "", "The nearest pages:" if near else "Start here:", ""]
        lines += [f"- [{each.title}]({each.markdown_path})" for each in near or start]
        response = markdown_response("\n".join([*lines, "- [Search](/search)"]) + "\n", status=404)
    else:
        query = " ".join(re.findall(r"\w+", request.path.removeprefix(f"/{language}/")))[:LONGEST_QUERY]
        context = frame(language) | {"near": near, "start": start, "query": query}
        response = render(request, "pages/not_found.html", context, status=404)
    patch_vary_headers(response, ["Accept"])
    return response


def _is_reader(request: HttpRequest) -> bool:
    """Whether somebody reads what is answered here: no crawler that follows links, no browser that fetches ahead."""
    verdict = agents.classify(request.headers.get("User-Agent", ""))
    return request.method == "GET" and not not_a_reader(request) and verdict.client_class not in agents.KNOWN_CRAWLERS


def _known(slug: str, language: str) -> Page:
    try:
        return pages(language)[slug]
    except KeyError:
        raise Http404 from None


def _html(request: HttpRequest, shown: Page) -> HttpResponse:
    before, after = neighbours(shown)
    context = {
        "page": shown,
        "html": mark_safe(shown.rendered.html),  # our own files, and HTML in them is escaped
        "before": before,
        "after": after,
    }
    template = "page"
    if shown.slug == "gallery":
        template, context["panel"] = "gallery", panel_path()
    elif shown.slug == "playground":
        template = "playground"
    return render(request, f"pages/{template}.html", frame(shown.language, shown) | context)


def _find(project: Project, query: str, limit: int, language: str = "") -> "list[Hit]":
    from search.retrieval.index import find

    return find(project, query, filters=Filters(language=language or None), limit=limit)


def _language_first(project: Project, query: str, language: str) -> "list[Hit]":
    """Pages of the language; where few are translated, what else there is follows."""
    hits = _find(project, query, MOST_RESULTS, language)
    if language != FIRST:
        known = {hit.path for hit in hits}
        hits += [hit for hit in _find(project, query, MOST_RESULTS, FIRST) if hit.path not in known]
    return hits[:MOST_RESULTS]


def _marked(excerpt: str, query: str) -> SafeString:
    """The excerpt as HTML, with the words that begin like a word of the query marked."""
    words = sorted((re.escape(word) for word in re.findall(r"\w{2,}", query)), key=len, reverse=True)
    if not words:
        return format_html("{}", excerpt)
    pieces = re.split(rf"\b((?:{'|'.join(words)})\w*)", excerpt, flags=re.IGNORECASE)
    return format_html_join(
        "",
        "{}{}",
        (
            (piece, format_html("<mark>{}</mark>", match) if match else "")
            for piece, match in zip(pieces[::2], [*pieces[1::2], ""], strict=True)
        ),
    )
