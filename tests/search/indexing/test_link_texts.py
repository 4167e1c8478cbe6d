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


def test_a_page_that_changed_has_the_texts_of_now(site):
    ingest(site, [page("/a", "# About\n\n[Adhesive ribbons](m.md)"), page("/m", TARGET)])
    ingest(site, [page("/a", "# About\n\n[Sticky tape](m.md)"), page("/m", f"{TARGET} Twice.")])
    assert (first(site, "adhesive ribbons"), first(site, "sticky tape")) == ("", "/m")
    words = IndexVocabulary.decode(bytes(Index.objects.get(project=site).vocabulary)).select([""])
    assert not words.terms["adhes"]
    assert words.terms["sticki"] == 2


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
        ("[own part](#part) [own page](start.md)", []),
        (f"[{'long ' * MAX_TEXT}](../api.md) `[code](../api.md)`", []),
    ],
)
def test_which_links_name_a_page(site, markdown, links):
    assert list_links(site, page("/guide/start", markdown)) == links
