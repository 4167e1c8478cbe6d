"""What browsers, search engines, feed readers and security researchers look for."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from defusedxml import ElementTree
from django.conf import settings
from django.test import Client

from docsite.site import navigation
from docsite.site.for_programs import conventions

HOST = "http://testserver"
ATOM = {"a": "http://www.w3.org/2005/Atom"}


def test_browsers_may_add_the_search(client: Client) -> None:
    """Each page names the description, whose template leads to results."""
    link = re.search(r'<link rel="search" [^>]*href="([^"]+)"', client.get("/quickstart").content.decode())
    assert link
    response = client.get(link[1])
    assert response["Content-Type"].startswith("application/opensearchdescription+xml")
    url = ElementTree.fromstring(response.content).find("{http://a9.com/-/spec/opensearch/1.1/}Url")
    template = url.get("template")
    assert template == HOST + "/search?q={searchTerms}"
    assert client.get(template.removeprefix(HOST).replace("{searchTerms}", "install")).context["query"] == "install"


def test_security_txt_names_the_operators_contact(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """It expires in less than a year. Without a contact there is no such file."""
    assert client.get("/.well-known/security.txt").status_code == 404
    monkeypatch.setattr(settings.ENV, "security_contact", "mailto:security@acme.example")
    response = client.get("/.well-known/security.txt")
    assert response["Content-Type"] == "text/plain; charset=utf-8"
    fields = dict(line.split(": ", 1) for line in response.content.decode().splitlines())
    assert fields["Contact"] == "mailto:security@acme.example"
    assert fields["Canonical"] == f"{HOST}/.well-known/security.txt"
    left = datetime.fromisoformat(fields["Expires"]) - datetime.now(UTC)
    assert timedelta(days=100) < left < timedelta(days=365)
    assert client.get(fields["Policy"].removeprefix(HOST)).status_code == 200


CHANGELOG = """# Changelog

## 0.3.0, not released yet

- Nothing that a feed should tell.

## 0.2.0, 2026-12-01

- **Better**: `more` & more.

## 0.1.0, 2026-11-30

The first one.
"""


def test_the_feed_has_released_versions(client: Client, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Each with its text as HTML. What is not released is not news yet."""
    file = tmp_path / "CHANGELOG.md"
    file.write_text(CHANGELOG)
    monkeypatch.setattr(conventions, "CHANGELOG", file)
    response = client.get("/changelog.atom")
    assert response["Content-Type"].startswith("application/atom+xml")
    feed = ElementTree.fromstring(response.content)
    entries = {
        entry.findtext("a:title", namespaces=ATOM): entry.findtext("a:summary", namespaces=ATOM)
        for entry in feed.findall("a:entry", ATOM)
    }
    assert list(entries) == ["0.2.0", "0.1.0"]
    assert "<strong>Better</strong>: <code>more</code> &amp; more." in entries["0.2.0"]
    assert feed.findtext("a:entry/a:updated", namespaces=ATOM) == "2026-12-01T00:00:00+00:00"


def read_data(client: Client, path: str) -> dict[str, Any]:
    """The structured data of a page."""
    text = client.get(path).content.decode()
    found = re.findall(r'<script type="application/ld\+json">(.*?)</script>', text)
    assert len(found) == 1, path
    data: dict[str, Any] = json.loads(found[0])
    return data


@pytest.mark.matrix
def test_search_engines_read_what_a_page_is(client: Client) -> None:
    """The first page is the site with its search; others are articles of it, in their language."""
    site = read_data(client, "/")
    assert (site["@context"], site["@type"]) == ("https://schema.org", "WebSite")
    assert site["potentialAction"]["target"]["urlTemplate"] == HOST + "/search?q={search_term_string}"
    for page in navigation.all_pages():
        if page.path != "/":
            article = read_data(client, page.path)
            assert article["headline"] == page.headline
            assert (article["url"], article["inLanguage"]) == (HOST + page.path, page.language)
            assert [item["item"] for item in article["breadcrumb"]["itemListElement"]][-1] == HOST + page.path
