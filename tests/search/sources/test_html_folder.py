"""A folder of built HTML: which files are pages, and at which addresses they are."""

import os

import pytest

from search.sources import Draft, ExcludedPage, Page, PageRedirect, UnreadablePage
from search.sources.html.folder import read, recognizes
from search.sources.request import SourceRequest
from tests.drafts import build_drafts

REFRESH = '<meta http-equiv="refresh" content="0; url={}"><a href="{}">moved</a>'


@pytest.fixture
def site(tmp_path):
    root = tmp_path / "site"

    def write(name, body, folder=root):
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(body if isinstance(body, bytes) else body.encode())
        return file

    root.mkdir()
    write.root = root
    return write


def items(site, docs_url="https://example.com/docs", path_prefix=""):
    return list(read(SourceRequest(str(site.root), docs_url, path_prefix=path_prefix)))


def page(site, **request):
    (found,) = build_drafts(items(site, **request))
    return found


@pytest.mark.parametrize(
    ("name", "path", "address"),
    [
        ("index.html", "/", ""),
        ("install.html", "/install", "install.html"),
        ("guide/index.html", "/guide", "guide/"),
        ("guide/a b.HTM", "/guide/a b", "guide/a%20b.HTM"),
    ],
)
def test_a_file_is_a_page_at_the_address_where_a_server_shows_it(site, name, path, address):
    site(name, "<h1>Name</h1><p>Text.")
    found = page(site)
    assert isinstance(found, Page)
    assert (found.origin, found.path, found.address, found.title) == (name, path, address, "Name")


@pytest.mark.parametrize(
    ("canonical", "address"),
    [
        ("https://example.com/docs/guide/a", "guide/a"),
        ("https://example.com/docs/guide/a/", "guide/a/"),
        ("https://www.example.com/docs/guide/a", "guide/a"),
        ("https://example.com/docs/guide/b", "guide/a.html"),
        ("", "guide/a.html"),
    ],
)
def test_a_page_knows_its_address_best(site, canonical, address):
    site("guide/a.html", f"<link rel=canonical href='{canonical}'><h1>Name</h1><p>Text.")
    assert (page(site).path, page(site).address) == ("/guide/a", address)


def test_links_lead_to_where_the_site_is(site):
    site("guide/index.html", "<h1>Name</h1><p><a href='../install.html#x'>a</a> <a href='b/'>b</a>")
    assert "[a](https://example.com/docs/install.html#x) [b](https://example.com/docs/guide/b/)" in page(site).markdown
    assert "[a](https://example.com/docs/v2/install.html#x)" in page(site, path_prefix="v2").markdown


@pytest.mark.parametrize(
    "name",
    [
        "search.html",
        "genindex.html",
        "py-modindex.html",
        "404.html",
        "_modules/a.html",
        "_static/a.html",
        ".git/a.html",
    ],
)
def test_what_generators_add_is_no_page(site, name):
    site(name, "<h1>Name</h1>")
    assert items(site) == []


def test_a_redirect_is_no_page(site):
    site("old.html", REFRESH.format("guide/new.html", "guide/new.html"))
    site("moved/index.html", REFRESH.format("https://example.com/docs/v2/x/", "x"))
    site("away.html", REFRESH.format("https://other.example/", "x"))
    assert items(site) == [
        ExcludedPage("away.html", "redirects to another site"),
        PageRedirect("/moved", "/v2/x"),
        PageRedirect("/old", "/guide/new"),
    ]
    assert items(site, path_prefix="v2")[1:] == [PageRedirect("/moved", "/x"), PageRedirect("/old", "/guide/new")]


def test_a_page_that_asks_for_it_is_left_out(site):
    site("a.html", "<meta name=robots content=noindex><p>Text.")
    assert page(site) == ExcludedPage("a.html", "says noindex")


def test_what_cannot_be_read_is_told(site, tmp_path):
    site("empty.html", "<nav>x</nav>")
    site("large.html", b"x" * (5 * 1024 * 1024 + 1))
    secret = site("secret.html", "<p>Secret.", folder=tmp_path)
    (site.root / "link.html").symlink_to(secret)
    site("private/a.html", "<p>Secret.", folder=tmp_path)
    (site.root / "folder").symlink_to(tmp_path / "private")
    site(os.fsdecode(b"caf\xe9.html"), "<p>Text.")
    assert list(build_drafts(items(site))) == [
        UnreadablePage("caf\udce9.html", "has a name that is not UTF-8"),
        UnreadablePage("empty.html", "has no text", "/empty"),
        UnreadablePage("large.html", "is larger than 5 MiB", "/large"),
        UnreadablePage("link.html", "lies outside the source folder", "/link"),
    ]


def test_the_digest_is_of_all_that_makes_the_page(site):
    def digest(**request):
        (draft,) = items(site, **request)
        assert isinstance(draft, Draft)
        return draft.digest

    site("a.html", "<p>One.")
    first = digest()
    assert digest() == first
    assert len({first, digest(docs_url="https://example.com/other"), digest(path_prefix="v2")}) == 3
    site("a.html", "<p>Two.")
    assert digest() != first


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["index.html"], True),
        (["a/b.htm", "_sources/a.rst", ".cache/a.md"], True),
        (["index.html", "guide/a.md"], False),
        (["index.html", "index.md", "guide/a.html", "guide/a.md", "b/index.html", "b.md"], True),
        (["index.html", "index.md", "guide/a.html", "guide/a.md", "b.md"], False),
        (["index.html", "a.rst"], False),
        (["a.txt"], False),
        ([], False),
    ],
)
def test_a_built_site_is_html_and_no_sources(site, names, expected):
    for name in names:
        site(name, "x")
    assert recognizes(SourceRequest(str(site.root), "")) == expected


def test_what_no_reader_sees_is_not_walked_through(site, monkeypatch):
    for folder in (".git", "node_modules", "_static"):
        site(f"{folder}/deep/a.html", "x")
    site("guide/a.html", "x")
    walked = []
    scan = os.scandir
    monkeypatch.setattr(os, "scandir", lambda place: walked.append(place) or scan(place))
    assert recognizes(SourceRequest(str(site.root), ""))
    assert len(walked) == 2
