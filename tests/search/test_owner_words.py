"""Synonyms and promoted pages: what they change in a search and for the assistant, and their pages in the admin."""

import pytest

from docsite.core.tenants.models import Project
from search.hits import Filters
from search.indexing.ingest import ingest
from search.models import SearchSettings
from search.retrieval.explanation import explain
from search.retrieval.page_search import find
from search.retrieval.passages import find_passages
from search.sources import Page
from search.text import owner_words
from tests.conftest import wait_for
from tests.variants import first_of


def put(tenant, **pages):
    ingest(tenant.project, [Page(origin=name, path=f"/{name}", markdown=markdown) for name, markdown in pages.items()])


def set_words(tenant, **lines):
    SearchSettings.objects.update_or_create(project=tenant.project, defaults=lines)


def search(tenant, query, **more):
    return find(Project.objects.get(pk=tenant.project.pk), query, **more)


def paths(tenant, query, **more):
    return [hit.path for hit in search(tenant, query, **more)]


@pytest.fixture
def cluster(make_project):
    tenant = make_project()
    put(
        tenant,
        kubernetes="# Kubernetes\n\nDeploy the parcels to Kubernetes with one chart.",
        login="# Single sign-on\n\nUse single sign-on for every parcel.",
        other="# Labels\n\nPrint a label on every single parcel. Sign it.",
        install="# Installing\n\nInstall the parcels on a machine.",
        guide="# Setting up\n\nThe guide helps to install parcels, step by step: install, configure, install again.",
    )
    return tenant


@pytest.mark.parametrize("query", ["k7s", "K7s ", "deploy k7s chart", "how do I use k7s?"])
def test_a_synonym_finds_the_other_word(cluster, query):
    assert "/kubernetes" not in paths(cluster, "k7s")
    set_words(cluster, synonyms="k7s, kubernetes")
    assert paths(cluster, query)[0] == "/kubernetes"


def test_a_phrase_is_a_synonym_of_a_word_and_the_other_way_round(cluster):
    set_words(cluster, synonyms="sso, single sign-on")
    assert paths(cluster, "sso")[0] == "/login"
    put(cluster, sso="# SSO\n\nHow SSO works.", other="# Labels\n\nPrint a label.")
    assert paths(cluster, "single sign-on")[0] == "/sso"


def test_one_way_is_not_both_ways(make_project):
    tenant = make_project()
    put(tenant, one="# Parcels\n\nA box of goods.", two="# Crates\n\nA big case.")
    set_words(tenant, synonyms="parcel => crate")
    assert paths(tenant, "parcel ") == ["/one", "/two"]
    assert paths(tenant, "crate ") == ["/two"]


def test_the_word_itself_comes_before_its_synonym(make_project):
    tenant = make_project()
    put(tenant, a="# Notes\n\nThe crate is here.", b="# Notes\n\nThe parcel is here.")
    set_words(tenant, synonyms="parcel, crate")
    assert paths(tenant, "parcel ") == ["/b", "/a"]
    assert paths(tenant, "crate ") == ["/a", "/b"]


def test_a_synonym_scores_nearly_as_the_word_itself(cluster):
    direct = search(cluster, "kubernetes ")[0].score
    set_words(cluster, synonyms="k7s, kubernetes")
    synonym = search(cluster, "k7s ")[0].score
    assert direct - 0.2 < synonym <= direct


def test_other_queries_keep_their_results(cluster):
    queries = ["install", "single parcel", "sign", "label every parcel", "kubernetes chart "]
    before = [[(hit.path, hit.score) for hit in search(cluster, query)] for query in queries]
    set_words(cluster, synonyms="k7s, container platform\nsso, single sign-on\n")
    assert [[(hit.path, hit.score) for hit in search(cluster, query)] for query in queries] == before


def test_the_assistant_uses_synonyms(cluster):
    def chance():
        found = find_passages(Project.objects.get(pk=cluster.project.pk), "How do I deploy to k7s?")
        return found.chance, [hit.path for hit in found.hits][:1]

    before, _ = chance()
    set_words(cluster, synonyms="k7s, kubernetes")
    after, first = chance()
    assert after > before
    assert first == ["/kubernetes"]


def test_an_explanation_names_the_synonym(cluster):
    set_words(cluster, synonyms="k7s, kubernetes")
    terms = explain(Project.objects.get(pk=cluster.project.pk), "k7s")["terms"]
    assert [(term["word"], term["how"]) for term in terms] == [("k7s", "synonym")]


@pytest.mark.parametrize("query", first_of(["install", "Installing ", "setup", "  SETUP"], 2))
def test_a_promoted_page_comes_first(cluster, query):
    set_words(cluster, promotions="install, setup => /other")
    found = search(cluster, query, threshold=0.9)
    assert found[0].path == "/other"
    assert found[0].score == max(hit.score for hit in search(cluster, query))
    assert len(paths(cluster, query, limit=1)) == 1


def test_a_promoted_page_comes_first_for_its_words_only(cluster):
    before = paths(cluster, "install parcels")
    set_words(cluster, promotions="install => /other\nzebra => /missing")
    assert paths(cluster, "install parcels") == before
    assert paths(cluster, "zebra") == []


def test_a_filter_excludes_a_promoted_page(project):
    set_words(project, promotions="acme => /configure")
    assert paths(project, "acme")[0] == "/configure"
    assert "/configure" not in paths(project, "acme", filters=Filters(tag="other"))
    assert "/configure" not in paths(project, "acme", filters=Filters(version="1.0"))


@pytest.mark.parametrize(
    ("text", "error"),
    first_of(
        [
            ("k7s", "Line 1: write at least two words"),
            ("a, b\n\n# note\n, c", "Line 4: write at least two"),
            ("!!, k7s", "Line 1: “!!” has no word."),
            ("k7s =>", "Line 1: write a word behind =>."),
            ("=> k7s", "Line 1: write a word before =>."),
            ("one two three four five six, b", "Line 1: “one two three four five six” is too long"),
            (f"{'x' * 81}, b", "is too long"),
            (", ".join("abcdefghijk"), "Line 1: at most 10 words"),
            ("a, b\n" * 501, "There are 501 lines"),
        ],
        2,
    ),
)
def test_wrong_synonyms_get_a_sentence(people, project, text, error):
    response = people.owner.post(f"/admin/project/{project.domain}/synonyms", {"lines": text})
    assert response.status_code == 400
    assert error in response.content.decode().replace("&gt;", ">")
    assert not SearchSettings.objects.filter(project=project.project).exclude(synonyms="").exists()


@pytest.mark.parametrize(
    ("text", "error"),
    first_of(
        [
            ("install", "Line 1: end it with"),
            ("install => install", "Line 1: end it with"),
            ("install => /install, /configure", "Line 1: end it with"),
            ("install => /nowhere", "Line 1: the project has no page /nowhere."),
            ("install => /install\nInstalling => /configure", "Line 2: line 1 has a page for “Installing” already."),
        ],
        2,
    ),
)
def test_wrong_promotions_get_a_sentence(people, project, text, error):
    response = people.owner.post(f"/admin/project/{project.domain}/promotions", {"lines": text})
    assert response.status_code == 400
    assert error in response.content.decode().replace("&gt;", ">")


@pytest.mark.matrix
def test_a_running_service_uses_new_synonyms_within_seconds(people, project, service, http):
    def find_first():
        url = f"{service.url}/discovery/v1/search/{project.domain}"
        found = http.post(url, json={"query": "widgetizing"}, headers=project.assistant).json()
        return [hit["path"] for hit in found][:1]

    assert find_first() == []
    page = f"/admin/project/{project.domain}/synonyms"
    assert people.owner.post(page, {"line": "widgetizing => labels"}).status_code == 302
    wait_for(lambda: find_first() == ["/guides/labels"], "the synonym")


@pytest.mark.slow
def test_lines_are_added_saved_and_downloaded(people, project):
    page = f"/admin/project/{project.domain}/synonyms"
    assert 'value="k7s"' in people.owner.get(f"{page}?words=k7s").content.decode()
    people.owner.post(page, {"line": "k7s, kubernetes"})
    people.teammate.post(page, {"line": "sso => single sign-on"})
    lines = "k7s, kubernetes\nsso => single sign-on"
    assert people.owner.get(f"{page}/synonyms.txt").content.decode() == f"{lines}\n"
    content = people.owner.get(page).content.decode()
    revision = content.split('name="revision" value="')[1].split('"')[0]
    assert people.owner.post(page, {"lines": "a, b", "revision": revision}).status_code == 302
    stale = people.teammate.post(page, {"lines": "c, d", "revision": revision})
    assert "Somebody else has changed these lines" in stale.content.decode()
    assert SearchSettings.objects.get(project=project.project).synonyms == "a, b"


def test_the_page_says_what_uses_the_saved_lines(people, project):
    for key, line, message in (
        ("synonyms", "k7s, kubernetes", "Saved. Searches and answers use it"),
        ("promotions", "install => /install", "Saved. Searches use it"),
    ):
        answer = people.owner.post(f"/admin/project/{project.domain}/{key}", {"line": line}, follow=True)
        assert message in answer.content.decode()


def test_an_owner_sees_that_a_promoted_page_is_gone(people, project):
    set_words(project, promotions="old => /gone")
    content = people.owner.get(f"/admin/project/{project.domain}/promotions").content.decode()
    assert "Line 1: the project has no page /gone." in content


@pytest.mark.parametrize(
    "page", first_of(["synonyms", "promotions", "synonyms/synonyms.txt", "promotions/promotions.txt"], 2)
)
def test_a_stranger_neither_sees_nor_changes_them(people, project, page):
    url = f"/admin/project/{project.domain}/{page}"
    assert people.teammate.get(url).status_code == 200
    assert people.stranger.get(url).status_code == 404
    assert people.stranger.post(url, {"line": "a, b"}).status_code == 404


def test_the_test_of_a_query_marks_a_promoted_page(people, project):
    set_words(project, promotions="acme => /configure")
    content = people.owner.get(f"/admin/project/{project.domain}/searches/test?query=acme").content.decode()
    assert content.count("promoted</span>") == 1


def test_the_largest_number_of_lines_is_parsed_quickly():
    text = "\n".join(f"word{number}, thing{number} of sorts" for number in range(500))
    assert not owner_words.check_synonyms(text)
    parsed = owner_words.parse_synonyms(text, ("en", "de"))
    assert parsed.find(["word77", "other"], ("en",)) == (1, (("thing77", "sorts"),))
    assert parsed.find(["thing77", "sorts", "other"], ("en",)) == (2, (("word77",),))
