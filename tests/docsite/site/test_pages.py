"""The documentation site: every page, in every form, with links that lead somewhere."""

import functools
import re
from collections.abc import Callable
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin

import pytest
from django.http import HttpResponse
from django.test import Client
from django.urls import resolve
from django.utils.html import escape
from pytest_django import Settings

from docsite.env import list_models
from docsite.setting_types import describe_setting
from docsite.site import home, interface_texts, navigation
from docsite.site.markdown import render
from docsite.site.navigation import Page
from search import sources
from search.indexing.ingest import ingest
from search.sources.markdown.front_matter import split_front_matter
from search.sources.markdown.generators import GENERATORS
from search.text import sections
from tests.conftest import ROOT
from tests.variants import first_of

PAGES = [pytest.param(page, id=page.path) for page in navigation.all_pages()]
ELSEWHERE = {"/openapi.json", "/widget.d.ts", "/admin/"}  # links that leave the pages
NO_LINKS = {"/path", "/install"}  # what fields of the admin show as examples


DATA = ("application/json", "application/ld+json")  # which no browser runs


class Outline(HTMLParser):
    """The ids, links and inline code of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.inline: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        by_name = dict(attributes)
        if by_name.get("id"):
            self.ids.append(str(by_name["id"]))
        if tag == "a" and by_name.get("href"):
            self.links.append(str(by_name["href"]))
        if tag == "style" or "style" in by_name or any(name.startswith("on") for name in by_name):
            self.inline.append(tag)
        if tag == "script" and not by_name.get("src") and by_name.get("type") not in DATA:
            self.inline.append(tag)


def test_every_content_file_is_in_the_navigation() -> None:
    files = {file.relative_to(navigation.CONTENT).as_posix() for file in navigation.CONTENT.rglob("*.md")}
    assert files == {page.markdown_path.strip("/") for page in navigation.all_pages()}


@pytest.fixture(scope="module")
def get_page() -> Callable[[str], HttpResponse]:
    """The page at a path, which is rendered once."""
    return functools.cache(Client().get)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_renders(get_page: Callable[[str], HttpResponse], page: Page) -> None:
    response = get_page(page.path)
    html = response.content.decode()
    outline = Outline(html)
    assert response.status_code == 200
    assert response["Content-Type"] == "text/html; charset=utf-8"
    assert "Accept" in response["Vary"]
    assert html.count("<h1>") == 1
    assert len(outline.ids) == len(set(outline.ids))
    assert outline.inline == []
    assert 'aria-current="page"' in html
    assert "Set-Cookie" not in response


def test_a_page_answers_head_too(client: Client) -> None:
    assert client.head("/quickstart").status_code == client.head("/quickstart.md").status_code == 200


@pytest.mark.parametrize("page", first_of(PAGES, 5))
def test_a_page_is_served_as_markdown_too(client: Client, page: Page) -> None:
    response = client.get(page.markdown_path)
    assert response.status_code == 200
    assert response["Content-Type"] == "text/markdown; charset=utf-8"
    assert response.content.decode().startswith(f"# {page.headline}\n")
    negotiated = client.get(page.path, headers={"Accept": "text/markdown"})
    assert (negotiated["Content-Type"], negotiated.content) == (response["Content-Type"], response.content)
    assert "Accept" in negotiated["Vary"]


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
        ("text/markdown;q=0", "text/html"),
        ("*/*, text/markdown;q=0.1", "text/html"),
        ("text/markdown;q=0.7, text/*;q=0.8", "text/html"),
        ("text/markdown, */*;q=0.1", "text/markdown"),
        ("application/json", "text/html"),
    ],
)
def test_the_accept_header_chooses_the_format(client: Client, accept: str, kind: str) -> None:
    response = client.get("/quickstart", headers={"Accept": accept})
    assert response["Content-Type"].startswith(kind)


def test_other_spellings_redirect_to_the_page(client: Client) -> None:
    assert client.get("/quickstart/", follow=False)["Location"] == "/quickstart"
    assert client.get("/index")["Location"] == "/"
    assert client.get("/de/")["Location"] == client.get("/de/index")["Location"] == "/de"
    assert client.get("/de/quickstart/")["Location"] == "/de/quickstart"
    assert client.get("/de/streaming/")["Location"] == "/de/streaming"
    assert client.post("/quickstart").status_code == 405


@pytest.mark.parametrize(
    ("page", "old"), first_of([(page, old) for page in navigation.all_pages() for old in page.former_paths], 4)
)
def test_the_old_address_of_a_page_redirects(client: Client, page: Page, old: str) -> None:
    assert re.fullmatch(r"(/de)?/[a-z-]+", old)
    assert client.get(old).headers["Location"] == client.get(f"{old}/").headers["Location"] == page.path
    assert client.get(f"{old}.md").headers["Location"] == page.markdown_path
    slug = old.removeprefix("/de").strip("/")
    assert slug not in navigation.pages()
    if page.language == navigation.DEFAULT_LANGUAGE:
        assert client.get(f"/de/{slug}").headers["Location"] == f"/de{page.path}"


@pytest.mark.parametrize("page", first_of(PAGES, 5))
def test_links_of_a_markdown_page_are_whole_addresses_outside_of_code(client: Client, page: Page) -> None:
    link = re.compile(r"\]\(([^)\s]+)\)")
    fence = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
    text = client.get(page.markdown_path).text
    assert fence.findall(text) == fence.findall(page.body)
    first, *links = link.findall(fence.sub("", text))
    assert first == "http://testserver/llms.txt"
    assert links == [
        urljoin("http://testserver", at) if at[0] == "/" else at for at in link.findall(fence.sub("", page.body))
    ]


@pytest.mark.parametrize("page", first_of(PAGES, 5))
def test_anchors_are_those_of_search_hits(page: Page) -> None:
    found = {part.anchor for part in sections.split(page.body)} - {""}
    assert found == {heading.anchor for heading in page.rendered.headings}


@pytest.mark.slow
def test_links_lead_to_pages_and_anchors(get_page: Callable[[str], HttpResponse]) -> None:
    @functools.cache
    def read(path: str) -> Outline:
        response = get_page(path)
        assert response.status_code == 200, path
        return Outline(response.content.decode())

    for page in navigation.all_pages():
        for link in read(page.path).links:
            path, _, anchor = link.partition("#")
            path = path or page.path
            if not path.startswith(("http:", "https:", "mailto:")) and path not in ELSEWHERE:
                assert read(path), link
                assert not anchor or anchor in read(path).ids, f"{link} of {page.path}"


def test_links_of_templates_lead_to_pages_and_anchors() -> None:
    anchors = {
        page.path: {"", *(heading.anchor for heading in page.rendered.headings)} for page in navigation.all_pages()
    }
    moved = {old for page in navigation.all_pages() for old in page.former_paths}
    files = [*(ROOT / "templates").rglob("*.html"), *(ROOT / "docsite/extras").glob("*/templates/**/*.html")]
    for file in [*files, ROOT / "static/site/js/gallery/stories.js"]:
        for path, anchor in re.findall(r"[\"'](/[a-z-]+)(?:#([\w-]+)[\w=~:%-]*)?[\"']", file.read_text()):
            assert path not in moved, f"{path} in {file}"
            if path in anchors:
                assert anchor in anchors[path], f"{path}#{anchor} in {file}"
            elif path not in NO_LINKS:
                assert resolve(path).url_name != "page", f"{path} in {file}"


TRANSLATED = [param for param in PAGES if param.values[0].language != navigation.DEFAULT_LANGUAGE]


@pytest.mark.parametrize("page", TRANSLATED)
def test_a_translation_has_the_same_code_as_the_original(page: Page) -> None:
    code = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
    first = navigation.pages()[page.slug]
    assert code.findall(page.body) == code.findall(first.body)
    assert [heading.level for heading in page.rendered.headings] == [
        heading.level for heading in first.rendered.headings
    ]
    assert (
        split_front_matter((navigation.CONTENT / page.markdown_path.strip("/")).read_text())[0]["language"]
        == page.language
    )


def test_the_navigation_of_a_language_includes_untranslated_pages(client: Client) -> None:
    html = client.get("/de/quickstart").content.decode()
    assert '<a href="/de/quickstart" aria-current="page">' in html
    assert '<a href="/de/streaming" lang="en" hreflang="en">' in html


def test_a_page_without_a_translation_is_shown_in_english_and_says_so(client: Client) -> None:
    response = client.get("/de/streaming")
    html = response.content.decode()
    assert '<html lang="de">' in html
    assert interface_texts.PAGE["de"]["not_translated"] in html
    assert '<article class="page-streaming" lang="en">' in html
    assert '<a href="/de/streaming" aria-current="page" lang="en"' in html
    assert '/streaming>; rel="canonical"' in response["Link"]
    assert "/de/streaming>" not in response["Link"]
    assert client.get("/de/streaming.md").content == client.get("/streaming.md").content
    assert interface_texts.PAGE["en"]["not_translated"] not in client.get("/streaming").content.decode()
    assert client.get("/de/nothing").status_code == 404


def test_about_tells_a_german_reader_who_writes(client: Client, settings: Settings) -> None:
    options = interface_texts.widget_options
    assert "Sprachmodell, und" in options("de", has_model=True)["labels"]["aboutAnswersText"]
    assert "Kein Sprachmodell" in options("de", has_model=False)["labels"]["aboutAnswersText"]
    assert options("en", has_model=False) is None


@pytest.mark.parametrize(("path", "tools"), [("/", "documentation tools"), ("/de", "Werkzeuge")])
def test_the_first_page_shows_the_product_and_three_numbers(client: Client, path: str, tools: str) -> None:
    html = client.get(path).content.decode()
    pictures = re.findall(r'<img class="in-(light|dark)" src="/static/([^"?]+)"', html)
    assert [theme for theme, _ in pictures] == ["light", "dark", "light", "dark"]
    assert all((ROOT / "static" / name).stat().st_size < 100_000 for _, name in pictures)
    numbers = re.findall(r'<li><a href="([^"]+)"><strong>([^<]+)</strong> ([^<]+)<', html)
    assert [value for _, value, _ in numbers] == ["6 KB", "10", "22"]
    assert tools in numbers[1][2]
    assert all(client.get(href).status_code == 200 for href, _, _ in numbers)


def test_the_numbers_of_the_first_page_are_true() -> None:
    build = (ROOT / "static" / "widget" / "build.mjs").read_text()
    assert re.search(rf'bundle\("widget\.js", "[^"]+", "iife", {home.WIDGET_KILOBYTES}, ', build)
    page = navigation.pages()["how-it-works"].body
    listed = re.search(r"forms of words: ([^.]+)\.", page)[1]  # type: ignore[index]
    languages = re.split(r", | and ", listed)
    assert len(languages) == home.LANGUAGES
    rows = re.findall(r"^\| `(\w+)` \|", navigation.pages()["sources"].body, re.MULTILINE)
    assert {"sphinx", *GENERATORS} <= set(rows)
    assert len({"sphinx", *GENERATORS}) == home.TOOLS


def test_all_languages_have_all_texts() -> None:
    templates = "".join(file.read_text() for file in (ROOT / "templates").rglob("*.html"))
    rendered = "".join(file.read_text() for file in (ROOT / "docsite" / "site").glob("*.py"))
    scripts = "".join(file.read_text() for file in (ROOT / "static" / "site" / "js").rglob("*.js"))
    in_pages = {
        *re.findall(r"\bwords\.([a-z_]+)", templates),
        *re.findall(r'interface_texts\.PAGE\[.*?\]\["(\w+)"\]', rendered),
    }
    languages = navigation.LANGUAGES
    assert {code: set(texts) for code, texts in interface_texts.PAGE.items()} == dict.fromkeys(languages, in_pages)
    in_scripts = set(re.findall(r"\b(?:labels|words)\.(\w+)", scripts)) - {"py", "js", "widget"}
    assert {code: set(texts) for code, texts in interface_texts.SCRIPT.items()} == dict.fromkeys(languages, in_scripts)
    blanks = re.compile(r"{\w*}")
    for of in (interface_texts.PAGE, interface_texts.SCRIPT):
        for name, sentence in of["de"].items():
            assert blanks.findall(sentence) == blanks.findall(of["en"][name]), name


def test_the_widget_has_texts_in_every_language() -> None:
    names = ("base/launcher-labels", "base/labels", "menu/words")
    sources = [ROOT / "static" / "widget" / "src" / f"{name}.js" for name in names]
    own = dict(re.findall(r'^  (\w+):\s+"(.+)",$', "".join(file.read_text() for file in sources), re.MULTILINE))
    assert {navigation.DEFAULT_LANGUAGE, *interface_texts.WIDGET} == navigation.LANGUAGES.keys()
    blanks = re.compile(r"{\w+}")
    for language, options in interface_texts.WIDGET.items():
        labels: dict[str, str] = options["labels"]
        assert labels.keys() == own.keys(), language
        for name, label in labels.items():
            assert blanks.findall(label) == blanks.findall(own[name]), (language, name)


def test_each_page_knows_its_languages(client: Client) -> None:
    there = {
        entry["code"]: (entry["href"], entry["current"]) for entry in client.get("/quickstart").context["languages"]
    }
    assert there == {"en": ("/quickstart", True), "de": ("/de/quickstart", False)}
    not_there = client.get("/streaming").context["languages"]
    assert [entry["href"] for entry in not_there] == ["/streaming", "/de/streaming"]
    assert client.get("/de").context["language"] == "de"


def test_search_lists_pages_in_the_language_then_in_the_default_one(
    client: Client, settings: Settings, make_project: Any
) -> None:
    tenant = make_project()
    pages = {"/en": ("en", "Parcels"), "/de": ("de", "Parcels auf Deutsch")}
    ingest(tenant.project, [source(path, *of) for path, of in pages.items()])
    settings.ENV = settings.ENV.model_copy(update={"site_domain": tenant.domain})
    found = {
        language: [result["href"] for result in client.get(f"/search?q=parcels&language={language}").context["results"]]
        for language in ("en", "de", "nosuch")
    }
    assert found == {"en": ["/en"], "de": ["/de", "/en"], "nosuch": ["/en"]}


@pytest.mark.parametrize(("language", "says"), [("en", "Too many requests. Try again in"), ("de", "Das war zu v")])
def test_the_search_page_shares_the_limit_of_the_address(
    client: Client, make_project: Any, settings: Any, language: str, says: str
) -> None:
    tenant = make_project()
    ingest(tenant.project, [source("/en", "en", "Parcels")])
    settings.ENV = settings.ENV.model_copy(update={"site_domain": tenant.domain, "limit_search_ip": "2/d"})
    address = f"203.0.113.{200 + len(language + says)}"
    responses = [client.get(f"/search?q=parcels&language={language}", REMOTE_ADDR=address) for _ in range(3)]
    assert [response.status_code for response in responses] == [200, 200, 429]
    assert responses[2].context["results"] == []
    assert says in responses[2].content.decode()
    assert int(responses[2]["Retry-After"]) > 0
    assert client.get(f"/search?language={language}", REMOTE_ADDR=address).status_code == 200, "the empty form is free"


def source(path: str, language: str, title: str) -> sources.Page:
    return sources.Page(path, path, f"# {title}\n\nParcels.\n", language=language)


def test_the_configuration_page_holds_every_setting() -> None:
    table = re.findall(
        r"^\| `([A-Z_]+)` \| (?:`(.+?)`|empty) \| .{10,} \|$", navigation.pages()["configuration"].body, re.M
    )
    expected = {}
    for name, field in (item for model in list_models() for item in model.model_fields.items()):
        value = "" if field.default is None else field.default
        default = ",".join(value) if isinstance(value, tuple) else str(value)
        default = default.lower() if isinstance(field.default, bool) else default
        expected[name.upper()] = default
        assert describe_setting(name)
    assert dict(table) == expected
    assert len(table) == len(expected)


def test_html_in_content_is_escaped() -> None:
    html = render("A <script>alert(1)</script> and [a link](javascript:alert(1)).\n\n```nosuch\n<b>\n```\n").html
    assert "<script>" not in html
    assert "href" not in html
    assert "&lt;b&gt;" in html


def test_code_names_its_language() -> None:
    html = render('```python\nx = 1\n```\n\n```"><script>\n1\n```\n').html
    assert '<code class="language-python">' in html
    assert '<code class="language-&quot;&gt;&lt;script&gt;">' in html


@pytest.mark.parametrize(
    ("fence", "name"),
    [
        ("py", ""),
        ("py app.py", "app.py"),
        ('py title="My app.py" {1}', "My app.py"),
        ("py {1,2}", ""),
        ('py "><b', '"><b'),
    ],
)
def test_code_shows_its_title(fence: str, name: str) -> None:
    html = render(f"```{fence}\nx = 1\n```\n").html
    assert f'<div class="code-bar"><span>{escape(name or "py")}</span>' in html
    assert (f'data-filename="{escape(name)}"' in html) == bool(name)
    assert '<span class="mi">1</span>\n</code>' in html


def test_a_repeated_heading_gets_a_number() -> None:
    rendered = render("## Use `it`\n\n## Use it\n")
    assert [(heading.text, heading.anchor) for heading in rendered.headings] == [
        ("Use it", "use-it"),
        ("Use it", "use-it-1"),
    ]


@pytest.mark.parametrize(
    ("path", "near"),
    [
        ("/quikstart", ["/quickstart"]),
        ("/docs/quick-start.html", ["/quickstart"]),
        ("/rate-limit", ["/errors-and-limits"]),
        ("/de/quikstart", ["/de/quickstart"]),
        ("/de/streeming", ["/de/streaming"]),
        ("/nope", []),
        ("/a/b/c/", []),
        ("/wp-login.php", []),
        ("/" + "x" * 5000, []),
    ],
)
def test_an_unknown_page_is_404_with_similar_pages(client: Client, path: str, near: list[str]) -> None:
    response = client.get(path)
    html = response.content.decode()
    assert (response.status_code, response["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert "Accept" in response["Vary"]
    paths = [page.path for page in response.context["near"]]
    assert paths[:1] == near
    assert all(f'<li><a href="{each}">' in html for each in paths or [response.context["home"]])
    text = client.get(path.rstrip("/").removesuffix(".html") + ".md")
    assert (text.status_code, text["Content-Type"]) == (404, "text/markdown; charset=utf-8")
    assert "Accept" in text["Vary"]
    assert [name in text.content.decode() for name in ("The nearest pages:", "Start here:")] == [bool(near), not near]


def test_the_widget_needs_project_and_key(client: Client, settings: Settings, make_project: Any) -> None:
    env = settings.ENV.model_copy(update={"site_domain": "nobody", "site_assistant_key": "svc_dsc_x"})
    settings.ENV = env
    assert b"widget.js" not in client.get("/privacy").content
    ours = make_project().domain
    settings.ENV = env = env.model_copy(update={"site_domain": ours})
    tag = f'<script async src="/widget.js" data-domain="{ours}" data-key="svc_dsc_x" data-accent="#0a6b5d"></script>'
    assert tag in client.get("/privacy").content.decode()
    settings.ENV = env.model_copy(update={"site_assistant_key": ""})
    assert b"data-key" not in client.get("/privacy").content
