"""Words of many scripts, and operators: what a reader types finds what a page writes in another way."""

from itertools import chain

import pytest

from search.indexing.ingest import ingest
from search.retrieval import page_search
from search.sources import Page
from search.text import analysis
from tests.variants import first_of

# The language of the page, a text of it, and what readers type.
ROWS = {
    "Thai": ("th", "ตัวทำงานรับงานจากคิวและเก็บไว้หนึ่งชั่วโมง", ["คิว", "ชั่วโมง", "รับงาน"]),
    "Lao": ("lo", "ຕັ້ງຄ່າໂຄງການ", ["ໂຄງການ"]),
    "Burmese": ("my", "ပရောဂျက်ဆက်တင်များ", ["ဆက်တင်"]),
    "Khmer": ("km", "ការកំណត់គម្រោង", ["គម្រោង"]),
    "Japanese": ("ja", "印刷設定を変更", ["設定"]),
    "Persian with Arabic letters": ("fa", "كتاب‌های علي", ["کتاب", "علی"]),
    "Persian": ("fa", "کتاب علی", ["كتاب", "علي"]),
    "Persian digits": ("fa", "نسخه ۱۲", ["12", "١٢"]),
    "Arabic with its article": ("ar", "الطابعة في المكتبة", ["طابعة", "مكتبة", "الطابعه", "طابعه"]),
    "Arabic alef": ("ar", "إعدادات أخرى", ["اعدادات", "اخري"]),
    "Arabic vowel signs": ("ar", "مَكْتَب", ["مكتب"]),
    "Hindi endings": ("hi", "लड़कियाँ किताबें", ["किताब"]),
    "Polish": ("pl", "Ładowanie plików", ["ladowanie", "ładowania", "Ładowanie"]),
    "Danish": ("da", "Sørg for at køre", ["sorg", "kore", "køre"]),
    "French without accents": ("fr", "La clé sécurisée créée", ["cle", "securisee", "creee", "sécurisé"]),
    "French ligatures": ("fr", "Le cœur de l'œuvre", ["coeur", "oeuvre"]),
    "Turkish without accents": ("tr", "Kullanıcı şifresi değiştirildi", ["kullanici", "sifresi", "degistirildi"]),
    "German": ("de", "Große Aufträge", ["grosse", "grosser", "auftrage"]),
    "Greek": ("el", "Ρυθμίσεις εκτυπωτή", ["ρυθμισεις", "εκτυπωτης"]),
    "a ligature of letters": ("en", "The ﬁle of the oﬃce", ["file", "office"]),
    "English": ("en", "The naïve café", ["naive", "cafe", "café"]),
}


@pytest.mark.parametrize(("language", "text", "queries"), ROWS.values(), ids=ROWS)
def test_a_word_is_found_however_it_is_written(language, text, queries):
    (_, indexed, _) = analysis.index_texts([text], language)
    for query in queries:
        wanted = {
            analysis.stem(form, language)
            for word in analysis.words(query)
            for form in chain(*analysis.split_name(word))
        }
        assert wanted <= indexed, query


def test_an_accent_that_a_reader_types_needs_no_second_term():
    (joined,), terms, _ = analysis.index_texts(["naïve café"], "en")
    assert (joined.split(), terms) == (["naiv", "cafe"], {"naiv", "cafe"})


OPERATORS = {
    "!!": "Not null",
    "??": "Nullish",
    "?.": "Chaining",
    "::": "Paths",
    "=>": "Arrow",
    "@@": "Decorators",
    "the `?` operator": "Try",
    "--limit": "Limits",
    ".NET": "Dotnet",
    "what does ?? do": "Nullish",
    "use --limit": "Limits",
}
PAGES = {
    "Not null": "Write `!!` behind a value.\n\n```kt\nval a = b !!\n```",
    "Nullish": "## The `??` operator\n\nA default for null.\n\n```js\nconst a = b ?? c\n```",
    "Chaining": "## Operator `?.`\n\nStops at null.",
    "Paths": "A path has `::` between names.",
    "Arrow": "```js\nconst f = (a) => b\n```",
    "Decorators": "Instances have `@@` before their names.",
    "Try": "## The `?` operator\n\nReturns early.",
    "Limits": "How many are listed: `--limit`.\n\n```sh\nacme list --limit 5\n```",
    "Dotnet": "Runs on .NET and others.",
    "A limit": "The limit of the net. Is that so? Do limit it! The operator limits, the limit of a net limits.",
    "An operator": "An operator does what operators do. What does an operator do? Operators operate on a net.",
}


@pytest.fixture(scope="module")
def project(make_project):
    found = make_project().project
    ingest(found, [Page(title, f"/{title}", f"# {title}\n\n{text}", language="en") for title, text in PAGES.items()])
    return found


@pytest.mark.parametrize(("query", "title"), OPERATORS.items(), ids=OPERATORS)
def test_an_operator_finds_the_section_that_holds_it(project, query, title):
    hits = page_search.find(project, query)
    assert [hit.title for hit in hits][:1] == [title]


@pytest.mark.parametrize("query", ["!!!!", "~~~", "<<>>", "--none", "..", "? !"])
def test_an_operator_that_no_page_has_finds_nothing_strange(project, query):
    assert page_search.find(project, query) == page_search.find(project, query.strip("-"))


COMPOUNDS = {  # the language of the pages, their texts by title, and what readers type with what that finds
    "German": (
        "de",
        {
            "Pool": "Wie viele Datenbankverbindungen der Dienst höchstens öffnet. Ein Beispiel.",
            "Netz": "Eine Verbindung, die nicht antwortet, wird nach einer Minute beendet.",
            "Sicherung": "Die Datenbank und was sie enthält.",
            "Rechte": "Zugriffsprüfungen sind Teil der Anmeldung. Der Zugriff selbst steht im Protokoll.",
            "Ausnahmen": "Das Spiel mit den Nachrichten. Nach der Wahl richten sie sich.",
        },
        {
            "Verbindungen": ["Netz", "Pool"],
            "datenbank verbindung": ["Pool", "Netz", "Sicherung"],
            "Datenbankverbindung ": ["Pool", "Netz", "Sicherung"],
            "Verbindung zur Datenbank": ["Pool", "Netz", "Sicherung"],
            "Prüfung ": ["Rechte"],
            "prufung ": ["Rechte"],
            "Spiel ": ["Ausnahmen"],
            "Wahl ": ["Ausnahmen"],
        },
    ),
    "Dutch": ("nl", {"A": "De databaseverbinding en de database."}, {"verbinding ": ["A"]}),
    "Swedish": ("sv", {"A": "En databasanslutning till din databas."}, {"anslutningen ": ["A"]}),
    "Danish": ("da", {"A": "En databaseforbindelse til din database."}, {"forbindelse ": ["A"]}),
    "Norwegian": ("nb", {"A": "En databasetilkobling til en database."}, {"tilkobling ": ["A"]}),
    "Finnish": ("fi", {"A": "Tietokantayhteys ja tietokanta."}, {"yhteys ": ["A"]}),
    "English has none": ("en", {"A": "The database and the databaseconnection."}, {"connection ": []}),
}


@pytest.mark.parametrize(("language", "pages", "queries"), first_of(COMPOUNDS.values(), 1, ids=COMPOUNDS))
def test_a_compound_and_its_parts_find_each_other(make_project, language, pages, queries):
    project = make_project().project
    ingest(project, [Page(title, f"/{title}", text, language=language) for title, text in pages.items()])
    for query, titles in queries.items():
        found = [hit.title for hit in page_search.find(project, query)]
        assert (found[:1], sorted(found)) == (titles[:1], sorted(titles)), query
