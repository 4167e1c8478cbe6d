"""Links in passages: what is relative leads to its page, whatever else is no address to follow goes."""

import time

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from search.hits import Hit
from search.indexing.ingest import ingest
from search.retrieval import index_state, links
from search.retrieval.passages import find_passages
from search.sources import Page
from tests.variants import first_of

SITE = "https://docs.acme.example/docs"
PATHS = ("/", "/guide", "/guide/start", "/guide/deep/end", "/api", "/es/api", "/es/guide", "/a b", "/v1.2")


@pytest.fixture(scope="module")
def pages(request):
    return [
        Page(origin=path, path=path, markdown=f"# {path}", language="es" if path.startswith("/es") else "en")
        for path in PATHS
    ]


@pytest.fixture
def site(make_project, pages):
    project = make_project(f"{SITE}/").project
    ingest(project, pages)
    return project


def hit(body: str, path: str = "/guide/start", language: str = "en") -> Hit:
    names = {"path": path, "url": "", "title": "", "section": "", "excerpt": ""}
    return Hit(**names, breadcrumb=(), body=body, score=1.0, language=language)


def linked(site, body: str, path: str = "/guide/start", language: str = "en") -> str:
    return links.make_absolute(site, [hit(body, path, language)])[0].body


@pytest.mark.parametrize(
    ("path", "target", "expected"),
    first_of(
        [
            ("/guide/start", "../api.md#part", "/api#part"),
            ("/guide/start", "deep/end.mdx", "/guide/deep/end"),
            ("/guide/start", "./deep/end/", "/guide/deep/end"),
            ("/guide/start", "../api.html?x=1#a%20b", "/api#a%20b"),
            ("/guide/start", "../index.md", ""),
            ("/guide/start", "#part", "/guide/start#part"),
            ("/guide/start", "/guide", "/guide"),
            ("/guide/start", "/docs/guide/", "/guide"),
            ("/guide/start", "/guide/index.md#a", "/guide#a"),
            ("/guide/start", "../a%20b.md", "/a%20b"),
            ("/guide/start", "<../a b.md>", "/a%20b"),
            ("/guide/start", "../v1.2.md", "/v1.2"),
            ("/guide", "start.md", "/guide/start"),  # guide/index.md
            ("/guide", "guide/start.md", "/guide/start"),  # guide.md
            ("/", "guide/", "/guide"),
            ("/guide", "index.md", ""),  # guide.md beside index.md
            ("/es/guide", "../api.md", "/es/api"),  # es/guide/index.md, though there is an English /api, too
            ("/guide/start", "../api.md 'A title'", "/api"),
            ("/guide/start", "..\\/api.md", "/api"),
            ("/guide/start", "../api.md#a&#41;b", "/api#a%29b"),
        ],
        8,
    ),
)
def test_a_relative_link_leads_to_its_page(site, path, target, expected):
    url = f"{SITE}{expected or '/'}"
    assert linked(site, f"See [it]({target}).", path, path[1:3]) == f"See [it]({url})."


@pytest.mark.parametrize(
    "target",
    first_of(
        [
            *("../gone.md", "../../../etc", "/gone", "file.zip", "//api", "", "\\/\\/api", "\\\\api", "/x?y=1"),
            *("tel:1", "JavaScript:x", "data:,x", "java&#115;cript:x", "ftp://x.example", "&#9;javascript:x"),
            "javascript&colon;x",
        ],
        6,
    ),
)
def test_a_link_to_nothing_that_can_be_followed_becomes_its_label(site, target):
    assert linked(site, f"See [*it* `x`]({target}).") == "See *it* `x`."


SAME = [
    "[a](https://x.example/b_(c) 'd') [e](HTTP://x.example) <https://x.example> [m](mailto:a@x.example) <a@x.example>",
    "`[a](../api.md)` ``b ` [a](../api.md)``",
    "```md\n[a](../api.md)\n```\n\n~~~\n\n[a](../api.md)\n~~~",
    "- x\n\n  ```\n  [a](../api.md)\n  ```",
    "> ```\n> [a](../api.md)\n> ```",
    "Text:\n\n    [a](../api.md)",
    "\\[a](../api.md) a] (../api.md) [a] [b][c] a[0](x y)",
    "| a | b |\n|---|---|\n| `x` | [i] |",
    "| `a |\n|---|\n| b` |",
    "  two  \r\nlines\t\n\n\n* a\n  1. b   ",
]


@pytest.mark.parametrize("body", SAME)
def test_what_is_no_relative_link_stays_as_it_is(site, body):
    assert linked(site, body) == body


@pytest.mark.parametrize(
    ("body", "expected"),
    first_of([
        ("a\n\n    [a](/api)\n\n- b\n\n    [a](/api)", "a\n\n    [a](/api)\n\n- b\n\n    [a](URL)"),
        ("> [a\n> b](/api) c", "> [a\n> b](URL) c"),
        ("| [a](/api) | `[a](/api)` |\n|---|---|\n| [b](/x) | `c |\n| [d](/api)` |", "| [a](URL) | `[a](/api)` |\n"
         "|---|---|\n| b | `c |\n| [d](URL)` |"),
        ("- `a\n- [b](/api) `c", "- `a\n- [b](URL) `c"),
        ("```\n[a](/api)\n```\n[b](/api)", "```\n[a](/api)\n```\n[b](URL)"),
        ("> ```\n> [a](/api)\n\n[b](/api)", "> ```\n> [a](/api)\n\n[b](URL)"),
        ("\\`[a](/api)` `` ` [b](/api)", "\\`[a](URL)` `` ` [b](URL)"),
        ("[a [b] [c](d) e](/api)", "[a [b] c e](/api)"),
        ("[a [[b]] c](/api)", "[a [[b]] c](URL)"),
        ("[![a](b.png)](/api) ![c [d](/api)](e.png)", "[a](URL) c [d](URL)"),
        ("[`]`](/api) [a\\]](/api)", "[`]`](URL) [a\\]](URL)"),
        ("<tel:1> <ftp://x.example/>", "tel:1 ftp://x.example/"),
        ("x](y[a](/api)", "x](y[a](URL)"),
        ("x](y[a](/api))", "x](y[a](URL))"),
        ("[a](/api)[b](/api)[c](/api", "[a](URL)[b](URL)[c](/api"),
    ], 6),
)  # fmt: skip
def test_links_are_found_as_readers_see_them(site, body, expected):
    assert linked(site, body) == expected.replace("URL", f"{SITE}/api")


@pytest.mark.slow
def test_all_passages_take_a_query_for_pages_and_one_for_redirects_while_the_index_stays(site, pages):
    index_state.get_state(site)
    hits = [hit(f"[a](../api.md) [b](x{number}.md)") for number in range(20)]
    with CaptureQueriesContext(connection) as asked:
        found = links.make_absolute(site, hits)
        assert {one.body for one in found} == {f"[a]({SITE}/api) b"}
    assert len(asked) == 3  # with that for the number of the generation
    with CaptureQueriesContext(connection) as asked:
        assert {one.body for one in links.make_absolute(site, hits)} == {f"[a]({SITE}/api) b"}
    assert len(asked) == 1
    ingest(site, [*pages, Page(origin="/guide/x1", path="/guide/x1", markdown="# x1")])
    assert [one.body for one in links.make_absolute(site, hits)][1] == f"[a]({SITE}/api) [b]({SITE}/guide/x1)"
    with CaptureQueriesContext(connection) as asked:
        assert links.make_absolute(site, [hit("none [c](https://x.example)")])
    assert not asked.captured_queries


@pytest.mark.parametrize(
    ("body", "is_parsed"),
    [
        ("[a](https://x.example) [b]( <HTTP://x.example>) <mailto:a@x.example> `<a>` and [c]", False),
        ("[a](https:x.example)", True),
        ("[a](/api)", True),
        ("[a]()", True),
        ("![a](https://x.example/a.png)", True),
        ("<ftp://x.example>", True),
    ],
)
def test_only_texts_whose_links_may_change_are_parsed(site, body, is_parsed, monkeypatch):
    parsed = []
    monkeypatch.setattr(links, "links", lambda text: parsed.append(text) or ())
    assert linked(site, body) == body
    assert parsed == [body] * is_parsed


def test_the_links_of_a_text_are_those_of_its_page(site):
    assert linked(site, "[a](end.md)", path="/guide/deep/start") == f"[a]({SITE}/guide/deep/end)"
    assert linked(site, "[a](end.md)", path="/other") == "a"


def test_kept_links_follow_the_address_of_the_site(site):
    assert linked(site, "[a](/api)") == f"[a]({SITE}/api)"
    site.docs_url = "https://moved.example/"
    assert linked(site, "[a](/api)") == "[a](https://moved.example/api)"


def test_another_projects_pages_are_none(site, make_project):
    other = make_project().project
    assert linked(other, "[a](/api)") == "a"


def test_very_many_links_are_not_all_looked_for(site):
    body = linked(site, f"[a](/api) {' '.join(f'[b](/x{number})' for number in range(links.MAX_PATHS))} [c](/guide)")
    assert body.startswith(f"[a]({SITE}/api) b b b")
    assert body.endswith("b c")
    many = " ".join(f"[b](/y{number // 2})" for number in range(links.MAX_PATHS))  # each link twice
    both = links.make_absolute(site, [hit(many), hit("[a](/guide)")])
    assert both[1].body == "a"
    assert linked(site, "[a](/guide)") == f"[a]({SITE}/guide)", "what was not looked for is not kept"


@pytest.mark.slow
def test_passages_have_links_that_work_anywhere(site, pages):
    markdown = "# Zebras\n\nZebras [eat](../api.md#food), [more][] of <a href='../gone.md'>it</a>.\n\n## End\n\nx"
    markdown += "\n\n[more]: deep/end.md\n"
    ingest(site, [*pages, Page(origin="/guide/zebra", path="/guide/zebra", markdown=markdown)])
    best = find_passages(site, "zebras eat").hits[0]
    assert best.body == f"Zebras [eat]({SITE}/api#food), [more]({SITE}/guide/deep/end) of it."
    assert best.text == "Zebras eat, more of it."


HOSTILE = [
    "[", "![", "]", "](", "[a](", "](a ", "](a '", '](a "x', "](a (", "[a](b", "[a](((", "`", "`a``b", "<a:", "\\",
    "](<", "[a](b)", "![a](", "[[a](b)]", "![[a](b)", "- `", "> ", "](a '](b \"](c (", "a ](" + " " * 50, "|`", "[](",
    "((",
]  # fmt: skip


@pytest.mark.matrix
@pytest.mark.parametrize("piece", HOSTILE)
def test_hostile_text_takes_time_in_proportion(piece):
    def seconds(source: str) -> float:
        begun = time.thread_time()
        assert sum(1 for _ in links.links(source)) <= len(source)
        return time.thread_time() - begun

    for source in (piece * (400_000 // len(piece)), "[a](" + " " * 300_000, "[a](b" + " " * 300_000 + "x"):
        assert seconds(source + "](") < 5


def test_growing_runs_of_backticks_are_cheap():
    source = "](" + " ".join("`" * length for length in range(1, 1200))
    begun = time.thread_time()
    assert not list(links.links(source))
    assert time.thread_time() - begun < 2
