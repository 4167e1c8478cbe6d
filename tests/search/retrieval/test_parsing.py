"""Parsing a query: spelling, completion, stop words, and terms from the context."""

import re

import pytest

from search.hits import Filters
from search.indexing.ingest import ingest
from search.models import Index
from search.retrieval import index_state, parsing
from search.retrieval.page_search import find
from search.retrieval.parsing import (
    COMPLETED,
    CONTEXT,
    CORRECTED,
    JOINED,
    MAX_CONTEXT_TERMS,
    MAX_TERMS,
    POSSIBLY_COMPLETED,
    SPLIT,
    parse,
)
from search.retrieval.plan import plan_search
from search.sources import Page
from search.text import analysis
from search.text.compounds import Compounds
from search.text.owner_words import parse_synonyms
from search.text.vocabulary import Vocabulary


def vocabulary(*texts: str) -> Vocabulary:
    """The words of an index with these sections."""
    made = Vocabulary()
    made.add(analysis.index_texts([text])[1:] for text in texts)
    return made


WORDS = vocabulary(
    "install the parcels", "installation of parcels", "configure webhooks", "useChat hook", "timeout", "404 error",
    "data base", "database", "configuration", "parcel printer", "cat",
)  # fmt: skip


def spellings(text: str, known: Vocabulary = WORDS) -> dict[str, dict[str, float]]:
    """By word what stands for it, and how surely."""
    found: dict[str, dict[str, float]] = {}
    for term in parse(text, known).terms:
        found.setdefault(term.word, {}).update(term.spellings)
    return found


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("timeou ", "timeout"),  # a letter is missing
        ("timeoutt ", "timeout"),  # one too many
        ("timeoux ", "timeout"),  # a wrong one
        ("tiemout ", "timeout"),  # two swapped
        ("itmeout ", "timeout"),  # at the beginning
        ("confgiuraton ", "configuration"),  # two mistakes in a long word
        ("pirnter ", "printer"),
    ],
)
def test_a_misspelt_word_is_corrected(typed, meant):
    assert spellings(typed) == {typed.strip(): {analysis.stem(meant): CORRECTED}}


@pytest.mark.parametrize(
    "typed",
    [
        "tmeut ",  # two mistakes in a short word
        "dog ",  # three letters
        "cot ",
        "405 ",  # numbers
        "4044 ",
        "xylophone ",
    ],
)
def test_what_is_too_far_is_left_as_it_is(typed):
    assert spellings(typed) == {typed.strip(): {analysis.stem(typed.strip()): 1.0}}


def test_a_known_word_is_never_corrected():
    known = vocabulary(*["form"] * 50, "from-age", "forms", "farm")
    for word in ("farm ", "form ", "forms "):
        assert spellings(word, known) == {word.strip(): {analysis.stem(word.strip()): 1.0}}


def test_the_nearest_corrections_win_and_are_few():
    known = vocabulary("hooking", "booking", "cooking", "looking", "poking")
    assert len(spellings("zooking ", known)["zooking"]) == 3
    assert set(spellings("configuratoin ")["configuratoin"]) == {"configur"}, "not two edits where one is enough"


def test_words_written_as_one_are_split_and_apart_are_joined():
    assert spellings("parcelprinter ") == {"parcelprinter": {"parcel": SPLIT, "printer": SPLIT}}
    joined = {term.word: term.weight for term in parse("use chat ", WORDS).terms}
    assert joined == {"use": 1.0, "chat": 1.0, "usechat": JOINED}


@pytest.mark.parametrize(("text", "words"), [("min or max ", ["min", "max"]), ("not found ", ["not", "found"])])
def test_words_between_code_names_are_no_part_of_a_name(text, words):
    known = vocabulary("min", "max", "minor", "ormax", "not", "found", "notFound")
    assert [term.word for term in parse(text, known).terms] == words


@pytest.mark.parametrize(
    ("heading", "names"),
    [
        ("useChat or useCompletion", ["usechatorusecompletion", "usechat", "usecompletion"]),
        ("useChat and useCompletion", ["usechatandusecompletion", "usechat", "usecompletion"]),
        ("a_b, c_d, and e_f", ["abcdandef", "ab", "cd", "ef"]),
    ],
)
def test_a_heading_names_each_of_its_names(heading, names):
    assert analysis.names_of(heading) == names


@pytest.mark.parametrize(
    ("text", "other", "is_same"),
    [
        ("How do I install a package?", "Installing packages", True),
        ("Migrate from pip", "Migrate to pip", False),
        ("No answer to a question", "The answer to a question", False),
        ("Fast or small models", "Fast small models", False),
    ],
)
def test_the_content_name_of_a_heading_leaves_out_small_words_but_not_its_sense(text, other, is_same):
    names = [analysis.content_name_of(one) for one in (text, other)]
    assert all(names)
    assert (names[0] == names[1]) == is_same


def test_a_heading_of_one_word_has_no_content_name():
    assert [analysis.content_name_of(text) for text in ("What is it for?", "The packages", "")] == ["", "", ""]


def test_operators_in_code_are_no_names():
    assert analysis.code_names("if not(isReady) and(x_y)") == ["isReady", "x_y"]


@pytest.mark.parametrize(
    ("text", "word", "meant"),
    [
        ("webh", "webh", {"webh": 1.0, "webhook": COMPLETED}),
        ("parcels webh", "webh", {"webh": 1.0, "webhook": COMPLETED}),
        ("install", "install", {"instal": 1.0}),  # all that it may become has its stem
        ("data", "data", {"data": 1.0, "databas": POSSIBLY_COMPLETED}),
        ("webh ", "webh", {"webh": 1.0}),
        ("webh parcels ", "webh", {"webh": 1.0}),
        ("w", "w", {"w": 1.0}),
    ],
)
def test_only_a_last_word_without_a_space_is_completed(text, word, meant):
    assert spellings(text)[word] == meant


def test_a_word_that_may_go_on_is_not_corrected():
    assert set(spellings("timeou")["timeou"]) == {"timeou", "timeout"}


def test_stop_words_go_unless_nothing_else_is_left():
    assert [term.word for term in parse("how do I install the parcels ", WORDS).terms] == ["install", "parcels"]
    assert [term.word for term in parse("how to ", WORDS).terms] == ["how", "to"]


def test_the_context_adds_its_rarest_words_a_little():
    texts = [f"word{'abcdefghijklmnopqrstuvwxyz'[number]}k common" for number in range(26)] + ["useChat use chat"]
    known = vocabulary(*texts, "use", "chat", "install")
    context = ["the common", "call useChat() here unknownword " + " ".join(texts)]
    asked = ("install", "setup", "quickly")
    terms = parse("install setup quickly ", known, context=context).terms
    added = {term.word: term.weight for term in terms[3:]}
    assert [(term.word, term.weight) for term in terms[:3]] == [(word, 1.0) for word in asked]
    assert set(added.values()) == {CONTEXT} == {0.3}
    assert len(added) == MAX_CONTEXT_TERMS == 24
    assert "usechat" in added, "a code name is taken whole"
    assert not {"use", "chat", "common", "the", "unknownword"} & set(added), "the rarest, none that the index lacks"


def test_a_question_of_few_words_is_about_its_context():
    known = vocabulary("option useChat", "install", "option", "chat")
    terms = parse("what does this option do? ", known, context=["const chat = useChat()"]).terms
    assert {(term.word, term.weight) for term in terms} == {("option", 1.0), ("usechat", 1.0), ("chat", 1.0)}


def test_a_word_of_the_question_keeps_its_weight_in_the_context():
    assert [(term.word, term.weight) for term in parse("install ", WORDS, context=["install"]).terms] == [
        ("install", 1)
    ]


def test_a_long_query_is_cut_to_what_can_be_answered(monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr(Vocabulary, "corrections", lambda self, form: asked.append(form) or [])
    query = parse(" ".join(f"unknown{'abcdefghij'[n % 10]}{'klmnopqrst'[n // 10]}" for n in range(100)), WORDS)
    assert len(query.terms) == MAX_TERMS
    assert len(asked) == parsing.MAX_CORRECTED
    assert len(query.pairs) < MAX_TERMS


def test_compounds_are_looked_for_with_the_first_words_only(monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr(Compounds, "_find_ending", lambda self, word, stem: asked.append(word) or iter(()))
    parse(
        "".join(f"{first}{second}en " for first in "bdfgklmnpr" for second in "aeiou"),
        WORDS,
        ("de",),
        preferred_language="de",
    )
    assert 0 < len(asked) <= MAX_TERMS


def test_a_word_of_every_section_is_not_looked_for_where_rarer_ones_find_enough():
    known = Vocabulary(1000)
    known.terms.update({"acm": 990, "parcel": 450, "zebra": 2})
    narrow, wide = parse("acme zebra parcel ", known).engine_queries
    assert (narrow.needed, narrow.scored.keys()) == ({"zebra", "parcel"}, {"zebra", "parcel"})
    assert wide.needed == wide.scored.keys() == {"acm", "zebra", "parcel"}
    assert [engine_query.needed for engine_query in parse("acme zebra ", known).engine_queries] == [{"acm", "zebra"}]


def test_on_a_large_site_one_of_the_rarer_words_is_needed_and_all_count():
    known = Vocabulary(100_000)
    known.terms.update({"acm": 20_000, "parcel": 4_500, "zebra": 2})
    narrow, wide = parse("acme zebra parcel ", known).engine_queries
    assert (narrow.needed, narrow.scored.keys()) == ({"zebra", "parcel"}, {"acm", "zebra", "parcel"})
    assert wide.needed == narrow.scored.keys()


@pytest.mark.slow
def test_a_filter_does_not_lose_pages_that_have_only_the_common_words(make_project):
    """The rarer words find enough, but all of it in the other version."""
    project = make_project().project

    def page(number: int, version: str, words: str) -> Page:
        body = "\n\n".join(f"## Part {part}\n\n{words}" for part in range(60))
        return Page("", f"/{version}/{number}", f"# Page\n\n{body}", version=version)

    ingest(project, [page(n, v, w) for v, w in (("1", "acme zebra"), ("2", "acme")) for n in range(8)])
    assert parsing.parse("acme zebra ", index_words(project)).common == {"acm"}
    assert len(find(project, "acme zebra", filters=Filters(version="2"))) == 8


def index_words(project) -> Vocabulary:
    return Vocabulary.decode(bytes(Index.objects.get(project=project).vocabulary))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("résumé", ["resum"]),
        ("Resume", ["resum"]),
        ("naïveCache", ["naiv", "cach", "naivecach"]),
        ("ÜberSetzung", ["uber", "setzung", "ubersetzung"]),
        ("Настройка", ["настроика"]),
        ("Straße", ["strasse"]),
        ("słowo", ["slowo"]),
        ("स्थापना", ["सथापना"]),
        ("ติดตั้ง", ["ติ", "ิด", "ดต", "ตั", "ั", "ง"]),
        ("مُحَمَّد", ["محمد"]),
        ("مزامنة.useChat", ["مزامنه", "use", "chat", "usechat", "مزامنهusechat"]),
    ],
)
def test_letters_with_accents_belong_to_their_words(text, found):
    assert analysis.terms(text) == found


def test_versions_end_before_they_go_on_and_after_their_candidates():
    assert index_state.find_latest(["0.9", "0.12", "0.12-rc1"]) == "0.12"
    assert index_state.find_latest(["v1.9", "v1.10", "next"]) == "v1.10"
    assert index_state.find_latest(["canary", "next"]) == "canary"
    assert index_state.find_latest(["2.0", "2.0.1", "2.0.1b2"]) == "2.0.1"
    assert index_state.find_latest([]) == ""


def test_only_the_beginning_of_a_very_long_word_counts():
    endless = "parcel." * 5_000
    assert [len(word) for word in analysis.words(f"{endless} x")] == [analysis.MAX_WORD, 1]
    assert "parcel" in spellings(endless)


@pytest.mark.parametrize("language", ["en", "de", "zh-Hant", ""])
def test_texts_of_a_section_have_the_same_terms_as_one_text(language):
    texts = ["useChat, don’t __ C++ fs.readFile(x)", "", "Größe café 東京タワー ﬁle x2Y ABCdef", "a" * 300]
    each = [analysis.terms(text, language) for text in texts]
    joined, terms, _ = analysis.index_texts(texts, language)
    assert joined == list(map(" ".join, each))
    assert terms == set().union(*each)


def test_the_analysis_remembers_no_more_words_than_its_limit(monkeypatch):
    monkeypatch.setattr(analysis, "_MAX_WORDS", 10)
    known = analysis._Words("en")
    assert [known[f"word{letter}s"][1][0] for letter in "abcdefghijklmn"][-2:] == ["wordm", "wordn"]
    assert len(known) <= 10


def test_the_analysis_remembers_no_long_words():
    before = len(analysis._words_of("en"))
    analysis.terms(" ".join(f"{number}{'a' * 200}" for number in range(100)))
    assert len(analysis._words_of("en")) == before


@pytest.mark.parametrize(
    ("text", "texts", "unknown"),
    [
        ("how do I use laravel here ", ["use this here"], ["laravel"]),
        ("VitePress titles ", ["vite press titles"], ["vitepress"]),
        ("llama.cpp layers ", ["layers"], ["llama", "cpp"]),
        ("misspelt instal ", ["install misspelt words"], []),
        ("laravel", ["install"], []),
        ("wie benutze ich laravel für die Seite ", ["install"], []),
        ("gpt4 42 k9 ", ["install"], ["gpt"]),
        ("csp and mfa ", ["content security policy"], ["mfa"]),
        ("acmectl ", ["command line tool"], []),
        ("the π constant of laravel ", ["constant"], ["laravel"]),
    ],
)
def test_names_that_no_page_has_are_told(text, texts, unknown):
    synonyms = parse_synonyms("acmectl, command line tool", ("en",))
    assert list(parse(text, vocabulary(*texts), synonyms=synonyms).unknown_words) == unknown


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("colour", "Choose a color."),
        ("behavior", "The behaviour of it."),
        ("k8s", "Runs on Kubernetes."),
        ("kubernetes", "Runs on k8s."),
        ("env vars", "Environment variables."),
        ("csp", "The Content-Security-Policy of a page."),
        ("sso ", "Single sign-on."),
        ("2fa ", "Two-factor authentication."),
    ],
)
def test_another_spelling_or_an_abbreviation_matches_less_than_the_word_itself(query, text):
    itself = set(analysis.terms(query))
    others = {
        spelling: certainty for term in parse(query, vocabulary(text)).terms for spelling, certainty in term.spellings
    }
    found = {
        spelling: others[spelling] for spelling in analysis.terms(text) if spelling in others and spelling not in itself
    }
    assert found
    assert all(parsing.EQUIVALENT <= certainty < 1 for certainty in found.values())


@pytest.mark.parametrize(
    ("text", "short"),
    [
        ("GET /users/123/keys", "GET /users /keys"),
        ("GET /users/7f3/keys", "GET /users /keys"),
        ("GET /customers/cus_9s6XKzkNRiz8i3/cards", "GET /customers /cards"),
        ("POST /api/oauth2/token", "POST /api/oauth2/token"),
        ("GET /s3/buckets/http2", "GET /s3/buckets/http2"),
        ("curl -X PUT https://acme.example/v2/users/7f3/keys -d @x ", "PUT /v2/users /keys "),
        ("curl https://acme.example/users/9", "/users "),
        ("curl returns 401 for https://acme.example/install.sh why ", "curl returns 401 for /install.sh why "),
    ],
)
def test_an_address_is_searched_without_its_host_and_values(text, short):
    assert re.sub(" +", " ", analysis.shorten_addresses(text)) == short


@pytest.mark.slow
def test_a_stem_that_few_pages_have_brings_none_of_them_forward(make_project):
    english = [Page("e", f"/e{n}", f"Include a template of number {n}.", language="en") for n in range(30)]
    greek = [Page("g", f"/g{n}", "Την include για το template και πολλά άλλα λόγια.", language="el") for n in range(3)]
    others = [Page("o", f"/o{n}", f"Other text {n}.", language="en") for n in range(200)]
    project = make_project().project
    ingest(project, [*english, *greek, *others])
    plan = plan_search(project, "include template")
    likeliest = plan.index.load(plan.index.rank(plan.query.engine_queries[0], (), 10))
    assert {candidate.language for candidate in likeliest} == {"en"}
    assert plan_search(project, "other ").query.engine_queries[0].scored == {"other": 1.0}
