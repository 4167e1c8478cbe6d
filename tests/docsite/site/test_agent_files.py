"""What the site offers to programs: lists of its pages, and links between them."""

import re
from pathlib import Path

import pytest
from defusedxml import ElementTree
from django.test import Client
from protego import Protego

from docsite.site import navigation
from docsite.site.for_programs import agent_files
from search.sources import registry
from search.sources.markdown.front_matter import split_front_matter
from search.sources.request import SourceRequest

HOST = "http://testserver"
PAGES = navigation.all_pages()
SITEMAP = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9", "x": "http://www.w3.org/1999/xhtml"}


def read(client: Client, path: str, kind: str) -> str:
    response = client.get(path)
    assert (response.status_code, response["Content-Type"]) == (200, kind)
    assert client.head(path).status_code == 200
    return response.content.decode()


def test_llms_txt_lists_the_markdown_of_every_page(client: Client) -> None:
    text = read(client, "/llms.txt", "text/markdown; charset=utf-8")
    assert text.startswith("# Docs Service\n\n> ")
    links = dict(re.findall(r"^- \[(.+?)\]\((.+?)\): .", text, re.MULTILINE))
    assert {page.title: HOST + page.markdown_path for page in PAGES}.items() <= links.items()
    required, optional = text.split("\n## Optional\n")
    assert f"{HOST}/llms-full.txt" in optional
    assert f"{HOST}/quickstart.md" in required
    assert f"{HOST}/de/quickstart.md" in optional


def test_llms_full_txt_holds_every_page_under_its_title_and_address(client: Client) -> None:
    text = read(client, "/llms-full.txt", "text/markdown; charset=utf-8")
    starts = [text.index(f"# {page.headline}\n\nSource: {HOST}{page.path}\n") for page in PAGES]
    assert starts == sorted(starts)
    assert all(agent_files._link_from(f"{HOST}/", page.body) in text for page in PAGES)


@pytest.mark.parametrize("path", ["/llms.txt", "/llms-full.txt"])
def test_a_list_of_pages_may_be_kept_and_is_asked_for_again_by_its_tag(client: Client, path: str) -> None:
    first = client.get(path)
    assert first["Cache-Control"] == "public, max-age=300"
    assert client.get(path, headers={"If-None-Match": first["ETag"]}).status_code == 304
    assert client.get(path, headers={"If-None-Match": '"other"'}).status_code == 200


def test_llms_full_txt_is_ingested_as_the_same_pages(client: Client, tmp_path: Path) -> None:
    file = tmp_path / "llms-full.txt"
    file.write_text(read(client, "/llms-full.txt", "text/markdown; charset=utf-8"))
    items = registry.read(SourceRequest(str(file), HOST))
    assert [item.path for item in items] == [page.path for page in PAGES]


def test_the_sitemap_has_every_page_with_its_translations(client: Client) -> None:
    root = ElementTree.fromstring(read(client, "/sitemap.xml", "application/xml"))
    urls = {
        url.findtext("s:loc", namespaces=SITEMAP): {
            link.get("hreflang"): link.get("href") for link in url.findall("x:link", SITEMAP)
        }
        for url in root
    }
    assert set(urls) == {HOST + page.path for page in PAGES}
    assert urls[f"{HOST}/"] == urls[f"{HOST}/de"] == {"en": f"{HOST}/", "de": f"{HOST}/de"}
    assert urls[f"{HOST}/streaming"] == {}
    assert root.findall(".//s:lastmod", SITEMAP) == []


@pytest.mark.parametrize(
    ("path", "may"),
    [
        ("/", True),
        ("/search-api", True),
        ("/de/quickstart.md", True),
        ("/llms.txt", True),
        ("/search", False),
        ("/search?q=install", False),
        ("/ask", False),
        ("/ask?q=install", False),
        ("/admin/", False),
        ("/support-requests", True),
        ("/support/demo?threadId=thr_x", False),
    ],
)
def test_robots_may_read_all_but_questions_and_searches(client: Client, path: str, may: bool) -> None:
    text = read(client, "/robots.txt", "text/plain; charset=utf-8")
    rules = Protego.parse(text)
    assert rules.can_fetch(HOST + path, "any") is may
    assert list(rules.sitemaps) == [f"{HOST}/sitemap.xml"]


@pytest.mark.parametrize("path", ["/quickstart", "/quickstart.md"])
def test_a_page_links_to_its_other_forms(client: Client, path: str) -> None:
    assert client.get(path)["Link"].split(", ") == [
        f'<{HOST}/quickstart>; rel="canonical"',
        '</quickstart.md>; rel="alternate"; type="text/markdown"',
        f'<{HOST}/quickstart>; rel="alternate"; hreflang="en"',
        f'<{HOST}/de/quickstart>; rel="alternate"; hreflang="de"',
        '</llms.txt>; rel="describedby"; type="text/markdown"',
    ]
    assert "hreflang" not in client.get("/streaming")["Link"]


@pytest.mark.parametrize("path", ["/llms.txt", "/llms-full.txt", "/de", "/de/index.md"])
def test_a_file_that_an_agent_reads_counts_as_a_view(client: Client, path: str) -> None:
    assert client.get(path).resolver_match.view_name == "pages:page"


def test_every_page_has_a_description() -> None:
    for page in PAGES:
        front, _ = split_front_matter((navigation.CONTENT / page.markdown_path.strip("/")).read_text())
        assert set(front) <= {"title", "headline", "description", "keywords", "language", "redirect_from"}, page.path
        assert len(page.description) <= 300, page.path


def test_no_page_of_the_site_may_name_groups(tmp_path: Path) -> None:
    """Search would hide it, and llms.txt, the sitemap and its address would not."""
    file = tmp_path / "secret.md"
    file.write_text("---\ntitle: Secret\ndescription: x\ngroups: [staff]\n---\n\nText.\n")
    with pytest.raises(ValueError, match=r"secret\.md: this site shows every page to everybody"):
        navigation._page(file, "en", "Start")
