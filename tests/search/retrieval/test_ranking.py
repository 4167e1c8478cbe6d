"""Ranking: one test for each fault that readers report in other search engines; and scores that mean something."""

import json
import math
import os
import re
import threading
import time

import numpy as np
import pytest

from docsite.core.db import snapshot
from docsite.core.tenants.management.commands.createproject import create_project
from docsite.site import navigation
from search.hits import Filters
from search.indexing.ingest import ingest
from search.postings.search_index import SearchIndex
from search.retrieval import page_search, ranking
from search.retrieval.parsing import MAX_TERMS
from search.retrieval.passages import find_passages
from search.retrieval.plan import plan_search
from search.retrieval.ranking import (
    FEATURES,
    MODEL,
    Model,
    Preferences,
    compute_features,
)
from search.retrieval.selection import score_candidates
from search.sources import Page
from search.text.terms import Entry, Query, Term
from tests.conftest import Tenant, assert_error
from tests.variants import first_of


def page(path: str, markdown: str, **more) -> Page:
    return Page(origin=path, path=path, markdown=markdown, **more)


def paths(tenant, query: str, **filters) -> list[str]:
    return [hit.path for hit in page_search.find(tenant.project, query, filters=Filters(**filters), limit=50)]


FILLER = "Parcels are kept in order here, each with a label and a place of its own. "


# The complaints.


def test_the_newest_version_comes_first_and_another_one_only_when_asked_for(make_project):
    tenant = make_project()
    ingest(tenant.project, [page(f"/{v}/install", "# Install\n\nInstall acme.", version=v) for v in ("0.9", "0.12")])
    assert paths(tenant, "install") == ["/0.12/install", "/0.9/install"]
    assert paths(tenant, "install", version="0.9") == ["/0.9/install"]


def test_the_language_of_the_site_comes_first_and_another_one_only_when_asked_for(make_project):
    tenant = make_project()
    pages = [page("/", "# Acme\n\nHello.", language="en")]
    pages += [page(f"/{lang}/install", "# Install\n\nInstall acme.", language=lang) for lang in ("de", "en", "fr")]
    ingest(tenant.project, pages)
    assert paths(tenant, "install")[0] == "/en/install"
    assert paths(tenant, "install", language="de") == ["/de/install"]


@pytest.mark.parametrize("query", ["printing labels", "acme labels", "acme labels --force", "labels"])
def test_an_exact_title_or_command_comes_first(make_project, query):
    tenant = make_project()
    ingest(
        tenant.project,
        [
            page(
                "/cli", "# Commands\n\n## acme labels\n\nRun `acme labels --force` to print.\n\n## acme keep\n\nKeeps."
            ),
            page("/printing-labels", f"# Printing labels\n\n{FILLER * 5}"),
            *(page(f"/guide{n}", f"# Guide {n}\n\n" + FILLER * 4 + "acme labels printing " * 4) for n in range(30)),
        ],
    )
    assert paths(tenant, query)[0] == ("/cli" if "acme" in query else "/printing-labels")


@pytest.mark.parametrize("query", ["How do I print the labels?", "printing of labels", "print a label"])
def test_a_heading_that_differs_in_small_words_and_endings_only_is_exact(make_project, query):
    tenant = make_project()
    ingest(
        tenant.project,
        [
            page("/start", f"# Start\n\n{FILLER}\n\n## Printing labels\n\nPress the button."),
            page("/without", f"# Work without labels\n\n{FILLER}\n\n## Do not print labels\n\nPress nothing."),
            *(page(f"/guide{n}", f"# Label guide {n}\n\n" + FILLER * 4 + "print labels " * 9) for n in range(30)),
        ],
    )
    assert paths(tenant, query)[0] == "/start"


@pytest.mark.parametrize(
    "query", first_of(["django.db.models", "ACME_HOME", "acme_home", "acme.labels.printLabel()", "printLabel"], 2)
)
def test_a_name_with_dots_or_underscores_is_found_first(make_project, query):
    tenant = make_project()
    ingest(
        tenant.project,
        [
            page("/a", f"# Reference\n\n{FILLER}`django.db.models`, `ACME_HOME` and `acme.labels.printLabel()`."),
            *(page(f"/{n}", f"# Page {n}\n\n{FILLER * 3} The home of acme; models; print a label.") for n in range(30)),
        ],
    )
    assert paths(tenant, query)[0] == "/a"


@pytest.mark.parametrize("query", ["instlal from source", "webhoks from source", "xqzv from source"])
def test_a_misspelt_first_word_does_not_empty_the_list(make_project, query):
    tenant = make_project()
    ingest(
        tenant.project,
        [page("/install", "# Install from source\n\nBuild it."), page("/webhooks", "# Webhooks from source\n\nCalls.")],
    )
    assert set(paths(tenant, query)) == {"/install", "/webhooks"}
    first = {"i": "/install", "w": "/webhooks"}.get(query[0])
    assert not first or paths(tenant, query)[0] == first


def test_a_guide_can_be_put_above_generated_reference(make_project):
    """`boost` multiplies the odds of a score: exactly, and on both sides of 1."""
    tenant = make_project()

    def scores(guide: float, reference: float) -> dict[str, float]:
        pages = [page("/guide", "# Labels\n\nHow to print labels.", boost=guide)]
        pages.append(page("/reference", "# Labels\n\nHow to print labels.", boost=reference))
        ingest(tenant.project, pages)
        return {hit.path: hit.score for hit in page_search.find(tenant.project, "labels")}

    def odds(score: float) -> float:
        return score / (1 - score)

    plain = scores(1, 1)
    boosted = scores(2, 0.1)
    assert list(boosted) == ["/guide", "/reference"]
    assert odds(boosted["/guide"]) == pytest.approx(2 * odds(plain["/guide"]), rel=0.01)
    assert odds(boosted["/reference"]) == pytest.approx(0.1 * odds(plain["/reference"]), rel=0.01)
    assert list(scores(0.5, 1)) == ["/reference", "/guide"]


@pytest.mark.parametrize(("query", "not_found"), [("cart ", "/card"), ("port 8081 ", "/8080"), ("map ", "/mad")])
def test_no_surprising_results_of_words_that_only_look_alike(make_project, query, not_found):
    tenant = make_project()
    ingest(
        tenant.project,
        [
            page("/cart", "# The cart\n\nA cart."), page("/card", "# The card\n\nA card."),
            page("/8080", "# Number 8080\n\n8080."), page("/port", "# Port\n\nThe port."),
            page("/mad", "# Mad\n\nMad."),
        ],
    )  # fmt: skip
    assert not_found not in paths(tenant, query)


def test_a_filter_never_empties_the_list_before_during_or_after_the_ingest_that_adds_its_value(make_project):
    tenant = make_project()
    old = [page("/install", "# Install\n\nInstall acme."), page("/old", "# Install\n\nInstall it.", version="1")]
    ingest(tenant.project, old)
    assert paths(tenant, "install", version="2") == ["/install"], "neutral pages belong to every version"
    seen: set[tuple[str, ...]] = set()
    stop = threading.Event()

    def look() -> None:
        from django.db import connection

        while not stop.is_set():
            seen.add(tuple(paths(tenant, "install", version="2")))
        connection.close()

    reader = threading.Thread(target=look)
    reader.start()
    try:
        more = [page(f"/new{n}", "# Install\n\nInstall acme.", version="2") for n in range(20)]
        ingest(tenant.project, [*old, *more])
        after = tuple(paths(tenant, "install", version="2"))
    finally:
        stop.set()
        reader.join()
    assert len(after) == 21
    assert "/old" not in after
    assert seen <= {("/install",), after}


# Filters.


@pytest.mark.matrix
def test_filters_come_before_the_limit(make_project):
    """Thousands of sections of another version match better than the few that are asked for."""
    tenant = make_project()
    better = "\n\n".join(f"## Zebra {n}\n\nzebra zebra" for n in range(25))
    ingest(
        tenant.project,
        [
            *(page(f"/v1/{n}", f"# Zebra\n\n{better}", version="1", language="de", tags=("x",)) for n in range(100)),
            *(
                page(f"/v2/{n}", f"# Page {n}\n\n{FILLER}zebra", version="2", language="en", tags=("y",))
                for n in range(60)
            ),
        ],
    )
    for filters in ({"version": "2"}, {"version": "latest"}, {"language": "EN"}, {"tag": "Y"}):
        found = paths(tenant, "zebra", **filters)
        assert len(found) == 50
        assert all(path.startswith("/v2/") for path in found)


@pytest.mark.parametrize(
    ("versions", "newest"),
    [(["0.9", "0.12"], "0.12"), (["v9", "v10"], "v10"), (["next", "2"], "2"), (["2.0", "2.0.1", "1.99"], "2.0.1")],
)
def test_latest_is_the_newest_by_its_numbers(make_project, versions, newest):
    tenant = make_project()
    ingest(tenant.project, [page(f"/{version}/a", "# Zebra", version=version) for version in versions])
    assert paths(tenant, "zebra", version="latest") == [f"/{newest}/a"]
    assert paths(tenant, "zebra", version="LATEST") == [f"/{newest}/a"]


# The reader's page.


def entry(number: int, path: str, **fields: str) -> Entry:
    texts = {"title": "page", "heading": "", "trail": "", "about": "", "body": ""} | fields
    return Entry(number, number, 0, **texts, path=path)


def row(name: str, rows: list[list[float]]) -> list[float]:
    return [values[list(FEATURES).index(name)] for values in rows]


def test_features_mark_the_readers_page_and_its_neighbours():
    entries = [entry(1, "/guide/a", body="x"), entry(2, "/guide/b", body="x"), entry(3, "/other/c", body="x")]
    index = SearchIndex.build(entries)
    near = Preferences(current_path="/guide/a")
    made = compute_features(index, Query([Term((("x", 1.0),))]), index.load(np.arange(3)), near)
    assert row("current_page", made) == [1, 0, 0]
    assert row("same_folder", made) == [0, 1, 0]


def test_the_readers_page_is_always_a_candidate(make_project):
    tenant = make_project()
    many = "\n\n".join(f"## Zebra {n}\n\nzebra" for n in range(10))
    pages = [page(f"/z{n}", f"# Zebra\n\n{many}") for n in range(30)]
    ingest(tenant.project, [*pages, page("/here", f"# Here\n\n{FILLER * 20} zebra")])
    with snapshot():
        near = score_candidates(plan_search(tenant.project, "zebra", current_path="/here"))
        away = score_candidates(plan_search(tenant.project, "zebra"))
    assert "/here" in {section.candidate.path for section in near}
    assert "/here" not in {section.candidate.path for section in away}


def test_a_page_in_the_readers_folder_comes_before_its_like(make_project):
    tenant = make_project()
    ingest(tenant.project, [page(f"/{folder}/labels", "# Labels\n\nPrint labels.") for folder in ("a", "b")])
    for here in ("/a/x", "/b/x"):
        first = find_passages(tenant.project, "labels", current_path=here).hits[0]
        assert first.path == here.replace("x", "labels")


# What an answer keeps to.


@pytest.fixture(scope="module")
def zoo():
    domain = f"zoo-{os.getpid()}"
    project, assistant_key, admin_key = create_project(domain, domain, "https://docs.acme.example", [])
    tenant = Tenant(project, assistant_key, admin_key, domain, project.project_id)
    many = "\n\n".join(f"## Part {n}\n\nzebra" for n in range(20))
    pages = [page(f"/p{99 - n}", f"# Page {n}\n\n{many}", boost=5 if n > 7 else 1) for n in range(60)]
    ingest(tenant.project, [*pages, page("/walrus", "# Walrus\n\nA walrus, no zebra.", description="About it")])
    return tenant


@pytest.mark.parametrize("query", ["zebra", "zebra part", "walrus", "page zebra 3"])
def test_the_first_results_do_not_depend_on_how_many_are_asked_for(zoo, query):
    most = [(hit.path, hit.score) for hit in page_search.find(zoo.project, query, limit=50)]
    for limit in (1, 5, 10, 20, 49):
        assert [(hit.path, hit.score) for hit in page_search.find(zoo.project, query, limit=limit)] == most[:limit]


@pytest.mark.parametrize("query", ["zebra", "zebra part 7", "page", "a zebra of the walrus", "wal"])
def test_every_answer_is_in_order_without_a_page_twice(zoo, query):
    for limit in (1, 10, 50):
        hits = page_search.find(zoo.project, query, limit=limit)
        assert 0 < len(hits) <= limit
        assert len({hit.path for hit in hits}) == len(hits)
        scores = [hit.score for hit in hits]
        assert scores == sorted(scores, reverse=True)
        assert all(0 <= score <= 1 for score in scores)


def test_a_threshold_keeps_exactly_the_scores_at_or_above_it(zoo):
    hits = page_search.find(zoo.project, "zebra walrus", limit=50)
    for threshold in {hit.score for hit in hits}:
        kept = page_search.find(zoo.project, "zebra walrus", limit=50, threshold=threshold)
        assert [hit.path for hit in kept] == [hit.path for hit in hits if hit.score >= threshold]
        above = page_search.find(zoo.project, "zebra walrus", limit=50, threshold=threshold + 0.00005)
        assert [hit.path for hit in above] == [hit.path for hit in hits if hit.score > threshold]


def test_unknown_words_find_nothing_quickly(zoo):
    began = time.process_time()
    assert page_search.find(zoo.project, "qwxyzvk vkqzxw ") == []
    assert (
        page_search.find(zoo.project, " ".join(f"qwx{chr(97 + n % 26)}{chr(97 + n // 26)}vkqz" for n in range(150)))
        == []
    )
    assert time.process_time() - began < 5


ODD = {
    "2,000 characters": "zebra" * 400,
    "500 words": "a zebra " * 250,
    "500 others": " ".join(f"w{number}" for number in range(400))[:2000],
    "quotes": '"zebra" \'zebra\' "',
    "operators": "zebra AND OR NOT NEAR(zebra walrus, 5) zebra* ^zebra +zebra -walrus {title}: zebra | zebra & !zebra",
    "patterns": "zebra % _ \\ ? * [a-z]",
    "SQL": "zebra'; DROP TABLE search_section; --",
    "control characters": "\x01zebra\x7f\u200b\ufeff\u2028",
    "emoji": "🦓 zebra 👨‍👩‍👧",
    "joined marks": "z\u0301\u0301\u0301ebra zebra",
    "Arabic and Hebrew": "حمار زيبرا חמור zebra",
    "override": "\u202ezebra\u202c",
    "East Asian": "斑马 シマウマ 얼룩말 ม้าลาย zebra",
    "wide letters": "ｚｅｂｒａ",
    "capitals": "ZEBRA",
}
NOTHING = {
    "one letter": "q",
    "one sign": "斑",
    "only stop words": "what would you do",
    "only punctuation": "?! … -- ''",
    "only emoji": "🦓🦓",
    "only blanks": " \t\n ",
    "empty": "",
    "Chinese": "斑马在哪里",
    "Arabic": "أين الحمار",
    "Hebrew": "איפה הזברה",
    "Thai": "ม้าลายอยู่ที่ไหน",
    "Japanese": "シマウマはどこですか",
    "Korean": "얼룩말은 어디에 있나요",
}


def search(http, service, tenant, query: str):
    body = json.dumps({"query": query, "pageSize": 3})
    headers = {**tenant.assistant, "Content-Type": "application/json"}
    return http.post(f"{service.url}/discovery/v1/search/{tenant.domain}", content=body, headers=headers)


@pytest.mark.parametrize("kind", ODD)
def test_an_odd_query_still_finds_its_word(http, service, zoo, kind):
    found = search(http, service, zoo, ODD[kind])
    assert found.status_code == 200, found.text
    if kind not in ("2,000 characters", "500 others"):
        assert found.json(), kind


@pytest.mark.parametrize("kind", NOTHING)
def test_a_query_without_a_known_word_finds_nothing(http, service, zoo, kind):
    found = search(http, service, zoo, NOTHING[kind])
    assert (found.status_code, found.json()) == (200, [])


@pytest.mark.parametrize("query", ["zebra\0zebra", "zebra \ud83e"])
def test_what_is_no_text_is_refused_in_a_sentence(http, service, zoo, query):
    assert_error(search(http, service, zoo, query), 400, "query: contains")


@pytest.mark.parametrize(
    "text",
    first_of(
        ["斑马在动物园", "シマウマは動物園", "얼룩말은 동물원에", "ม้าลายอยู่ในสวนสัตว์", "الحمار الوحشي", "זברה בגן החיות"],
        3,
    ),
)
def test_other_scripts_are_found_by_their_own_words(make_project, text):
    tenant = make_project()
    ingest(tenant.project, [page("/a", f"# A\n\n{text}。"), page("/b", "# B\n\nNothing of the kind.")])
    hits = page_search.find(tenant.project, text[:4])
    assert [hit.path for hit in hits] == ["/a"]
    assert hits[0].highlights
    assert all(text.startswith(hits[0].excerpt[start:end][:1]) or start for start, end in hits[0].highlights)


# The model.


def test_every_feature_is_in_its_range_and_has_a_weight(zoo):
    with snapshot():
        found = score_candidates(plan_search(zoo.project, "zebra part walrus", current_path="/p3"))
    assert set(MODEL.weights) <= set(FEATURES)
    for section in found:
        assert len(section.features) == len(FEATURES)
        for name, value in zip(FEATURES, section.features, strict=True):
            assert (-1 if name == "lead" else 0) <= value <= 1, name


def test_a_score_is_the_logistic_function_of_the_weighted_features():
    model = Model(-1.0, {"words": 2.0, "intro": 1.0})
    rows = np.array([[0.5 if name == "words" else 0.0 for name in FEATURES]] * 2)
    assert model.score(rows) == [0.5, 0.5]
    assert model.score(rows, np.array([1, 3])) == [0.5, 0.75]
    assert max(Model(1000.0, {}).score(rows)) <= 1
    assert min(Model(-1000.0, {}).score(rows)) >= 0


def test_too_many_words_are_no_trouble(zoo):
    with snapshot():
        assert len(plan_search(zoo.project, " ".join(f"zebra{n}" for n in range(200))).query.terms) == MAX_TERMS


def test_the_page_about_search_names_every_feature_with_its_weight():
    rows = re.findall(r"^\| `(\w+)` \| (.+) \| (\S+) \|$", navigation.pages()["how-it-works"].body, re.MULTILINE)
    expected = [(name, found, f"{MODEL.weights.get(name, 0.0):+.1f}") for name, found in FEATURES.items()]
    assert rows == expected, "\n".join(f"| `{name}` | {found} | {weight} |" for name, found, weight in expected)
    assert math.isfinite(ranking.MODEL.intercept)
