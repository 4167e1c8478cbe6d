"""Sites read over HTTP: an ordinary one, in all its states, and those that mean no good."""

import gzip
from dataclasses import replace

import pytest

from search.indexing.ingest import ingest
from search.models import Document, Redirect
from search.sources import Draft, ExcludedPage, Page, PageRedirect, UnreadablePage, registry
from search.sources.request import SourceRequest
from search.sources.web import crawl
from tests.search.sources.sites import (
    answer,
    page,
    redirect,
    sitemap,
    tagged,
)

ENTITIES = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
LAUGHS = f'<!DOCTYPE x [<!ENTITY l0 "lol">{ENTITIES}]><urlset><url><loc>&l9;</loc></url></urlset>'
STEALING = '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]><urlset><url><loc>&f;</loc></url></urlset>'


@pytest.fixture
def site(server):
    """Four pages that link to each other, with ETags."""
    return server.reset(
        {
            "/docs/": tagged(page("Home", "guide", "api.html", "../blog/", "https://elsewhere.example/")),
            "/docs/guide": tagged(page("Guide", "/docs/deep/page?from=guide#part", "/docs/guide/#top")),
            "/docs/api.html": tagged(page("API", "./", "logo.png", "book.pdf", "guide.md", "mailto:me@x.example")),
            "/docs/deep/page": tagged(page("Deep")),
            "/blog/": tagged(page("Blog")),
        }
    )


@pytest.fixture
def mapped(site):
    """The same with a sitemap that robots.txt names."""
    pages = [f"{site.url}{path}" for path in ("/docs/", "/docs/guide", "/docs/api.html", "/docs/deep/page", "/blog/")]
    site.routes["/robots.txt"] = answer(f"User-agent: *\nAllow: /\nSitemap: {site.url}/map.xml\n", "text/plain")
    site.routes["/map.xml"] = sitemap(*pages)
    return site


def request(site, location: str = "/docs/", **fields) -> SourceRequest:
    fields = {"docs_url": f"{site.url}/docs", "private_hosts": (site.host,), **fields}
    return SourceRequest(f"{site.url}{location}", **fields)


def read(site, location: str = "/docs/", **fields):
    """What a crawl gives: pages by path, and the rest."""
    items = list(crawl.read(request(site, location, **fields)))
    made = [item.build() for item in items if isinstance(item, Draft)]
    assert all(isinstance(item, Page) for item in made)
    return {item.path: item for item in made}, [item for item in items if not isinstance(item, Draft)]


def validators(pages) -> dict[str, str]:
    return {item.address: item.validator for item in pages.values()}


def strict_paths(site) -> list[str]:
    return sorted(path for path in site.paths if path != "/robots.txt" and "map" not in path)


EVERY = {"/", "/guide", "/api", "/deep/page"}


def test_links_are_followed_within_the_folder_and_each_page_is_asked_for_once(site):
    pages, rest = read(site)
    assert set(pages) == EVERY
    assert rest == []
    assert pages["/deep/page"].address == f"{site.url}/docs/deep/page", "without query and fragment"
    assert strict_paths(site) == ["/docs/", "/docs/", "/docs/api.html", "/docs/deep/page", "/docs/guide"]
    assert pages["/guide"].title == "Guide"
    assert "## More {#the-rest}" in pages["/guide"].markdown


@pytest.mark.parametrize("location", ["/docs/", "/map.xml"])
def test_the_sitemap_says_what_there_is(mapped, location):
    mapped.routes["/docs/guide"] = tagged(page("Guide", "/docs/unlisted"))
    mapped.routes["/docs/unlisted"] = answer(page("Unlisted"))
    pages, rest = read(mapped, location)
    assert (set(pages), rest) == (EVERY, [])


PROLOGS = {
    "a blank line": "\n\n<?xml version='1.0'?>",
    "a byte order mark": "\ufeff <?xml version='1.0' encoding='utf-8'?>",
    "a document type": "<!DOCTYPE urlset>",
    "a document type of its own": "<?xml version='1.0'?>\n<!DOCTYPE urlset [<!ATTLIST url id CDATA #IMPLIED>]>",
    "a document type elsewhere": "<!DOCTYPE urlset SYSTEM '{}/types.dtd'>",
}


@pytest.mark.parametrize("prolog", PROLOGS.values(), ids=PROLOGS)
@pytest.mark.parametrize("location", ["/map.xml", "/docs/"])
def test_a_sitemap_may_begin_oddly(mapped, prolog, location):
    body = mapped.routes["/map.xml"].partition(b"\r\n\r\n")[2]
    mapped.routes["/map.xml"] = answer(prolog.replace("{}", mapped.url).encode() + body, "text/xml")
    pages, rest = read(mapped, location)
    assert (set(pages), rest) == (EVERY, [])
    assert "/types.dtd" not in mapped.paths


def test_a_page_in_place_of_a_sitemap_is_told(mapped):
    mapped.routes["/map.xml"] = answer("<!DOCTYPE html><html><body><p>No</p></body></html>", "text/xml")
    assert read(mapped)[1] == [UnreadablePage(f"{mapped.url}/map.xml", "is no sitemap")]


def test_a_sitemap_is_looked_for_where_robots_txt_names_none(mapped):
    mapped.routes |= {"/robots.txt": answer("", "text/plain"), "/docs/sitemap.xml": mapped.routes["/map.xml"]}
    mapped.routes["/docs/"] = answer(page("Home"))
    assert set(read(mapped)[0]) == EVERY


def test_a_sitemap_of_a_page_or_two_says_only_where_to_begin(mapped):
    mapped.routes["/map.xml"] = sitemap(f"{mapped.url}/docs/guide")
    assert set(read(mapped)[0]) == EVERY


def test_sitemaps_may_be_nested_and_packed(mapped):
    packed = gzip.compress(mapped.routes["/map.xml"].partition(b"\r\n\r\n")[2])
    mapped.routes |= {
        "/map.xml": sitemap(f"{mapped.url}/index.xml", f"{mapped.url}/map.xml", index=True),
        "/index.xml": sitemap(f"{mapped.url}/pages.xml.gz", index=True),
        "/pages.xml.gz": answer(packed, "application/gzip"),
    }
    assert set(read(mapped)[0]) == EVERY


@pytest.mark.parametrize("location", ["/docs/", "/map.xml"])
def test_a_second_crawl_makes_nothing_anew(mapped, location):
    pages, _ = read(mapped, location)
    mapped.requests.clear()
    again = list(crawl.read(request(mapped, location, previous_validators=validators(pages))))
    assert {item.path: item.digest for item in again} == {path: item.digest for path, item in pages.items()}
    assert all('"1"' in request.headers.get("if-none-match", "") for request in mapped.requests[3:])
    assert again[0].build() == pages[again[0].path], "a page that was not sent can be had whole"


def test_a_second_crawl_by_links_finds_what_is_new_behind_pages_that_have_not_changed(site):
    site.routes["/docs/deep/page"] = answer("", status="503 Busy")
    pages, _ = read(site)
    site.routes["/docs/deep/page"] = answer(page("Deep"))
    again, _ = read(site, previous_validators=validators(pages))
    assert set(again) == EVERY
    assert again["/guide"].digest == pages["/guide"].digest


def test_a_page_is_sent_again_when_pages_are_understood_otherwise(mapped, monkeypatch):
    pages, _ = read(mapped)
    for place in ("search.sources.VERSION", "search.sources.web.visits.VERSION"):
        monkeypatch.setattr(place, "next")
    again = list(crawl.read(request(mapped, previous_validators=validators(pages))))
    assert not {item.digest for item in again} & {item.digest for item in pages.values()}


def test_what_is_gone_goes_and_what_fails_stays(mapped, make_project):
    project = make_project(f"{mapped.url}/docs/").project
    ingest(project, registry.read(request(mapped)))
    mapped.routes["/docs/guide"] = answer("", status="404 Not Found")
    mapped.routes["/docs/api.html"] = answer("", status="500 Oh no")
    mapped.routes["/docs/deep/page"] = answer(page("Deeper"))
    stored = Document.objects.filter(project=project)
    held = {item.address: item.validator for item in stored}
    summary = ingest(project, registry.read(request(mapped, previous_validators=held)))
    assert set(stored.values_list("path", flat=True)) == {"/", "/api", "/deep/page"}
    assert (summary.unchanged, summary.changed, summary.removed) == (1, 1, 1)
    assert summary.skipped == [UnreadablePage(f"{mapped.url}/docs/api.html", "answers 500", "/api")]
    assert summary.left_out == [ExcludedPage(f"{mapped.url}/docs/guide", "answers 404")]


def test_a_stored_source_with_a_place_of_its_own_makes_nothing_anew_either(mapped, make_project):
    project = make_project(f"{mapped.url}/docs/").project
    found = {"path_prefix": "/v2", "version": "2.0"}
    ingest(project, registry.read(request(mapped, **found)))
    stored = Document.objects.filter(project=project)
    held = {item.address: item.validator for item in stored}
    summary = ingest(project, registry.read(request(mapped, previous_validators=held, **found)))
    assert (summary.unchanged, summary.added, summary.changed) == (4, 0, 0)
    assert {(item.path, item.version) for item in stored} >= {("/v2/guide", "2.0")}


def test_pages_behind_one_that_fails_stay(site):
    pages, _ = read(site)
    site.routes["/docs/guide"] = answer("", status="500 Oh no")  # the only one that links to /deep/page
    again, rest = read(site, previous_validators=validators(pages))
    assert set(again) == EVERY - {"/guide"}
    assert rest == [UnreadablePage(f"{site.url}/docs/guide", "answers 500", "/guide")]


def test_pages_of_a_sitemap_that_fails_stay(mapped):
    pages, _ = read(mapped)
    data = sitemap(*(f"{mapped.url}/docs{path}" for path in ("/", "/guide", "/api.html")))
    mapped.routes |= {"/map.xml": sitemap(f"{mapped.url}/a.xml", f"{mapped.url}/b.xml", index=True), "/a.xml": data}
    mapped.routes["/b.xml"] = answer("", status="502 Bad Gateway")
    again, rest = read(mapped, previous_validators=validators(pages))
    assert set(again) == EVERY
    assert rest == [UnreadablePage(f"{mapped.url}/b.xml", "answers 502")]


def test_redirects_are_told(mapped, make_project):
    mapped.routes["/docs/guide"] = redirect("/docs/manual/")
    mapped.routes["/docs/manual/"] = answer(page("Manual"))
    mapped.routes["/docs/deep/page"] = redirect("/blog/")
    mapped.routes["/docs/api.html"] = answer(page("", head="<meta http-equiv=refresh content='0; url=manual/'>"))
    pages, rest = read(mapped)
    assert set(pages) == {"/", "/manual"}
    assert pages["/manual"].address == f"{mapped.url}/docs/manual/"
    outside = ExcludedPage(
        f"{mapped.url}/docs/deep/page", f"leads to {mapped.url}/blog/, which is outside of what is read"
    )
    assert rest == [PageRedirect("/guide", "/manual"), PageRedirect("/api", "/manual"), outside]


def test_pages_say_whether_they_are_to_be_found(mapped):
    mapped.routes |= {
        "/docs/guide": answer(page("Guide", head="<meta name=robots content=noindex>")),
        "/docs/deep/page": answer(page("Deep"), X_Robots_Tag="noindex, nofollow"),
        "/docs/api.html": answer(page("API", head="<link rel=canonical href='/docs/'>")),
    }
    pages, rest = read(mapped)
    assert set(pages) == {"/"}
    reasons = {item.origin.removeprefix(mapped.url): item.reason for item in rest}
    assert reasons == {
        "/docs/guide": "says that it is not to be indexed",
        "/docs/deep/page": "says that it is not to be indexed",
        "/docs/api.html": f"names {mapped.url}/docs/ as the page to be found",
    }


def test_a_canonical_address_that_is_not_read_hides_no_page(mapped):
    head = "<link rel=canonical href='https://elsewhere.example/guide'>"
    mapped.routes["/docs/guide"] = answer(page("Guide", head=head))
    mapped.routes["/docs/deep/page"] = answer(page("Deep", head="<link rel=canonical href='/docs/unlisted'>"))
    assert set(read(mapped)[0]) == EVERY


@pytest.mark.parametrize(
    ("location", "docs_url", "found"),
    [
        ("/docs/", "/docs", EVERY),
        ("/docs/index.html", "/docs", EVERY),
        ("/docs", "/docs", EVERY),
        ("/docs/guide", "/docs", {"/guide"}),
        ("/", "/docs", EVERY),
        ("/", "", {"/", "/docs", "/docs/guide", "/docs/api", "/docs/deep/page", "/blog"}),
    ],
)
def test_the_folder_that_is_read(site, location, docs_url, found):
    site.routes |= {"/": answer(page("Top", "/docs/", "/blog/")), "/docs": redirect("/docs/")}
    site.routes["/docs/index.html"] = redirect("/docs/")
    pages, _ = read(site, location, docs_url=f"{site.url}{docs_url}")
    assert set(pages) == found


def test_progress_is_told_but_not_for_each_page(site):
    lines = []
    read(site, progress=lines.append)
    assert lines[0] == "1 of 1 pages: /"
    assert len(lines) < len(site.requests), "about one a second"


# ---- Sites with rules, and sites that mean no good


@pytest.mark.parametrize("rules", ["User-agent: *\nDisallow: /docs/deep", "User-agent: docs-service\nDisallow: /*deep"])
def test_robots_txt_is_honoured(mapped, rules):
    mapped.routes["/robots.txt"] = answer(f"{rules}\nSitemap: {mapped.url}/map.xml", "text/plain")
    pages, rest = read(mapped)
    assert set(pages) == EVERY - {"/deep/page"}
    assert [item.origin for item in rest] == [f"{mapped.url}/docs/deep/page"]
    assert "/docs/deep/page" not in mapped.paths


def test_a_site_that_shuts_us_out_is_left_alone(site):
    site.routes["/robots.txt"] = answer("User-agent: *\nDisallow: /\n", "text/plain")
    with pytest.raises(ValueError, match=r"robots\.txt of the site says that .*/docs/ is not to be read"):
        read(site)


@pytest.mark.parametrize("status", ["503 Busy", "429 Slow down"])
def test_without_its_rules_a_site_is_not_read(site, status):
    site.routes["/robots.txt"] = answer("", status=status)
    with pytest.raises(ValueError, match="As long as the rules for crawlers cannot be read"):
        read(site)
    assert site.paths == ["/robots.txt"]


def test_the_delay_that_a_site_asks_for_is_kept_as_far_as_it_is_sensible(site, monkeypatch):
    pauses = []
    monkeypatch.setattr("search.sources.web.visits.time.sleep", pauses.append)
    site.routes["/robots.txt"] = answer("User-agent: *\nCrawl-delay: 900\n", "text/plain")
    assert set(read(site)[0]) == EVERY
    assert 0 < pauses[0] <= 5
    assert len(pauses) == 5, "all requests but the first of its kind, sitemaps among them"


def test_a_location_that_cannot_be_read_is_told(site):
    with pytest.raises(ValueError, match=r"/nothing answers 404"):
        read(site, "/nothing")


@pytest.mark.parametrize("bomb", [LAUGHS, STEALING])
def test_entities_in_a_sitemap_are_refused(mapped, bomb):
    mapped.routes["/map.xml"] = answer(bomb, "text/xml")
    _, rest = read(mapped)
    assert rest == [UnreadablePage(f"{mapped.url}/map.xml", "has entities, which no sitemap needs")]


def test_a_packed_sitemap_that_is_a_bomb_is_refused(mapped):
    mapped.routes["/map.xml"] = answer(gzip.compress(b"<urlset>" + bytes(30 * 1024 * 1024)), "application/gzip")
    assert read(mapped)[1] == [UnreadablePage(f"{mapped.url}/map.xml", "is larger than 5 MiB")]


def test_a_sitemap_that_names_other_hosts_sends_us_nowhere(mapped):
    mapped.routes["/map.xml"] = sitemap(
        *(f"{mapped.url}/docs{path}" for path in ("/", "/guide", "/api.html")),
        *("http://169.254.169.254/latest/", "file:///etc/passwd", "http://[broken/"),
    )
    pages, rest = read(mapped)
    assert set(pages) == EVERY - {"/deep/page"}
    assert "lists 3 addresses of other sites, such as http://169.254.169.254/latest/" in rest[0].reason


def test_sitemaps_that_list_each_other_end(mapped):
    mapped.routes |= {
        f"/map{n}.xml": sitemap(*(f"{mapped.url}/map{n + 1}{part}.xml" for part in ("", "b")), index=True)
        for n in range(9)
    }
    mapped.routes["/map.xml"] = sitemap(f"{mapped.url}/map0.xml", index=True)
    _, rest = read(mapped)
    assert "/map3.xml" not in mapped.paths
    assert "too deeply nested" in rest[0].reason


def test_a_page_that_leads_to_other_hosts_is_left_out(mapped):
    mapped.routes["/docs/guide"] = redirect("http://169.254.169.254/latest/meta-data/")
    pages, rest = read(mapped)
    assert set(pages) == EVERY - {"/guide"}
    assert rest == [
        ExcludedPage(f"{mapped.url}/docs/guide", "leads to another site, http://169.254.169.254/latest/meta-data/")
    ]


def calendar(request):
    """Each day links to the next one, for ever."""
    day = int(request.path.rpartition("/")[2] or 0)
    yield answer(page(f"Day {day}", f"/docs/{day + 1}", f"/docs/{day + 1}?view=week"))


class Endless(dict):
    """Routes of a site that has a page for whatever is asked."""

    def get(self, path, other):
        return calendar if path.startswith("/docs/") and not path.endswith(".xml") else other


def test_a_calendar_ends(server, monkeypatch):
    server.reset(Endless())
    monkeypatch.setattr(crawl, "MAX_LINKS", 12)
    pages, rest = read(server)
    assert len(pages) == 13
    assert rest == [
        UnreadablePage(f"{server.url}/docs/", "has pages that are more than 12 links away; they are left as they were")
    ]


@pytest.mark.parametrize(
    ("cap", "value", "reason"),
    [
        ("MAX_PAGES", 2, "has more than 2 pages; the rest is left as it was"),
        ("MAX_SECONDS", 0.0, "takes longer than 0 seconds; the rest is left as it was"),
    ],
)
def test_what_a_cap_cuts_off_stays_as_it_was(mapped, monkeypatch, cap, value, reason):
    pages, _ = read(mapped)
    monkeypatch.setattr(crawl, cap, value)
    items = list(crawl.read(request(mapped, previous_validators=validators(pages))))
    assert {item.path: item.digest for item in items if isinstance(item, Draft)} == {
        path: item.digest for path, item in pages.items()
    }
    assert UnreadablePage(f"{mapped.url}/docs/", reason) in items


def test_a_site_that_is_down_is_left_alone_after_a_while(mapped, monkeypatch):
    monkeypatch.setattr(crawl, "MAX_FAILURES", 2)
    pages, _ = read(mapped)
    mapped.reset({path: route for path, route in mapped.routes.items() if "/docs/" not in path})
    mapped.routes["/map.xml"] = sitemap(*(f"{mapped.url}/docs/{n}" for n in range(30)))
    mapped.routes |= {f"/docs/{n}": answer("", status="502 Bad Gateway") for n in range(30)}
    mapped.routes["/docs/"] = answer(page("Home"))
    items = list(crawl.read(request(mapped, previous_validators=validators(pages))))
    assert len(strict_paths(mapped)) < 15
    assert {item.path for item in items if isinstance(item, Draft)} == EVERY
    assert UnreadablePage(f"{mapped.url}/docs/", "failed 2 times in a row; the rest is left as it was") in items


def test_other_types_and_pages_without_end_are_no_pages(mapped):
    def endless(request):
        yield b"HTTP/1.1 200 OK\r\nContent-Type: application/zip\r\n\r\n"
        while True:
            yield b"x" * 65536

    mapped.routes["/docs/guide"] = endless
    mapped.routes["/docs/deep/page"] = answer("not HTML", "text/plain")
    pages, rest = read(mapped)
    assert (set(pages), rest) == ({"/", "/api"}, [])


def test_a_cookie_is_never_sent_back(mapped):
    mapped.routes["/docs/"] = answer(page("Home"), Set_Cookie="id=1; Path=/")
    read(mapped)
    assert not any("cookie" in request.headers for request in mapped.requests)


def test_redirects_come_into_the_index(mapped, make_project):
    mapped.routes["/docs/guide"] = redirect("/docs/deep/page")
    project = make_project(f"{mapped.url}/docs/").project
    ingest(project, registry.read(replace(request(mapped), path_prefix="/v2")))
    assert list(Redirect.objects.filter(project=project).values_list("path", "target")) == [
        ("/v2/guide", "/v2/deep/page")
    ]
