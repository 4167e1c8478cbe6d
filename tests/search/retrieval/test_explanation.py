"""`manage.py search`: what a reader finds, why, and advice when nothing is found."""

import io
import json
import math

import pytest
from django.core.management import CommandError, call_command, load_command_class
from django.core.management.base import BaseCommand

from docsite.site import navigation
from search.indexing.ingest import ingest
from search.retrieval import page_search
from search.retrieval.ranking import FEATURES, MODEL
from search.sources import Page
from tests.conftest import PAGES


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command("search", *arguments, stdout=out)
    return out.getvalue()


def explained(*arguments: str) -> dict:
    return json.loads(run(*arguments, "--json"))


def test_it_finds_what_readers_find(project):
    hits = page_search.find(project.project, "install acme with pip")
    explanation = explained(project.domain, "install acme with pip")
    assert [(hit["path"], hit["score"]) for hit in explanation["hits"]] == [(hit.path, hit.score) for hit in hits]
    lines = run(project.domain, "install acme with pip", "--limit", "1").splitlines()
    assert lines == [
        f" 1. {hits[0].score:.3f}  Installing acme > With pip",
        "           https://docs.acme.example/install#with-pip",
        "To see the parts of the scores: --explain",
    ]


def test_a_score_is_the_sum_of_its_parts(project):
    for hit in explained(project.domain, "install acme from source")["hits"]:
        assert [feature["name"] for feature in hit["features"]] == list(FEATURES)
        for feature in hit["features"]:
            assert feature["weight"] == MODEL.weights.get(feature["name"], 0)
            assert feature["contribution"] == pytest.approx(feature["value"] * feature["weight"], abs=0.001)
        total = hit["intercept"] + hit["boost"] + sum(feature["contribution"] for feature in hit["features"])
        assert hit["log_odds"] == pytest.approx(total, abs=0.002)
        assert hit["score"] == pytest.approx(1 / (1 + math.exp(-hit["log_odds"])), abs=0.0001)


def test_a_boost_is_a_part_of_the_score(make_project):
    tenant = make_project()
    ingest(tenant.project, [Page("", "/a", "# Labels\n\nPrint labels.", boost=2.0)])
    hit = explained(tenant.domain, "labels")["hits"][0]
    assert hit["boost"] == pytest.approx(math.log(2), abs=0.001)
    assert "boost" in run(tenant.domain, "labels", "--explain")


@pytest.mark.parametrize(
    ("query", "word", "how"),
    [
        ("parcels ", "parcels", "as written"),
        ("instlal ", "instlal", "corrected"),
        ("pyth", "pyth", "completed"),
        ("labelprinters ", "labelprinters", "split"),
        ("acme home ", "acmehome", "written as one"),
        ("xylophone ", "xylophone", "unknown"),
    ],
)
def test_it_explains_how_each_word_was_read(project, query, word, how):
    terms = {term["word"]: term for term in explained(project.domain, query)["terms"]}
    assert terms[word]["how"] == how
    assert all(spelling["sections"] > 0 for spelling in terms[word]["spellings"]) or how in ("unknown", "completed")
    assert f"{word:<16} {how}" in run(project.domain, query, "--explain")


def test_it_explains_compounds_and_other_spellings(make_project):
    tenant = make_project()
    text = "Datenbankverbindungen der Datenbank, jede Verbindung der Anmeldung, eine Voranmeldung."
    english = Page("B", "/b", "The colour of it, or its color.", language="en")
    ingest(tenant.project, [Page("A", "/a", text, language="de"), english])
    for query, how in {
        "Datenbank Verbindung ": {"Datenbank": "part of compounds", "Verbindung": "part of compounds"},
        "Verbindung ": {"Verbindung": "part of compounds"},
        "Datenbankverbindung ": {"Datenbankverbindung": "split"},
        "Datenbank ": {"Datenbank": "as written"},
        "Datenb": {"Datenb": "completed"},
    }.items():
        terms = explained(tenant.domain, query, "--language", "de")["terms"]
        assert {term["word"].lower(): term["how"] for term in terms} == {word.lower(): one for word, one in how.items()}
    assert [term["how"] for term in explained(tenant.domain, "color ", "--language", "en")["terms"]] == ["synonym"]


def test_it_explains_filters_and_preferences(project):
    explanation = explained(
        project.domain, "how do I set the folder", "--version", "latest", "--page", "https://x/configure.md"
    )
    assert explanation["ignored"] == ["how", "do", "I", "the"]
    assert explanation["filter"] == {"version": "2.0"}
    assert explanation["preferred"]["near"] == "/configure"
    assert explanation["candidates"] >= explanation["pages"] > 0
    here = {
        feature["name"]: feature["value"]
        for hit in explanation["hits"]
        if hit["path"] == "/configure"
        for feature in hit["features"]
    }
    assert here["current_page"] == 1
    text = run(project.domain, "how do I set the folder", "--version", "latest", "--page", "/configure", "--explain")
    assert "left out, because they are stop words: how do I the" in text
    assert "only version 2.0" in text
    assert "preferred: near /configure" in text
    assert (explanation["candidates"], explanation["pages"]) == (1, 1)
    assert "1 section of 1 page was compared" in text


def test_filters_narrow(project):
    everything = {hit["path"] for hit in explained(project.domain, "acme")["hits"]}
    assert len(everything) == len(PAGES)
    assert {hit["path"] for hit in explained(project.domain, "acme", "--tag", "SETTINGS")["hits"]} == {"/configure"}
    assert "/configure" not in {hit["path"] for hit in explained(project.domain, "acme", "--version", "1")["hits"]}


def test_a_search_without_results_has_advice(project, make_project):
    empty = make_project()
    assert f"manage.py ingest {empty.domain} FOLDER" in run(empty.domain, "install")
    assert "No page holds xylophone or quuxly" in run(project.domain, "xylophone quuxly ")
    assert "the keywords in its front matter" in run(project.domain, "xylophone quuxly ")
    assert "There is tag: settings." in run(project.domain, "install", "--tag", "beta")
    assert "The query has no word." in run(project.domain, "?!")
    with pytest.raises(CommandError, match="There is no project nobody"):
        run("nobody", "x")
    for limit in ("0", "51"):
        with pytest.raises(CommandError, match="1 to 50"):
            run(project.domain, "x", "--limit", limit)


@pytest.mark.parametrize("command", ["ingest", "search", "reindex"])
def test_the_page_about_commands_names_every_option(command):
    body = navigation.pages()["commands"].body
    found = body[body.index(f"### {command}\n") :].split("\n### ")[0]
    parser = load_command_class("search", command).create_parser("manage.py", command)
    known = set(BaseCommand().create_parser("manage.py", command)._option_string_actions)
    for option in {*parser._option_string_actions} - known | ({"--version"} if command == "search" else set()):
        assert option in found, option
