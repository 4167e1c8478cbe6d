"""The pages as HTML and as Markdown, the search page, and the page for what is not there."""

import difflib
import logging
import re
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, HttpResponsePermanentRedirect
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

from analytics import agents
from analytics.observe import not_a_reader
from docsite.http.client_ip import client_ip
from docsite.pages.navigation import Page, groups, neighbours, pages
from docsite.projects.auth import project_by_domain
from docsite.projects.models import Project
from search import queries

if TYPE_CHECKING:
    from search.hits import Hit

logger = logging.getLogger(__name__)

SITE_NAME = "Docs Service"
LONGEST_QUERY = 400


@require_safe
def page(request: HttpRequest, slug: str = "index") -> HttpResponse:
    """One page, as Markdown to a client that asks for Markdown."""
    if slug == "index" and request.path != "/":
        return HttpResponsePermanentRedirect("/")
    shown = _known(slug)
    response = _markdown(shown) if _wants_markdown(request) else _html(request, shown)
    response["Link"] = f'<{shown.markdown_path}>; rel="alternate"; type="text/markdown"'
    patch_vary_headers(response, ["Accept"])
    return response


@require_safe
def markdown(request: HttpRequest, slug: str) -> HttpResponse:
    """The Markdown of a page."""
    response = _markdown(_known(slug))
    patch_vary_headers(response, ["Accept"])
    return response


@require_safe
def without_slash(request: HttpRequest, slug: str) -> HttpResponseBase:
    """Lead an address with a trailing slash to its page."""
    return HttpResponsePermanentRedirect(_known(slug).path)


@require_safe
def llms(request: HttpRequest) -> HttpResponse:
    """The site's contents for agents, with links to the Markdown of each page."""
    index = pages()["index"]
    lines = [f"# {SITE_NAME}", "", f"> {index.description}", ""]
    for group, members in groups():
        lines += [f"## {group}", ""]
        lines += [
            f"- [{member.title}]({request.build_absolute_uri(member.markdown_path)}): {member.description}"
            for member in members
        ]
        lines.append("")
    return HttpResponse("\n".join(lines), content_type="text/markdown; charset=utf-8")


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """Search results without JavaScript: `?q=`."""
    query = request.GET.get("q", "").strip()[:LONGEST_QUERY]
    project = _project()
    hits = _find(project, query, 20) if project and query else []
    if project and _is_reader(request):
        user_agent = request.headers.get("User-Agent", "")
        queries.record(project, queries.caller_of(project, client_ip(request), user_agent), query, len(hits))
    results = [
        {
            "title": hit.breadcrumb[-1],
            "href": f"{hit.path}#{hit.anchor}" if hit.anchor else hit.path,
            "trail": hit.breadcrumb[:-1],
            "excerpt": _marked(hit.excerpt, query),
        }
        for hit in hits
    ]
    context = {"query": query, "results": results, "ready": project is not None}
    return render(request, "pages/search.html", _frame() | context)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404, with the pages whose address or text is nearest to what was asked for."""
    near = _nearest(request.path)
    if request.path.endswith(".md") or _wants_markdown(request):
        lines = ["# Page not found", "", "The nearest pages:", ""]
        lines += [f"- [{each.title}]({each.markdown_path})" for each in near]
        return HttpResponse("\n".join(lines) + "\n", status=404, content_type="text/markdown; charset=utf-8")
    words = " ".join(re.findall(r"\w+", request.path))[:LONGEST_QUERY]
    return render(request, "pages/not_found.html", _frame() | {"near": near, "query": words}, status=404)


def _is_reader(request: HttpRequest) -> bool:
    """Whether somebody reads what is answered here: no crawler that follows links, no browser that fetches ahead."""
    verdict = agents.classify(request.headers.get("User-Agent", ""))
    return request.method == "GET" and not not_a_reader(request) and verdict.client_class not in agents.KNOWN_CRAWLERS


def _known(slug: str) -> Page:
    try:
        return pages()[slug]
    except KeyError:
        raise Http404 from None


def _wants_markdown(request: HttpRequest) -> bool:
    """Whether Markdown is asked for by name, and HTML is not preferred to it."""
    named = {str(accepted).split(";")[0]: accepted.quality for accepted in request.accepted_types}
    return "text/markdown" in named and named["text/markdown"] >= named.get("text/html", 0)


def _markdown(shown: Page) -> HttpResponse:
    return HttpResponse(shown.markdown, content_type="text/markdown; charset=utf-8")


def _html(request: HttpRequest, shown: Page) -> HttpResponse:
    before, after = neighbours(shown)
    context = {
        "page": shown,
        "html": mark_safe(shown.rendered.html),  # our own files, and HTML in them is escaped
        "before": before,
        "after": after,
    }
    return render(request, "pages/page.html", _frame() | context)


def _frame() -> dict[str, Any]:
    """What every page shows: its navigation, and the widget where the site's project has a key for it."""
    key = settings.ENV.site_assistant_key
    return {
        "site_name": SITE_NAME,
        "groups": groups(),
        "widget": {"domain": settings.ENV.site_domain, "key": key} if key and _project() else None,
    }


def _project() -> Project | None:
    return project_by_domain(settings.ENV.site_domain)


def _find(project: Project, query: str, limit: int) -> "list[Hit]":
    from search.index import find

    return find(project, query, limit=limit)


def _nearest(path: str) -> list[Page]:
    """Up to five pages: first by address, then by what search finds for the words of the address."""
    known = pages()
    asked = path.strip("/").rsplit("/", 1)[-1].removesuffix(".md").lower()
    near = difflib.get_close_matches(asked, known, n=3, cutoff=0.5)
    try:
        if project := _project():
            found = {each.path: each.slug for each in known.values()}
            hits = _find(project, " ".join(re.findall(r"\w+", path))[:LONGEST_QUERY], 8)
            near += [found[hit.path] for hit in hits if hit.path in found]
    except Exception:  # this page answers for every other failure, so it may not fail itself
        logger.warning("The 404 page could not search.", exc_info=True)
    return [known[slug] for slug in dict.fromkeys([*near, "index", "quickstart"])][:5]


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
