"""The documentation site: every page, in every form, with links that lead somewhere."""

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from django.test import Client
from pytest_django import Settings

from docsite.env import Env
from docsite.pages import navigation
from docsite.pages.markdown import render
from search import sections

SLUGS = list(navigation.pages())
CONTENT = {slug: page.body for slug, page in navigation.pages().items()}
ELSEWHERE = {"/openapi.json", "/llms.txt", "/admin/"}  # links that leave the pages


class Outline(HTMLParser):
    """The ids, links and inline code of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.inline: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        if given.get("id"):
            self.ids.append(str(given["id"]))
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        if tag == "style" or "style" in given or any(name.startswith("on") for name in given):
            self.inline.append(tag)
        if tag == "script" and not given.get("src"):
            self.inline.append(tag)


def path_of(slug: str) -> str:
    return navigation.pages()[slug].path


def test_every_content_file_is_in_the_navigation() -> None:
    assert {file.stem for file in navigation.CONTENT.glob("*.md")} == set(SLUGS)


@pytest.mark.parametrize("slug", SLUGS)
def test_a_page_renders(client: Client, slug: str) -> None:
    page = navigation.pages()[slug]
    response = client.get(page.path)
    html = response.content.decode()
    outline = Outline(html)
    assert response.status_code == 200
    assert response["Content-Type"] == "text/html; charset=utf-8"
    assert response["Link"] == f'</{slug}.md>; rel="alternate"; type="text/markdown"'
    assert "Accept" in response["Vary"]
    assert html.count("<h1>") == 1
    assert len(outline.ids) == len(set(outline.ids))
    assert outline.inline == []
    assert 'aria-current="page"' in html
    assert "Set-Cookie" not in response
    assert client.head(page.path).status_code == 200


@pytest.mark.parametrize("slug", SLUGS)
def test_a_page_is_markdown_too(client: Client, slug: str) -> None:
    page = navigation.pages()[slug]
    response = client.get(f"/{slug}.md")
    assert response.status_code == 200
    assert response["Content-Type"] == "text/markdown; charset=utf-8"
    assert response.content.decode().startswith(f"# {page.headline}\n")
    asked = client.get(page.path, headers={"Accept": "text/markdown"})
    assert (asked["Content-Type"], asked.content) == (response["Content-Type"], response.content)
    assert "Accept" in asked["Vary"]
    assert client.head(f"/{slug}.md").status_code == 200


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        ("text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", "text/html"),
        ("*/*", "text/html"),
        ("text/*", "text/html"),
        ("text/markdown", "text/markdown"),
        ("text/markdown, text/html, */*", "text/markdown"),
        ("text/markdown, text/html;q=0.9", "text/markdown"),
        ("text/html, text/markdown;q=0.5", "text/html"),
        ("text/markdown;q=0, text/html", "text/html"),
        ("application/json", "text/html"),
    ],
)
def test_accept_decides(client: Client, accept: str, kind: str) -> None:
    response = client.get("/quickstart", headers={"Accept": accept})
    assert response["Content-Type"].startswith(kind)


def test_other_spellings_lead_to_the_page(client: Client) -> None:
    assert client.get("/quickstart/", follow=False)["Location"] == "/quickstart"
    assert client.get("/index")["Location"] == "/"
    assert client.post("/quickstart").status_code == 405


def test_llms_txt_lists_every_page(client: Client) -> None:
    response = client.get("/llms.txt")
    assert response["Content-Type"] == "text/markdown; charset=utf-8"
    for page in navigation.pages().values():
        assert f"[{page.title}](http://testserver{page.markdown_path})" in response.content.decode()


def test_anchors_are_those_of_search_hits() -> None:
    for body in CONTENT.values():
        found = {part.anchor for part in sections.split(body)} - {""}
        assert found == {heading.anchor for heading in render(body).headings}


@pytest.mark.parametrize("slug", SLUGS)
def test_links_lead_to_pages_and_anchors(client: Client, slug: str) -> None:
    ids: dict[str, list[str]] = {}
    for link in Outline(client.get(path_of(slug)).content.decode()).links:
        path, _, anchor = link.partition("#")
        path = path or path_of(slug)
        if path.startswith(("http:", "https:", "mailto:")) or path in ELSEWHERE:
            continue
        if path not in ids:
            response = client.get(path)
            assert response.status_code == 200, link
            ids[path] = Outline(response.content.decode()).ids
        assert not anchor or anchor in ids[path], link


def test_the_configuration_page_holds_every_setting() -> None:
    rows = dict(re.findall(r"^\| `([A-Z_]+)` \| (.+) \|$", CONTENT["configuration"], re.MULTILINE))
    expected = {}
    for name, field in Env.model_fields.items():
        default = ",".join(field.default) if isinstance(field.default, tuple) else str(field.default)
        default = default.lower() if isinstance(field.default, bool) else default
        expected[name.upper()] = f"{f'`{default}`' if default else 'empty'} | {field.description}"
    assert rows == expected


def test_html_in_content_is_shown_not_used() -> None:
    html = render("A <script>alert(1)</script> and [a link](javascript:alert(1)).\n\n```nosuch\n<b>\n```\n").html
    assert "<script>" not in html
    assert "href" not in html
    assert "&lt;b&gt;" in html


def test_a_repeated_heading_gets_a_number() -> None:
    rendered = render("## Use `it`\n\n## Use it\n")
    assert [(heading.text, heading.anchor) for heading in rendered.headings] == [
        ("Use it", "use-it"),
        ("Use it", "use-it-1"),
    ]


def test_an_unknown_page_is_404_with_near_pages(client: Client) -> None:
    response = client.get("/quikstart")
    html = response.content.decode()
    assert response.status_code == 404
    assert response["Content-Type"].startswith("text/html")
    assert '<a href="/quickstart">' in html[html.index("The nearest pages") :]
    assert client.get("/a/b/c/").status_code == 404
    assert client.get("/nosuch/").status_code == 404


def test_404_answers_markdown_to_agents(client: Client) -> None:
    response = client.get("/quikstart.md")
    assert response.status_code == 404
    assert response["Content-Type"] == "text/markdown; charset=utf-8"
    assert "(/quickstart.md)" in response.content.decode()


def test_404_answers_when_search_fails(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*args: object, **options: object) -> None:
        raise RuntimeError

    monkeypatch.setattr("docsite.pages.views._project", fail)
    monkeypatch.setattr("docsite.pages.views._find", fail)
    assert client.get("/quikstart").status_code == 404


def test_the_widget_needs_project_and_key(client: Client, settings: Settings, make_project: Any) -> None:
    env = settings.ENV.model_copy(update={"site_domain": "nobody", "site_assistant_key": "svc_dsc_x"})
    settings.ENV = env
    assert b"widget.js" not in client.get("/privacy").content
    ours = make_project().domain
    settings.ENV = env = env.model_copy(update={"site_domain": ours})
    tag = f'<script async src="/widget.js" data-domain="{ours}" data-key="svc_dsc_x"></script>'
    assert tag in client.get("/privacy").content.decode()
    settings.ENV = env.model_copy(update={"site_assistant_key": ""})
    assert b"data-key" not in client.get("/privacy").content
