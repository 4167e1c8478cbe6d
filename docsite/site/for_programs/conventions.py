"""What browsers, search engines, feed readers and security researchers look for at well-known places."""

import re
from datetime import UTC, datetime
from functools import partial
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.feedgenerator import Atom1Feed
from django.utils.html import json_script
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

from docsite.core.base_path import absolute_url
from docsite.core.http.dates import begin_day
from docsite.site.markdown import render as render_markdown
from docsite.site.navigation import CHANGELOG, Page, home_page, pages
from docsite.site.page_context import SITE_NAME

SECURITY_DAYS = 180  # that security.txt is valid from today; the standard recommends less than a year

# A heading of a released version, such as `## 1.2.0, 2026-11-23`, and the text below it.
_RELEASE = re.compile(r"^## (\S+), (\d{4}-\d{2}-\d{2})$\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)


@require_safe
def opensearch(request: HttpRequest) -> HttpResponse:
    """Our search, for browsers that add it to theirs (OpenSearch 1.1)."""
    context = {"name": SITE_NAME, "address": absolute_url(request, "/search")}
    kind = "application/opensearchdescription+xml; charset=utf-8"
    return render(request, "pages/opensearch.xml", context, content_type=kind)


@require_safe
def security_txt(request: HttpRequest) -> HttpResponse:
    """Where to report a vulnerability of this service (RFC 9116). 404 if the operator has named no contact."""
    if not settings.ENV.security_contact:
        raise Http404
    expires = begin_day(timezone.now(), SECURITY_DAYS, UTC)
    lines = [
        f"Contact: {settings.ENV.security_contact}",
        f"Expires: {expires:%Y-%m-%dT%H:%M:%SZ}",
        f"Canonical: {absolute_url(request, '/.well-known/security.txt')}",
        f"Policy: {absolute_url(request, '/security')}",
        "Preferred-Languages: en",
    ]
    return HttpResponse("\n".join([*lines, ""]), content_type="text/plain; charset=utf-8")


@require_safe
def changelog_feed(request: HttpRequest) -> HttpResponse:
    """The released versions (Atom, RFC 4287), each with its section of the changelog."""
    at = partial(absolute_url, request)
    feed = Atom1Feed(f"{SITE_NAME}: releases", at("/changelog"), None, feed_url=at("/changelog.atom"))
    for version, day, text in _RELEASE.findall(CHANGELOG.read_text(encoding="utf-8")):
        released = datetime.fromisoformat(day).replace(tzinfo=UTC)
        link = at("/changelog") + f"#{version}"
        content = render_markdown(text, "").html
        feed.add_item(version, link, content, unique_id=link, pubdate=released, updateddate=released)
    return HttpResponse(feed.writeString("utf-8"), content_type="application/atom+xml; charset=utf-8")


def structured_data(request: HttpRequest, page: Page) -> SafeString:
    """What a page is, for search engines: schema.org terms as JSON-LD in a `script` element, which no browser runs."""
    at = partial(absolute_url, request)
    home = home_page(page.language)
    site: dict[str, Any] = {"@type": "WebSite", "name": SITE_NAME, "url": at(home.path)}
    if page == pages()["index"]:
        target = {"@type": "EntryPoint", "urlTemplate": at("/search") + "?q={search_term_string}"}
        action = {"@type": "SearchAction", "target": target, "query-input": "required name=search_term_string"}
        return _to_script({**site, "description": page.description, "potentialAction": action})
    trail = [(home.title, home.path), (page.title, page.path)]
    return _to_script(
        {
            "@type": "TechArticle",
            "headline": page.headline,
            "description": page.description,
            "inLanguage": page.language,
            "url": at(page.path),
            "articleSection": page.group,
            "isPartOf": site,
            "breadcrumb": {
                "@type": "BreadcrumbList",
                "itemListElement": [
                    {"@type": "ListItem", "position": position, "name": name, "item": at(path)}
                    for position, (name, path) in enumerate(trail, 1)
                ],
            },
        }
    )


def _to_script(data: dict[str, Any]) -> SafeString:
    text = json_script({"@context": "https://schema.org", **data})
    return mark_safe(text.replace('"application/json"', '"application/ld+json"', 1))
