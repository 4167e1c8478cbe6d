"""A page is found by what other pages call it, however the pages come into the index."""

import pytest

from docsite.core.access.readers import read_as
from search.indexing.ingest import ingest
from search.indexing.link_texts import MAX_TEXT, list_links
from search.models import Index
from search.retrieval.page_search import find
from search.sources import Page
from search.text.vocabulary import IndexVocabulary

TARGET = "# Printing\n\nPress the button."


@pytest.fixture
def site(make_project):
    return make_project("https://docs.acme.example/docs/").project


def page(path: str, markdown: str, **more) -> Page:
    return Page(path, path, markdown, **more)


def first(site, query: str) -> str:
    hits = find(site, query)
    return hits[0].path if hits else ""


@pytest.mark.parametrize("linking", ["/a", "/z"])
def test_the_text_of_a_link_finds_the_page_that_it_leads_to(site, linking):
    ingest(site, [page(linking, "# About\n\nSee [adhesive ribbons](m.md#x)."), page("/m", TARGET)])
    assert find(site, "adhesive ribbons")[0].path == "/m"
    assert first(site, "adhesiv") == "/m", "half typed"


def count_words(site, term: str) -> int:
    return IndexVocabulary.decode(bytes(Index.objects.get(project=site).vocabulary)).select([""]).terms[term]


@pytest.mark.parametrize(
    "pages",
    [
        [page("/a", "# About\n\n[Sticky tape](m.md)")],
        [page("/b", "# More\n\n[Sticky tape](m.md)")],
        [page("/a", "# About\n\n[Adhesive ribbons](m.md) [Sticky tape](m.md)", groups=("staff",)), page("/b", "x")],
    ],
    ids=["changed", "removed", "protected"],
)
def test_a_page_has_the_texts_of_now(site, pages):
    ingest(site, [page("/a", "# About\n\n[Adhesive ribbons](m.md)"), page("/m", TARGET)])
    before = find(site, "adhesive ribbons")[0].path
    ingest(site, [*pages, page("/m", TARGET)])
    assert (before, first(site, "adhesive ribbons")) == ("/m", "")
    assert count_words(site, "adhes") == 0
    tape = sum("Sticky" in one.markdown and one.groups is None for one in pages)
    assert (first(site, "sticky tape"), count_words(site, "sticki")) == (("/m", 2) if tape else ("", 0))


def test_a_page_of_which_nothing_changed_stays(site):
    first_pages = [page("/a", "# About\n\n[Adhesive ribbons](m.md)"), page("/m", TARGET), page("/n", "# N\n\nText.")]
    ingest(site, first_pages)
    ids = dict(site.documents.values_list("path", "pk"))
    ingest(site, [page("/a", "# About\n\nWords. [Adhesive ribbons](m.md)"), *first_pages[1:]])
    now = dict(site.documents.values_list("path", "pk"))
    assert {path for path in ids if ids[path] != now[path]} == {"/a"}


def test_a_protected_page_names_no_page_for_others(site):
    secret = page("/a", "# About\n\n[Adhesive ribbons](m.md) [adhesive ribbons](n.md)", groups=("staff",))
    ingest(site, [secret, page("/m", TARGET), page("/n", "# Cutting\n\nCut.", groups=("staff",))])
    assert not find(site, "adhesive ribbons")
    with read_as(frozenset({"staff"})):
        assert {hit.path for hit in find(site, "adhesive ribbons")} == {"/a", "/n"}


@pytest.mark.parametrize(
    ("markdown", "links"),
    [
        ("[`useChat` *hook*](../api.md#use)", [["useChat hook", "/api", "/guide/api"]]),
        ("[the *API*](https://docs.acme.example/docs/api#use)", [["the API", "/api"]]),
        ("[elsewhere](https://acme.example/api) [here](../api.md) [![x](y.png)](../api.md) ![API](../api.md)", []),
        ("[own part](#part) [own page](start.md) <https://docs.acme.example/docs/api>", []),
        (
            "[`max_connections`](/api) [_the_ API](https://docs.acme.example/docs.evil/api)",
            [["max_connections", "/api"]],
        ),
        (f"[{'long ' * MAX_TEXT}](../api.md) `[code](../api.md)`", []),
    ],
)
def test_which_links_name_a_page(site, markdown, links):
    assert list_links(site, page("/guide/start", markdown)) == links
