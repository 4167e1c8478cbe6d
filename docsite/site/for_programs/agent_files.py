"""For programs: `llms.txt`, `sitemap.xml`, `robots.txt`, `push.py`, Markdown of pages, and `Link` headers."""

import re
from collections.abc import Iterable
from functools import partial
from pathlib import Path

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import cache_control
from django.views.decorators.http import conditional_page, require_safe

from docsite.core.base_path import absolute_url
from docsite.site import additions
from docsite.site.navigation import (
    DEFAULT_LANGUAGE,
    Page,
    all_pages,
    groups,
    pages,
    translations,
)
from docsite.site.page_context import SITE_NAME

_PUSH_SCRIPT = (Path(__file__).parent / "push.py").read_bytes()
_MARKDOWN = "text/markdown; charset=utf-8"
ALL_PAGES = ("All pages in one file", "The Markdown of every page")  # what an entry says of llms-full.txt
_CODE_OR_LINK = re.compile(r"^(`{3,}+).*?(?:^\1$|\Z)|`[^`\n]+`|\]\(/", re.MULTILINE | re.DOTALL)


@require_safe
@conditional_page
@cache_control(public=True, max_age=300)
def llms(request: HttpRequest) -> HttpResponse:
    """The site's contents, with links to the Markdown of each page (llmstxt.org)."""
    at = partial(absolute_url, request)
    notes = [
        f"The API is described by an OpenAPI document at {at('/openapi.json')}.",
        *additions.write_notes_for_agents(request),
    ]
    translated = [_entry(request, page) for page in all_pages() if page.language != DEFAULT_LANGUAGE]
    sections = [(group, [_entry(request, member) for member in members]) for group, members in groups()]
    sections += [("Optional", [write_entry(*ALL_PAGES, at("/llms-full.txt")), *translated])]
    return markdown_response(write_list(SITE_NAME, pages()["index"].description, notes, sections))


def _entry(request: HttpRequest, page: Page) -> str:
    return write_entry(page.title, page.description, absolute_url(request, page.markdown_path))


def write_entry(title: str, description: str, url: str) -> str:
    """A line of an llms.txt: a link to the Markdown of a page, and what the page is about, if that is known."""
    return f"- [{title}]({url}): {description}" if description else f"- [{title}]({url})"


def write_list(title: str, summary: str, notes: Iterable[str], sections: Iterable[tuple[str, list[str]]]) -> str:
    """An llms.txt (llmstxt.org). Each section has a heading and its lines."""
    lines = [f"# {title}", "", f"> {summary}", ""]
    for note in notes:
        lines += [note, ""]
    for heading, entries in sections:
        lines += [f"## {heading}", "", *entries, ""]
    return "\n".join(lines)


@require_safe
@conditional_page
@cache_control(public=True, max_age=300)
def llms_full(request: HttpRequest) -> HttpResponse:
    """The Markdown of every page, each with its title and its address."""
    whole = [
        f"# {page.headline}\n\nSource: {absolute_url(request, page.path)}\n\n{page.description}\n\n{page.body}"
        for page in all_pages()
    ]
    return markdown_response(_link_from(absolute_url(request, "/"), "\n".join(whole)))


@require_safe
def sitemap(request: HttpRequest) -> HttpResponse:
    """Every page with its translations (sitemaps.org). Without dates: a checkout changes those of files."""
    urls = [
        {
            "at": absolute_url(request, page.path),
            "alternates": [
                {"language": each.language, "at": absolute_url(request, each.path)}
                for each in _if_translated(translations(page))
            ],
        }
        for page in all_pages()
    ]
    return render(request, "pages/sitemap.xml", {"urls": urls}, content_type="application/xml")


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """Crawlers may read everything but the admin, questions, searches and support forms (RFC 9309)."""
    context = {"sitemap": absolute_url(request, "/sitemap.xml")}
    return render(request, "pages/robots.txt", context, content_type="text/plain; charset=utf-8")


@require_safe
def push_script(request: HttpRequest) -> HttpResponse:
    """The program that a CI job runs to push documentation."""
    return HttpResponse(_PUSH_SCRIPT, content_type="text/x-python; charset=utf-8")


def link_header(request: HttpRequest, page: Page) -> str:
    """The `Link` header of a page: its address, its Markdown, its translations, and the list of all pages."""
    at = partial(absolute_url, request)
    others = [
        f'<{at(each.path)}>; rel="alternate"; hreflang="{each.language}"' for each in _if_translated(translations(page))
    ]
    return ", ".join(
        [
            f'<{at(page.original.path)}>; rel="canonical"',
            f'<{page.markdown_path}>; rel="alternate"; type="text/markdown"',
            *others,
            '</llms.txt>; rel="describedby"; type="text/markdown"',
        ]
    )


def _if_translated(versions: list[Page]) -> list[Page]:
    return versions if len(versions) > 1 else []


def wants_markdown(request: HttpRequest) -> bool:
    """Whether the request accepts Markdown by name, and prefers it to HTML or likes both the same."""
    named = {str(accepted).split(";")[0]: accepted.quality for accepted in request.accepted_types}
    markdown = named.get("text/markdown", 0)
    html = next((named[kind] for kind in ("text/html", "text/*", "*/*") if kind in named), 0)
    return markdown > 0 and markdown >= html


def page_markdown(request: HttpRequest, page: Page) -> str:
    """A page as one Markdown document, for readers who do not know its address: links are whole addresses."""
    at = absolute_url(request, "/")
    return write_page(page.headline, page.description, f"{at}llms.txt", _link_from(at, page.body))


def write_page(title: str, description: str, list_url: str, body: str) -> str:
    """The Markdown of a page, with a link to the list of all pages near its beginning."""
    parts = [f"# {title}", description, f"> All pages: [llms.txt]({list_url})", body]
    return "\n\n".join(part for part in parts if part)


def _link_from(root: str, markdown: str) -> str:
    """Markdown whose links to paths of this site begin with its address, except in code."""
    return _CODE_OR_LINK.sub(lambda found: found[0] if found[0][0] == "`" else f"]({root}", markdown)


def markdown_response(text: str, status: int = 200) -> HttpResponse:
    """A response with Markdown."""
    return HttpResponse(text, status=status, content_type=_MARKDOWN)
