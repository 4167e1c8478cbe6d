"""What sites keep for agents: `llms.txt` with links, and `llms-full.txt` in the shapes that are about."""

import time

import pytest

from search.sources import Draft, ExcludedPage, Page, PageRedirect, UnreadablePage
from search.sources.request import SourceRequest
from search.sources.web import llms, llms_full
from search.sources.web.markdown_page import get_page_address
from tests.search.sources.sites import (
    answer,
    page,
    redirect,
    tagged,
)

DOCS = "https://docs.acme.example/docs"

TITLES = b"""\
Some words before it begins.

# Acme

Parcels in order.

```sh
# no title, but a comment
acme install
```

## A part

# Labels

How to print them.

# Labels

More of them.
"""

MINTLIFY = b"""\
# Quickstart
Source: https://docs.acme.example/docs/quickstart

<Note>Take your time.</Note>

# A second title, which is of the same page

# Labels
Source: https://docs.acme.example/docs/guides/labels.md

Print them.
"""

FRONT = b"""\
---
url: /docs/quickstart.md
description: How to begin
---

# Quickstart

---

A rule is no page: it has no address.

---
title: Labels
source_url:
  html: https://docs.acme.example/docs/guides/labels/
tags:
- print
---

Print them.
"""

PAGES = b"""\
<page>
---
title: Quickstart
source_url:
  html: https://docs.acme.example/docs/quickstart
---

Begin here.
</page>

<page>
# Labels
Source: https://docs.acme.example/docs/guides/labels

Print them.
</page>
"""

DOCUMENTS = b"""\
<project title="Acme">
<docs>
  <doc title="Quick &amp; start" url="https://docs.acme.example/docs/quickstart">Begin here.</doc>
<document index="2">
<source>https://docs.acme.example/docs/guides/labels</source>
<document_content>
# Labels
</document_content>
</document>
</docs></project>
"""


def pages_of(source: bytes, tmp_path, name: str = "llms-full.txt") -> list[Page]:
    file = tmp_path / name
    file.write_bytes(source)
    items = list(llms.read(SourceRequest(str(file), DOCS)))
    assert all(isinstance(item, Draft) for item in items), items
    return [item.build() for item in items]


def test_titles_begin_pages_where_nothing_else_does(tmp_path):
    acme, labels, again = pages_of(TITLES, tmp_path)
    assert [acme.path, labels.path, again.path] == ["/acme", "/labels", "/labels-1"]
    assert acme.title == "Acme"
    assert acme.markdown.startswith("# Acme")
    assert "# no title, but a comment" in acme.markdown
    assert "## A part" in acme.markdown
    assert acme.address == "", "nobody said where it is"


@pytest.mark.parametrize("source", [MINTLIFY, FRONT, PAGES, DOCUMENTS, MINTLIFY.replace(b"\n", b"\r\n")])
def test_pages_have_the_addresses_that_are_written_above_them(source, tmp_path):
    found = pages_of(source, tmp_path)
    assert [item.path for item in found] == ["/quickstart", "/guides/labels"]
    assert found[0].address == f"{DOCS}/quickstart"
    assert found[1].address.rstrip("/") == f"{DOCS}/guides/labels"
    assert not any("Source:" in item.markdown or "url:" in item.markdown for item in found)


def test_what_the_conventions_say_of_a_page_is_kept(tmp_path):
    assert "# A second title" in pages_of(MINTLIFY, tmp_path)[0].markdown
    assert "<Note>" not in pages_of(MINTLIFY, tmp_path)[0].markdown
    first, second = pages_of(FRONT, tmp_path)
    assert first.description == "How to begin"
    assert "A rule is no page" in first.markdown
    assert (second.title, second.tags) == ("Labels", ("print",))
    assert pages_of(PAGES, tmp_path)[0].title == "Quickstart"
    assert pages_of(DOCUMENTS, tmp_path)[0].title == "Quick & start"
    assert pages_of(DOCUMENTS, tmp_path)[1].markdown == "# Labels"


def test_a_draft_changes_with_its_page_only(tmp_path):
    file = tmp_path / "llms-full.txt"

    def digests(source: bytes) -> list[str]:
        file.write_bytes(source)
        return [item.digest for item in llms.read(SourceRequest(str(file), DOCS))]

    before, after = digests(TITLES), digests(TITLES.replace(b"How to", b"How you"))
    assert before == digests(TITLES)
    assert [one == other for one, other in zip(before, after, strict=True)] == [True, False, True]


@pytest.mark.matrix
@pytest.mark.parametrize(
    "source",
    [
        b"# a\n" * 200_000,
        b"<page>\n" * 100_000,
        b"---\na: b\n" * 100_000,
        b"---\n" + b"a:\n - b\n" * 200_000,
        b"```\n" * 300_000,
        b"# " + b"x" * 1_000_000,
        b"<page " + b"a" * 1_000_000,
        b"# a\n\n\n>" * 100_000,
    ],
    ids=range(8),
)
def test_hostile_files_take_time_in_proportion(source):
    start = time.process_time()
    sum(1 for _ in llms_full.split_pages(source))
    assert time.process_time() - start < 8


def test_a_file_of_countless_pages_is_cut_off(tmp_path, monkeypatch):
    monkeypatch.setattr(llms, "MAX_PAGES", 2)
    file = tmp_path / "llms-full.txt"
    file.write_bytes(TITLES)
    items = list(llms.read(SourceRequest(str(file), DOCS)))
    assert [type(item) for item in items] == [Draft, Draft, UnreadablePage]
    assert items[2].reason == "has more than 2 pages; the rest is left out"


def test_a_page_or_a_file_that_is_too_large_is_told(tmp_path, monkeypatch):
    file = tmp_path / "llms-full.txt"
    file.write_bytes(TITLES + b"x" * llms.PAGE.bytes)
    assert [type(item) for item in llms.read(SourceRequest(str(file), DOCS))] == [
        Draft,
        Draft,
        UnreadablePage,
    ]
    file = tmp_path / "llms.txt"
    file.write_bytes(b"x" * (llms.PAGE.bytes + 1))
    with pytest.raises(ValueError, match=r"llms\.txt is larger than 5 MiB"):
        list(llms.read(SourceRequest(str(file), DOCS)))


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("https://x.example/guide.md", "https://x.example/guide"),
        ("https://x.example/guide/index.html.md", "https://x.example/guide/index.html"),
        ("https://x.example/index.md?plain=1", "https://x.example/"),
        ("https://x.example/guide/index", "https://x.example/guide/index"),
        ("https://x.example/guide.html#a", "https://x.example/guide.html"),
    ],
)
def test_where_the_page_of_a_markdown_file_is(address, place):
    assert get_page_address(address) == place


# ---- llms.txt, over HTTP


@pytest.fixture
def site(server):
    entries = (
        "# Acme\n\n> Parcels in order.\n\n## Guides\n\n"
        "- [Guide](/docs/guide.md): how to begin\n"
        f"- [Labels]({server.url}/docs/labels)\n"
        "- [Labels again](/docs/labels.md#part)\n"
        "- [All of it](/llms-full.txt)\n"
        "- [Old](old.md)\n\n"
        "## Optional\n\n- [Code](https://elsewhere.example/acme)\n- [API](./docs/api.md)\n- [Mail](mailto:a@b.c)\n"
    )
    return server.reset(
        {
            "/llms.txt": answer(entries, "text/plain"),
            "/docs/guide.md": tagged("---\ntitle: The guide\n---\n# Guide\n\nBegin here.\n", '"g"', "text/markdown"),
            "/docs/labels": answer(page("Labels")),
            "/docs/api.md": answer("# API\n\n<Card>All of it.</Card>\n", "text/markdown", X_Robots_Tag="noindex"),
            "/old.md": redirect("/docs/guide.md"),
            "/llms-full.txt": answer(MINTLIFY, "text/plain"),
        }
    )


def read(site, location: str = "/llms.txt", **fields):
    fields = {"docs_url": f"{site.url}/docs", "private_hosts": (site.host,), **fields}
    items = list(llms.read(SourceRequest(f"{site.url}{location}", **fields)))
    made = [item.build() for item in items if isinstance(item, Draft)]
    return {item.path: item for item in made}, [item for item in items if not isinstance(item, Draft)]


def test_the_pages_that_a_list_links_to_are_read(site):
    pages, rest = read(site)
    assert {path: item.address for path, item in pages.items()} == {
        "/guide": f"{site.url}/docs/guide",
        "/labels": f"{site.url}/docs/labels",
        "/api": f"{site.url}/docs/api",
    }
    assert pages["/guide"].title == "The guide"
    assert pages["/api"].markdown == "# API\n\nAll of it.\n"
    assert pages["/labels"].title == "Labels"
    assert rest == [
        ExcludedPage("https://elsewhere.example/acme", "is on another site"),
        PageRedirect("/old", "/guide"),
    ]
    assert site.paths.count("/docs/labels.md") == 0, "which is a page that was there already"


def test_a_second_reading_makes_nothing_anew(site):
    pages, _ = read(site)
    validators = {item.address: item.validator for item in pages.values()}
    site.requests.clear()
    again, _ = read(site, previous_validators=validators)
    assert {path: item.digest for path, item in again.items()} == {path: item.digest for path, item in pages.items()}
    assert [r.headers["if-none-match"] for r in site.requests if "if-none-match" in r.headers] == ['"g"']


def test_a_copy_on_disk_is_read_with_the_site_that_it_lists(site, tmp_path):
    file = tmp_path / "llms.txt"
    file.write_text("[Labels](labels)\n[Gone](gone.md)\n[Elsewhere](//localhost/x)")
    items = list(llms.read(SourceRequest(str(file), f"{site.url}/docs/", private_hosts=(site.host,))))
    assert [item.origin for item in items] == [
        "http://localhost/x",
        f"{site.url}/docs/labels",
        f"{site.url}/docs/gone.md",
    ]
    assert items[2] == ExcludedPage(f"{site.url}/docs/gone.md", "answers 404")


def test_a_whole_site_is_read_from_its_address(site):
    pages, rest = read(site, "/llms-full.txt")
    assert (set(pages), rest) == ({"/quickstart", "/guides/labels"}, [])


def test_robots_txt_is_honoured_here_too(site):
    site.routes["/robots.txt"] = answer("User-agent: *\nDisallow: /docs/\n", "text/plain")
    pages, _ = read(site)
    assert pages == {}
    assert set(site.paths) == {"/robots.txt", "/llms.txt", "/old.md", "/docs/guide.md"}, "the last by a redirect"


def test_a_list_that_is_not_there_is_told(site):
    with pytest.raises(ValueError, match="answers 404"):
        read(site, "/guide/llms.txt")


@pytest.mark.parametrize("location", ["/llms.txt", "/llms-full.txt"])
def test_a_page_in_html_is_no_list(site, location):
    site.routes[location] = answer(page("Acme"))
    with pytest.raises(ValueError, match="is a page in HTML, so the site has no such file"):
        read(site, location)


def test_what_there_is_no_time_for_stays_as_it_was(site, monkeypatch):
    pages, _ = read(site)
    validators = {item.address: item.validator for item in pages.values()}
    monkeypatch.setattr(llms, "MAX_SECONDS", -1.0)
    fields = {"docs_url": f"{site.url}/docs", "private_hosts": (site.host,), "previous_validators": validators}
    items = list(llms.read(SourceRequest(f"{site.url}/llms.txt", **fields)))
    assert {item.digest for item in items if isinstance(item, Draft)} == {item.digest for item in pages.values()}
