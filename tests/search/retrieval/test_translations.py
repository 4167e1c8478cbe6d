"""The translations of one page are one page, and none of them comes before the reader's language."""

import pytest

from search.hits import Filters
from search.indexing.ingest import ingest
from search.retrieval import index_state, page_search
from search.sources import Page
from search.sources.registry import read
from search.sources.request import SourceRequest
from tests.variants import first_of

TEXTS = {
    "": "The tray of the printer holds the labels that you print with it. Use `acme tray` when it is empty or full.",
    "de/": "Das Fach des Druckers hat die Etiketten, die man mit ihm drucken kann. `acme tray` ist für volle.",
    "fr/": "Le bac de l'imprimante a les étiquettes que vous pouvez imprimer avec elle. `acme tray` est pour les bacs.",
    "pt-br/": "A bandeja da impressora tem as etiquetas que você pode imprimir com ela. `acme tray` é para mais.",
}
TITLES = {"": "Printer tray", "de/": "Fach des Druckers", "fr/": "Bac, printer tray", "pt-br/": "Bandeja: printer tray"}
TOPICS = ("printer", "labels", "queue", "depot", "shelf", "scale", "index")


def write_site(folder, config, above):
    """Each of seven pages in four languages, of which English lies in no folder."""
    (folder / "config").mkdir(parents=True)
    for name, text in config.items():
        (folder / name).write_text(text)
    for language, text in TEXTS.items():
        for topic in TOPICS:
            file = folder / above / language / f"{topic}.md"
            file.parent.mkdir(parents=True, exist_ok=True)
            title = TITLES[language] if topic == "printer" else f"{topic} {language}"
            file.write_text(f"---\ntitle: '{title}'\n---\n\n{text} {topic} {topic}.\n")


LOCALES = "export const locales = { de: { lang: 'de' }, fr: { lang: 'fr' }, 'pt-br': { label: 'x', lang: 'pt-BR' } }"
SITES = {
    "an imported constant": (
        {"astro.config.mjs": "import { locales } from './config/l'\nstarlight({ locales })", "config/l.ts": LOCALES},
        "src/content/docs",
    ),
    "folders alone": ({"note.txt": ""}, "."),
}


@pytest.mark.parametrize(("config", "above"), first_of(SITES.values(), 1, ids=SITES))
def test_the_translations_of_a_page_are_one_page(make_project, tmp_path, config, above):
    project = make_project().project
    write_site(tmp_path, config, above)
    ingest(project, read(SourceRequest(str(tmp_path), "https://acme.example/")))

    def find(query, **filters):
        return [hit.path for hit in page_search.find(project, query, filters=Filters(**filters), limit=20)]

    for query, expected in (("printer tray", "/printer"), ("acme tray", "/printer"), ("labels", "/labels")):
        found = find(query)
        assert found[0] == expected
        found = [path for path in found if len(config) > 1 or path != "/pt-br"]  # whose text says only `pt`
        names = [path.rpartition("/")[2] if path.strip("/") not in ("de", "fr", "pt-br") else "" for path in found]
        assert len(names) == len(set(names)), "a page stands twice"
    assert {path.split("/")[1] for path in find("Etiketten drucken")} == {"de"}
    assert find("Wo und wie depot?")[0] == "/de/depot"
    assert find("onde ou quando labels")[0] == "/pt-br/labels"
    assert find("what is that with acme tray")[0] == "/printer"
    code = "pt-BR" if config.get("config/l.ts") else "pt-br"
    assert find("acme tray", language=code)[0] == "/pt-br/printer"


@pytest.mark.parametrize(
    ("counts", "language"),
    [({"": 4, "en": 3, "fr": 2}, "en"), ({"": 9, "fr": 2}, ""), ({"": 3}, ""), ({"fr": 2}, "fr")],
)
def test_a_site_has_the_language_that_most_pages_name(make_project, counts, language):
    project = make_project().project
    ingest(
        project,
        [Page("", f"/{code}-{n}", "Text.", language=code) for code, count in counts.items() for n in range(count)],
    )
    assert index_state.get_state(project).site_language == language
