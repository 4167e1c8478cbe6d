"""Finding sections: identifiers, filters, order, scores; and the endpoint around it."""

import time
from itertools import islice, product

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from search.hits import Filters
from search.indexing.ingest import ingest
from search.retrieval import excerpts, page_search, stored_pages
from search.retrieval import passages as passages_module
from search.retrieval.answerability import MIN_CLOSE_CHANCE
from search.retrieval.passages import find_passages
from search.sources import Page
from search.text import analysis
from search.text.analysis import content_words, terms
from search.text.markdown.cutting import cut_markdown
from search.text.terms import Marks
from tests.conftest import assert_error
from tests.variants import first_of


def put(tenant, *pages: Page) -> None:
    ingest(tenant.project, pages)


def page(path: str, markdown: str, **more) -> Page:
    return Page(origin=path, path=path, markdown=markdown, **more)


LIMITS = (
    "# Errors\n\nLimits, limits: what limits are, and which limits apply.\n\n## Rate limits\n\nEach has a window.\n"
)


@pytest.mark.parametrize(
    ("query", "markdown", "section"),
    [
        ("limits", LIMITS, "Rate limits"),
        ("errors", LIMITS, "Errors"),
        (
            "api webhook",
            "# API\n\nA webhook.\n\n## Add a webhook\n\nDo it.\n\n## API webhook\n\nMore.\n",
            "API webhook",
        ),
        ("window", LIMITS, "Rate limits"),
    ],
)
def test_the_section_whose_heading_has_the_whole_query_leads_its_page(make_project, query, markdown, section):
    tenant = make_project()
    put(tenant, page("/errors", markdown, description="All limits"), page("/b", "# B\n\nNothing of the kind."))
    (hit,) = page_search.find(tenant.project, query)
    assert (hit.section or hit.title) == section
    assert hit.section not in [other.section for other in hit.others]


def test_the_section_that_another_one_leads_stays_the_first_of_the_others(make_project):
    tenant = make_project()
    parts = [f"## Part {number}\n\n{'Window. ' * (9 - number)}" for number in range(5)]
    put(tenant, page("/a", "\n\n".join(["# A", "Window, window.", *parts, "## Window", "Open it."])))
    (hit,) = page_search.find(tenant.project, "window")
    assert hit.section == "Window"
    scores = [other.score for other in hit.others]
    assert scores == sorted(scores, reverse=True)
    assert hit.score >= scores[0]


@pytest.mark.parametrize(
    ("name", "queries"),
    [
        ("useChat", ["useChat", "use chat", "usechat", "UseChat()"]),
        ("django.db.models", ["django.db.models", "django db models", "models"]),
        ("--no-cache", ["--no-cache", "no cache", "nocache"]),
        ("ACME_HOME", ["ACME_HOME", "acme home", "acmehome"]),
        ("HTTPServer2", ["HTTPServer2", "http server 2", "httpserver2"]),
    ],
)
def test_a_code_name_is_found_however_it_is_typed(make_project, name, queries):
    tenant = make_project()
    put(tenant, page("/a", f"# A\n\nCall `{name}` first."), page("/b", "# B\n\nNothing of the kind."))
    for query in queries:
        assert [hit.path for hit in page_search.find(tenant.project, query)][:1] == ["/a"], query


@pytest.mark.parametrize(
    "query",
    ['"', "'", "*", "a AND", "NEAR(a b)", "install*", "-", "(", ")", "^", ":", "title:x", "😀", "\x01", "%", "_", "--"],
)
def test_a_query_is_text_whatever_it_holds(http, service, shared_project, query):
    response = http.post(
        f"{service.url}/discovery/v1/search/{shared_project.domain}",
        json={"query": query},
        headers=shared_project.assistant,
    )
    assert response.status_code == 200
    assert isinstance(response.json(), list)


def test_the_readers_page_has_a_place_among_the_passages(make_project):
    tenant = make_project()
    others = [page(f"/zebra{n}", f"# Zebra {n}\n\nZebras eat grass number {n}.") for n in range(6)]
    put(tenant, *others, page("/here", "# Lions\n\nLions sleep.\n\n## Food\n\nThey eat."))
    question = "what do zebras eat"
    assert "/here" not in [hit.path for hit in find_passages(tenant.project, question, limit=4).hits]
    hits = find_passages(tenant.project, question, limit=4, current_path="/here").hits
    assert len({hit.path for hit in hits}) == 4
    assert [hit.path for hit in hits][-1] == "/here"


def test_what_the_readers_language_lacks_is_answered_in_that_of_the_front_page(make_project):
    tenant = make_project()
    german = "# Teile\n\nDie Teile. Man setzt Acme ein, ehe man die Teile legt, und prüft dann das Ziel."
    put(
        tenant,
        page("/", "# Acme\n\nStart here with Acme.", language="en"),
        page("/options", "# ACME_HOME\n\n`ACME_HOME` is the folder of the data.", language="en"),
        page("/de/start", german, language="de"),
    )
    question = "Teile für ACME_HOME setzen"
    passages = find_passages(tenant.project, question, current_path="/de/start")
    assert passages.hits[0].path == "/options"
    only_german = find_passages(tenant.project, question, current_path="/de/start", filters=Filters(language="de"))
    assert [hit.path for hit in only_german.hits] == ["/de/start"]


@pytest.mark.parametrize("current_path", ["", "/de"])
def test_what_the_questions_language_lacks_is_translated(make_project, current_path):
    tenant = make_project()
    put(
        tenant,
        page("/", "# Acme\n\nStart here with Acme.", language="en"),
        page("/passwords", "# Change a password\n\nA user changes the password on the account page.", language="en"),
        page("/de", "# Acme\n\nWie man mit Acme beginnt: Laden Sie es herunter und starten Sie es.", language="de"),
    )
    passages = find_passages(tenant.project, "Wie ändere ich mein Passwort?", current_path=current_path)
    assert passages.hits[0].path == "/passwords"
    assert find_passages(tenant.project, "Wie beginnt man mit Acme?").hits[0].path == "/de"


def test_the_last_word_of_a_question_is_not_completed(make_project):
    tenant = make_project()
    put(tenant, page("/nav", "# Breadcrumbs\n\nBreadcrumbs show the way."), page("/b", "# Rules\n\nRead them."))
    assert [hit.path for hit in page_search.find(tenant.project, "bread")] == ["/nav"]
    assert find_passages(tenant.project, "how do I bake bread").chance < MIN_CLOSE_CHANCE


def test_chinese_and_japanese_are_found_by_their_characters(make_project):
    tenant = make_project()
    put(tenant, page("/zh", "# 安装指南\n\n如何安装软件包。"), page("/ja", "# 設定\n\n環境変数を設定します。"))
    assert [hit.path for hit in page_search.find(tenant.project, "安装")] == ["/zh"]
    assert [hit.path for hit in page_search.find(tenant.project, "環境変数")][:1] == ["/ja"]


def test_another_language_is_stemmed_as_its_own(make_project):
    tenant = make_project()
    put(
        tenant,
        page("/es", "# Configuración\n\nLas instalaciones.", language="es"),
        page("/en", "# Setup\n\nInstallations.", language="en"),
    )
    assert [hit.path for hit in page_search.find(tenant.project, "configuracion instalación")][:1] == ["/es"]
    assert [hit.path for hit in page_search.find(tenant.project, "installing setups")][:1] == ["/en"]


def test_pages_fill_the_answer_though_each_holds_many_sections(make_project):
    tenant = make_project()
    many = "\n\n".join(f"## Part {number}\n\nzebra" for number in range(20))
    put(tenant, *(page(f"/p{number}", f"# Page {number}\n\n{many}") for number in range(40)))
    assert len(page_search.find(tenant.project, "zebra", limit=30)) == 30


def test_a_version_may_hold_any_digit(make_project):
    tenant = make_project()
    put(tenant, page("/a", "# Widgets", version="v2²"), page("/b", "# Widgets", version="v10"))
    assert [hit.path for hit in page_search.find(tenant.project, "widgets", filters=Filters(version="latest"))] == [
        "/b"
    ]


def test_filters_are_exact_and_ignore_case(make_project):
    tenant = make_project()
    put(
        tenant,
        page("/v1", "# Widgets", version="0.9", language="en", tags=("Guide",)),
        page("/v2", "# Widgets", version="0.12", language="es"),
        page("/all", "# Widgets"),
    )

    def paths(**filters):
        return {hit.path for hit in page_search.find(tenant.project, "widgets", filters=Filters(**filters))}

    assert paths() == {"/v1", "/v2", "/all"}
    assert paths(version="0.9") == {"/v1", "/all"}
    assert paths(version="latest") == {"/v2", "/all"}
    assert paths(version="7") == {"/all"}
    assert paths(language="ES") == {"/v2", "/all"}
    assert paths(tag="guide") == {"/v1"}
    assert paths(tag="guide", version="0.12") == set()


def test_one_hit_a_page_by_its_best_section(project):
    hits = page_search.find(project.project, "install acme with pip")
    assert [hit.path for hit in hits].count("/install") == 1
    best = hits[0]
    assert (best.path, best.anchor) == ("/install", "with-pip")
    assert best.url == "https://docs.acme.example/install#with-pip"
    assert best.breadcrumb == ("Installing acme", "With pip")
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


def test_passages_are_at_most_two_a_page_and_know_the_readers_page(project):
    hits = find_passages(project.project, "acme", limit=20).hits
    paths = [hit.path for hit in hits]
    assert max(paths.count(path) for path in paths) <= 2
    there = find_passages(project.project, "acme", current_path="/configure", limit=20).hits
    odds = [
        score / (1 - score)
        for score in (next(hit.score for hit in found if hit.path == "/configure") for found in (hits, there))
    ]
    assert odds[1] > 4 * odds[0]


def test_an_excerpt_is_around_the_match(make_project):
    tenant = make_project()
    put(tenant, page("/a", "# A\n\n" + "filler words " * 200 + "the platypus hides here " + "more filler " * 200))
    excerpt = page_search.find(tenant.project, "platypus")[0].excerpt
    assert "platypus hides" in excerpt
    assert len(excerpt) <= excerpts.LENGTH + 2


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    first_of(
        [
            ("Print the labels of every printer.", "printing label", ["Print", "labels"]),
            ("😀👨‍👩‍👧 The 🦓 zebra runs. Zebras!", "zebra", ["zebra", "Zebras"]),
            ("Café, naïve: the zebra.", "zebra", ["zebra"]),
            ("Cafe\u0301 and\u0308 z\u0301 the zebra.", "zebra", ["zebra"]),
            ("如何安装软件包。", "软件", ["软件"]),
            ("Take /discovery/v1/search/acme.", "search", ["search"]),
            ("הזברה רצה: zebra מהר", "zebra", ["zebra"]),
            ("الحمار الوحشي يركض", "الوحشي", ["الوحشي"]),
            ("ﬁne ｚｅｂｒａ and zebra", "zebra", ["ｚｅｂｒａ", "zebra"]),
            ("Call `useChat()` or use-chat, usechat.", "useChat", ["useChat", "use-chat", "usechat"]),
            ("The --no-cache flag, NO_CACHE too.", "nocache ", ["no-cache", "NO_CACHE"]),
            ("Cities and ties, tie it, a city.", "city ", ["Cities", "city"]),
            ("Set `ACME_HOME` or acme.home.", "acme_home", ["ACME_HOME", "acme.home"]),
            ("Its visibility is visible.", "visible ", ["visibility", "visible"]),
            ("instalation is installing", "instal", ["instalation"]),
        ],
        8,
    ),
)
def test_highlights_are_where_the_words_stand(make_project, text, query, marked):
    """Offsets count code points of the excerpt."""
    tenant = make_project()
    put(tenant, page("/a", f"# A\n\n{text}"), page("/b", "# B\n\nNothing of the kind."))
    hit = page_search.find(tenant.project, query)[0]
    found = [hit.excerpt[start:end] for start, end in hit.highlights]
    assert [path for path in found if path in marked] == marked
    assert len(found) == len(marked) or query == "instal"


def test_each_form_of_a_word_is_marked():
    text = "Zebras graze. Feed the zebra " + "x" * 200 + " zebra, not its Stripes (zebra-stripes)."
    wanted = Marks(frozenset(analysis.terms("zebra stripes")))
    excerpt, marks = excerpts.build_excerpt(text, excerpts.Highlighter(wanted))
    assert [excerpt[start:end] for start, end in marks] == ["Zebras", "zebra", "zebra", "Stripes", "zebra", "stripes"]
    assert excerpts.build_excerpt(text, excerpts.Highlighter(Marks(frozenset(["graze"]))))[1] == ((7, 12),)


def test_highlights_hold_where_the_excerpt_is_cut(make_project):
    tenant = make_project()
    put(tenant, page("/a", "# A\n\n" + "fill 🦓 " * 60 + "the platypus hides, platypus! " + "more é " * 60))
    hit = page_search.find(tenant.project, "platypus")[0]
    assert [hit.excerpt[start:end] for start, end in hit.highlights] == ["platypus", "platypus"]
    assert hit.excerpt.startswith("…")
    assert hit.excerpt.endswith("…")


@pytest.mark.parametrize("words", ["parallelogram ", "short a b ", "internationalization-of-everything "])
@pytest.mark.parametrize("before", first_of([0, 5, 60, 61, 62, 63], 6))
def test_an_excerpt_is_clean_text_cut_between_words(make_project, words, before):
    tenant = make_project()
    text = words * before + "**the** [platypus](https://a.example/x) hides in `code_name()` " + words * 60
    put(tenant, page("/a", f"# A\n\n> {text}\n\n| a | b |\n| - | - |\n| 1 | 2 |"))
    excerpt = page_search.find(tenant.project, "platypus")[0].excerpt
    assert "the platypus hides in code_name()" in excerpt
    assert not set("*`[]|") & set(excerpt)
    known = {*words.split(), "the", "platypus", "hides", "in", "code_name()", *"ab12"}
    assert set(excerpt.strip("…").split(" ")) <= known
    assert len(excerpt) <= excerpts.LENGTH + 2


def test_the_excerpt_shows_the_words_that_belong_together(make_project):
    tenant = make_project()
    far = "lonely platypus " + "filler text " * 60
    put(tenant, page("/a", f"# A\n\n{far}the platypus lays eggs{' more text' * 60}"))
    assert "platypus lays eggs" in page_search.find(tenant.project, "platypus eggs")[0].excerpt


def test_unknown_words_give_nothing(project):
    assert page_search.find(project.project, "xylophone quux") == []
    assert page_search.find(project.project, "") == []


def test_stop_words_go_only_where_others_stay():
    assert content_words("how do I install it") == ["install"]
    assert content_words("how to") == ["how", "to"]


def test_terms_hold_parts_and_the_joined_form():
    assert terms("useChat") == ["use", "chat", "usechat"]
    assert terms("a.b_c") == ["a", "b", "c", "bc", "abc"]
    assert terms("C++ and C#") == ["c", "cplusplus", "and", "c", "csharp"]


def search(http, service, tenant, **body):
    return http.post(f"{service.url}/discovery/v1/search/{tenant.domain}", json=body, headers=tenant.assistant)


def test_the_answer_has_the_specified_shape(http, service, project):
    response = search(http, service, project, query="install acme with pip", pageSize=2)
    first = response.json()[0]
    assert set(first) == {"content", "path", "metadata"}
    assert first["path"] == "/install"
    metadata = first["metadata"]
    assert metadata["title"] == "Installing acme"
    assert metadata["section"] == "With pip"
    assert metadata["breadcrumb"] == ["Installing acme", "With pip"]
    assert metadata["url"] == "https://docs.acme.example/install#with-pip"
    assert 0 < metadata["score"] <= 1
    marked = [first["content"][start:end] for start, end in metadata["highlights"]]
    assert {"install", "acme"} <= set(marked)
    assert len(response.json()) == 2
    tagged = search(http, service, project, query="ACME_HOME").json()[0]["metadata"]
    assert (tagged["version"], tagged["tags"]) == ("2.0", ["settings"])


def test_a_threshold_is_inclusive(http, service, project):
    scores = [item["metadata"]["score"] for item in search(http, service, project, query="install acme").json()]
    assert len(scores) > 1
    for threshold in scores:
        kept = search(http, service, project, query="install acme", scoreThreshold=threshold).json()
        assert [item["metadata"]["score"] for item in kept] == [score for score in scores if score >= threshold]


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "query: "),
        ({"query": None}, "query: "),
        ({"query": 7}, "query: "),
        ({"query": ["x"]}, "query: "),
        ({"query": "x" * 2001}, "query: "),
        ({"query": "x", "pageSize": 0}, "pageSize"),
        ({"query": "x", "pageSize": 51}, "pageSize"),
        ({"query": "x", "pageSize": 1.5}, "pageSize"),
        ({"query": "x", "pageSize": "5"}, "pageSize"),
        ({"query": "x", "pageSize": True}, "pageSize"),
        ({"query": "x", "pageSize": 1e300}, "pageSize: "),
        ({"query": "x", "pageSize": None}, "pageSize: must be a number"),
        ({"query": "x", "scoreThreshold": -0.1}, "scoreThreshold"),
        ({"query": "x", "scoreThreshold": 1.1}, "scoreThreshold"),
        ({"query": "x", "filter": "v2"}, "filter: must be an object"),
        ({"query": "x", "filter": {"version": 2}}, "filter.version: "),
    ],
)
def test_a_bad_search_names_its_field(http, service, shared_project, body, field):
    assert_error(search(http, service, shared_project, **body), 400, field)


def test_bounds_and_unknown_fields_are_accepted(http, service, project):
    for body in ({"pageSize": 50}, {"pageSize": 1}, {"pageSize": 3.0}, {"scoreThreshold": 0}, {"scoreThreshold": 1}):
        assert search(http, service, project, query="install", **body).status_code == 200
    assert search(http, service, project, query="install", filter=None, other={"a": 1}).status_code == 200
    assert search(http, service, project, query="install", filter={"other": 1, "tag": None}).json()


def test_a_tenant_finds_only_its_own(http, service, project, make_project):
    other = make_project()
    put(other, page("/secret", "# Installing secrets"))
    assert "/secret" not in {item["path"] for item in search(http, service, project, query="installing secrets").json()}


def test_a_result_names_other_sections_of_its_page(http, service, make_project):
    tenant = make_project()
    put(tenant, page("/a", "# Animals\n\n## Zebra\n\nA zebra.\n\n## Feeding a zebra\n\nHay.\n\n## Walrus\n\nFish."))
    metadata = search(http, service, tenant, query="zebra").json()[0]["metadata"]
    assert metadata["section"] == "Zebra"
    assert [(other["section"], other["url"]) for other in metadata["sections"]] == [
        ("Feeding a zebra", "https://docs.acme.example/a#feeding-a-zebra")
    ]
    assert metadata["sections"][0]["score"] <= metadata["score"]
    assert "sections" not in search(http, service, tenant, query="walrus").json()[0]["metadata"]


@pytest.mark.parametrize(
    "query", first_of(["uv", "Herd", "herd.create_all", "create_all", "createAll", "--herd-size", "createall"], 1)
)
def test_what_is_called_so_is_found_among_hundreds_that_mention_it(make_project, query):
    """Each of the queries is the name of one page or heading, and its words stand more often in 150 others."""
    tenant = make_project()
    named = {
        "/uv": "Nothing else.",
        "/herd": "A page.",
        "/reference": "## herd.create_all(animals[, options])\n\nReturns.\n\n## `-s`, `--herd-size <n>`\n\nA number.",
    }
    crowd = "uv herd create all size. Herd `herd.create_all`, `createAll` and `--herd-size` in uv. " * 6
    put(
        tenant,
        *(page(path, f"# {path[1:].capitalize()}\n\n{body}") for path, body in named.items()),
        *(page(f"/{n}", f"# Page {n}\n\n## Part {n}\n\n{crowd}") for n in range(150)),
    )
    expected = {"uv": "/uv", "Herd": "/herd"}.get(query, "/reference")
    assert page_search.find(tenant.project, query)[0].path == expected


def test_readers_get_the_language_and_the_version_of_their_page(make_project):
    tenant = make_project()
    put(
        tenant,
        page("/", "# Kestrel\n\nA product.", language="en"),
        page("/install", "# Install\n\nInstall Kestrel with pip.", language="en", version="2"),
        page("/1/install", "# Install\n\nInstall Kestrel with pip.", language="en", version="1"),
        page("/1/auth", "# Access\n\nTokens.", language="en", version="1"),
        page("/de/install", "# Install\n\nKestrel mit pip installieren, install.", language="de", version="2"),
        page("/de/auth", "# Zugang\n\nWer darf hinein.", language="de", version="2"),
        page("/de/umgebung", "# Umgebungsvariablen\n\nNamen und Werte.", language="de", version="2"),
    )

    def first(query: str, path: str = "") -> str:
        return find_passages(tenant.project, query, current_path=path).hits[0].path

    assert first("install kestrel with pip") == "/install"
    assert first("install kestrel with pip", "/1/auth") == "/1/install"
    assert first("install kestrel", "/de/auth") == "/de/install"
    alone = page_search.find(tenant.project, "Umgebungsvariablen")[0]
    assert (alone.path, alone.score > 0.5) == ("/de/umgebung", True), "nothing in English has the word"


def test_the_context_is_searched_where_the_question_has_no_words(make_project):
    tenant = make_project()
    put(
        tenant,
        page("/a", "# Storage\n\n`AsyncLocalStorage` keeps a store for each call."),
        page("/b", "# This\n\nWhat does this do? What this does, explained."),
        *(page(f"/{n}", f"# Page {n}\n\nWhat this page {n} does.") for n in range(20)),
    )
    hits = find_passages(tenant.project, "what does this do?", context=["new AsyncLocalStorage()"]).hits
    assert hits[0].path == "/a"


def test_the_readers_page_comes_only_where_the_filter_lets_it_in(make_project):
    tenant = make_project()
    put(
        tenant,
        page("/old", "# Old\n\nZebra.", version="1", language="en", tags=("Guide",)),
        page("/new", "# New\n\nZebra.", version="2", language="de", tags=("Guide", "api")),
        page("/any", "# Any\n\nZebra."),
        page("/other", "# Other\n\nWalrus."),
    )

    def paths(here: str, **filters) -> set[str]:
        hits = find_passages(tenant.project, "is it a walrus", filters=Filters(**filters), current_path=here).hits
        return {hit.path for hit in hits} - {"/other"}

    for here in ("/old", "/new", "/any"):
        assert paths(here) == {here}, "the page that the reader may mean, though it says nothing of the matter"
    let_in = [
        ({"version": "1"}, {"/old", "/any"}),
        ({"version": " 2 "}, {"/new", "/any"}),
        ({"version": "latest"}, {"/new", "/any"}),
        ({"version": "3"}, {"/any"}),
        ({"language": "EN"}, {"/old", "/any"}),
        ({"language": "de"}, {"/new", "/any"}),
        ({"tag": "guide"}, {"/old", "/new"}),
        ({"tag": "API"}, {"/new"}),
        ({"tag": "guide", "version": "1", "language": "en"}, {"/old"}),
        ({"tag": "guide", "version": "1", "language": "de"}, set()),
    ]
    for filters, expected in let_in:
        assert {here for here in ("/old", "/new", "/any") if paths(here, **filters)} == expected, filters


def test_a_passage_knows_what_stands_above_it(make_project):
    tenant = make_project()
    put(
        tenant,
        page("/a", "# A\n\nIntro.\n\n## One\n\n**First** zebra.\n\n## Two\n\nSecond zebra zebra.\n\n## End\n\nLast."),
        page("/b", "# B\n\nZebra.\n\n## More\n\nNothing."),
    )
    hits = find_passages(tenant.project, "zebra").hits
    assert {(hit.path, hit.text, "\n".join(hit.above)) for hit in hits} == {
        ("/a", "First zebra.", "Intro.\nOne"),
        ("/a", "Second zebra zebra.", "Intro.\nOne\nFirst zebra.\nTwo"),
        ("/b", "Zebra.", ""),
    }


@pytest.mark.matrix
def test_a_passage_of_a_huge_page_has_only_the_nearest_text_above(make_project, monkeypatch):
    tenant = make_project()
    releases = "\n\n".join(f"## {number}\n\nRelease {number} of it." for number in range(5000))
    put(tenant, page("/changes", f"# Changes\n\n{releases}\n\n## End\n\nZebra.\n\n## After\n\n{'word ' * 300}"))
    hit = find_passages(tenant.project, "zebra", limit=1).hits[0]
    assert (hit.text, len(hit.above)) == ("Zebra.", 10_001)
    monkeypatch.setattr(stored_pages, "MAX_ABOVE", 1000)
    hit = find_passages(tenant.project, "zebra", limit=1).hits[0]
    assert hit.text == "Zebra."
    assert hit.above[-4:] == ("Release 4998 of it.", "4999", "Release 4999 of it.", "End")
    assert 1000 < sum(map(len, hit.above)) < 1400
    monkeypatch.setattr(stored_pages, "MAX_ABOVE", 1)
    hit = find_passages(tenant.project, "zebra", limit=1).hits[0]
    assert (hit.text, hit.above) == ("Zebra.", ("End",))


def test_a_passage_knows_the_sections_that_follow_it(make_project):
    tenant = make_project()
    sections = "\n\n".join(f"## Part {number}\n\nText." for number in range(5))
    put(tenant, page("/a", f"# A\n\n## Start\n\nZebra.\n\n{sections}"))
    hit = find_passages(tenant.project, "zebra").hits[0]
    assert [(place.label, place.link) for place in hit.following] == [
        ("Part 0", "/a#part-0"),
        ("Part 1", "/a#part-1"),
        ("Part 2", "/a#part-2"),
    ]


def test_a_section_beside_a_passage_that_says_too_little_stays_away(make_project):
    tenant = make_project()
    long = "It tells a long story about animals. " * 4
    put(tenant, page("/a", f"# A\n\n## One\n\n{long}\n\n## Two\n\nZebra.\n\n## Three\n\nToo short."))
    assert [hit.section for hit in find_passages(tenant.project, "zebra", max_characters=1000).neighbours] == ["One"]


def test_the_sections_beside_the_passages_come_along_as_far_as_they_fit(make_project, monkeypatch):
    monkeypatch.setattr(passages_module, "MIN_NEIGHBOUR", 1)
    tenant = make_project()
    put(
        tenant,
        page("/a", "# A\n\nIntro.\n\n## One\n\nBefore it.\n\n## Two\n\nZebra.\n\n## Three\n\nAfter it, [here](/b).\n\n"
             "## Empty\n\n## Four\n\nFar."),
        page("/b", "# B\n\nZebra, zebra, and more of it.\n\n## More\n\nAfter B."),
    )  # fmt: skip
    found = find_passages(tenant.project, "zebra", max_characters=1000)
    assert {hit.url.partition("example")[2] for hit in found.hits} == {"/a#two", "/b"}
    beside = {(hit.path, hit.section, hit.text, hit.body) for hit in found.neighbours}
    link = f"[here]({found.hits[0].url.partition('example')[0]}example/b)"
    assert beside == {
        ("/a", "One", "Before it.", "Before it."),
        ("/a", "Three", "After it, here.", f"After it, {link}."),
        ("/b", "More", "After B.", "After B."),
    }
    scores = {hit.path: hit.score for hit in found.hits}
    assert all(hit.score == scores[hit.path] for hit in found.neighbours)
    after = next(hit for hit in found.neighbours if hit.section == "Three")
    assert after.above == ("Intro.", "One", "Before it.", "Two", "Zebra.", "Three")
    size = sum(len(hit.body) for hit in found.hits)
    few = find_passages(tenant.project, "zebra", max_characters=size + len("Before it."))
    assert [hit.section for hit in few.neighbours] == ["More"]
    assert not find_passages(tenant.project, "zebra", max_characters=size).neighbours
    assert not find_passages(tenant.project, "zebra").neighbours


def test_passages_say_how_many_pages_the_index_has(make_project):
    tenant = make_project()
    put(tenant, page("/a", "# A\n\nZebra."))
    assert find_passages(tenant.project, "zebra").page_count == 1
    put(tenant, page("/a", "# A\n\nZebra."), page("/b", "# B\n\nZebra."))
    assert find_passages(tenant.project, "zebra").page_count == 2
    put(tenant, page("/b", "# B\n\nZebra."))
    assert find_passages(tenant.project, "zebra").page_count == 1


def test_a_search_for_passages_takes_few_queries(make_project):
    tenant, more = make_project(), "More. " * 25
    put(tenant, *(page(f"/{number}", f"# {number}\n\nZebra.\n\n## More\n\n{more}") for number in range(5)))
    find_passages(tenant.project, "zebra", max_characters=1000)
    with CaptureQueriesContext(connection) as asked:
        assert find_passages(tenant.project, "zebra", max_characters=1000).neighbours
    tables = [query["sql"].split(" FROM ")[1].split()[0].strip('"') for query in asked if " FROM " in query["sql"]]
    tables.remove("search_section")  # the best ones are read first, to compare them with the question
    assert sorted(set(tables)) == sorted(tables), "each table is read once"


def test_only_the_first_passage_of_a_page_has_an_excerpt(make_project):
    tenant = make_project()
    put(tenant, page("/a", "# A\n\n## One\n\nA zebra eats.\n\n## Two\n\nA zebra sleeps."), page("/b", "# B\n\nZebra."))
    hits = find_passages(tenant.project, "zebra", max_characters=1000).hits
    assert len(hits) == 3
    firsts = [hit.path not in [other.path for other in hits[:number]] for number, hit in enumerate(hits)]
    assert [bool(hit.excerpt) for hit in hits] == firsts
    assert sorted(firsts) == [False, True, True]


def test_an_answer_mixes_neither_languages_nor_versions(make_project):
    tenant = make_project()
    put(
        tenant,
        page("/walrus", "# The walrus\n\nWhat the walrus eats: fish.", language="en", version="2"),
        page("/es/walrus", "# The walrus\n\nWalrus: lo que come, fish.", language="es", version="2"),
        page("/1/walrus", "# The walrus\n\nWhat the walrus eats: mussels.", language="en", version="1"),
        page("/sea", "# The sea\n\nHome of the walrus."),
    )
    paths = {hit.path for hit in find_passages(tenant.project, "what the walrus eats").hits}
    assert paths == {"/walrus", "/sea"}
    found = {hit.path for hit in page_search.find(tenant.project, "what the walrus eats")}
    assert found == {"/walrus", "/1/walrus", "/sea"}, "a search shows both versions, and one of the translations"


def test_a_title_in_bold_is_found_by_its_words(make_project):
    tenant = make_project()
    asked = "**Can this work behind a proxy?**\n\nIt can, with patience."
    other = "Some work goes through a proxy, other work does not. The proxy is work."
    put(tenant, page("/faq", f"# FAQ\n\n## Questions\n\n{asked}"), page("/proxy", f"# The proxy\n\n{other}"))
    found = find_passages(tenant.project, "Can this work behind a proxy?")
    assert found.hits[0].path == "/faq"
    assert found.chance > 0.5


def test_a_selection_of_many_names_is_looked_for_within_bounds(make_project, monkeypatch):
    tenant = make_project()
    ingest(
        tenant.project, [Page("a.md", "/a", "# A\n\n## First\n\nUse `setParcel`.\n\n## Second\n\nUse `lastName1`.\n")]
    )
    looked_up: list[str] = []
    real = analysis.name_of
    monkeypatch.setattr(analysis, "name_of", lambda text: looked_up.append(text) or real(text))
    code = " ".join(f"myName{number}" for number in range(900))
    hits = find_passages(tenant.project, "explain", context=[f"setParcel {code}"] * 20, current_path="/a").hits
    assert hits[0].section == "First"
    assert len(looked_up) < 1_000


@pytest.mark.matrix
def test_fifty_selections_of_distinct_words_cost_no_more_than_one(make_project):
    words = ["".join(letters) for letters in islice(product("abcdefghij", repeat=5), 50 * 5_000)]
    selections = [" ".join(words[at : at + 5_000]) for at in range(0, len(words), 5_000)]
    tenant = make_project()
    text = " ".join(words[:2_000])
    ingest(tenant.project, [Page("a.md", "/a", f"# Parcels\n\n{text}\n")])

    def cpu_seconds(context: list[str]) -> float:
        began = time.process_time()
        assert find_passages(tenant.project, "explain", context=context, current_path="/a").hits[0].path == "/a"
        return time.process_time() - began

    one, fifty = (min(cpu_seconds(context) for _ in range(4)) for context in (selections[:1], selections))
    assert fifty < 2 * one + 0.02


def test_a_huge_section_is_cut_for_an_answer(make_project):
    tenant = make_project()
    code = "zebra = 1\n" * 10_000
    ingest(tenant.project, [Page("a.md", "/a", f"# A\n\n## Zebra\n\nThe zebra:\n\n```py\n{code}```\n")])
    body = find_passages(tenant.project, "zebra").hits[0].body
    assert len(body) < 21_000
    assert body.endswith("\n```")


def test_a_cut_text_closes_its_code():
    assert cut_markdown("~~~\nabc\n~~~\nabc", 8) == "~~~\nabc\n\n~~~"
    assert cut_markdown("~~~\nabc\n~~~\nabc", 13) == "~~~\nabc\n~~~\na"
