"""The sentence that stands below “Ask” in the search dialog: where it surely answers, at the price of a search."""

from typing import Any

import httpx
import pytest

from assistant.models import Message
from tests.conftest import Service, Tenant, Upstream, assert_error
from tests.variants import first_of

pytestmark = pytest.mark.slow

LIMIT = 20
NOTHING = {"sentence": None, "title": None, "url": None}
PAGES = {
    "labels": "# Printing labels\n\n## Label printers\n\nUse `acme.labels` to print a label on a thermal printer.\n",
    "parcels": "---\nversion: '2.0'\n---\n# Parcels\n\n## Tracking\n\n"
    "Each parcel gets a tracking number that its receiver can read. A second sentence says nothing of it.\n",
    "markup": "# Escaping\n\n## Angle brackets\n\n"
    "Write angle brackets as \\<img src=x onerror=alert(1)\\> where a warehouse template shows them.\n",
    "de/etiketten": "---\nlanguage: de\n---\n# Etiketten\n\n## Thermodrucker\n\n"
    "Mit acme drucken Sie ein Etikett auf einem Thermodrucker aus Aluminium.\n",
}
LABELS = "Use acme.labels to print a label on a thermal printer."
TRACKING = "Each parcel gets a tracking number that its receiver can read."
MARKUP = "Write angle brackets as <img src=x onerror=alert(1)> where a warehouse template shows them."
GERMAN = "Mit acme drucken Sie ein Etikett auf einem Thermodrucker aus Aluminium."


@pytest.fixture(scope="module")
def service(start: Any, upstream: Upstream) -> Service:
    """The service with a model, which no preview may ask."""
    return start(OPENAI_BASE_URL=f"{upstream.url}/v1", OPENAI_MODEL="fake-1", LIMIT_SEARCH_ORG=f"{LIMIT}/h")


@pytest.fixture(scope="module")
def tenant(make_project: Any, tmp_path_factory: pytest.TempPathFactory) -> Tenant:
    from search.indexing.ingest import ingest
    from search.sources.markdown.folder import read_folder

    folder = tmp_path_factory.mktemp("docs")
    for name, text in PAGES.items():
        file = folder / f"{name}.md"
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    tenant: Tenant = make_project()
    ingest(tenant.project, read_folder(folder))
    return tenant


@pytest.fixture
def preview(service: Service, tenant: Tenant, http: httpx.Client) -> Any:
    def ask(question: str, **more: Any) -> httpx.Response:
        url = f"{service.url}/discovery/v1/assistant/{tenant.domain}/preview"
        return http.post(url, json={"question": question, **more}, headers=tenant.assistant)

    return ask


@pytest.mark.parametrize(
    ("question", "more", "sentence"),
    first_of(
        [
            ("How do I print a label on a thermal printer?", {}, LABELS),
            ("parcel tracking number", {}, TRACKING),
            ("parcel tracking number", {"filter": {"version": "2.0"}}, TRACKING),
            ("parcel tracking number", {"filter": {"version": "1.0"}}, None),
            ("angle brackets in a warehouse template", {}, MARKUP),
            ("Wie drucke ich ein Etikett auf einem Thermodrucker?", {}, GERMAN),
            ("Wie drucke ich ein label auf einem thermal printer?", {"filter": {"language": "en"}}, None),  # closest
            ("second sentence of a parcel tracking number", {}, None),  # no sentence alone says all of it
            ("print a label not on a thermal printer", {}, None),  # words do not tell what is denied
            ("thermal", {}, None),  # one word asks nothing
            ("How do I bake a sourdough bread?", {}, None),  # refused
            ("hello there", {}, None),
        ],
        6,
    ),
)
def test_a_sentence_is_shown_where_it_surely_answers(preview: Any, question: str, more: Any, sentence: Any) -> None:
    response = preview(question, **more)
    assert response.status_code == 200
    assert response.json()["sentence"] == sentence
    if sentence is None:
        assert response.json() == NOTHING


def test_it_names_its_page_counts_as_a_search_and_neither_asks_a_model_nor_stores_anything(
    preview: Any, tenant: Tenant, upstream: Upstream
) -> None:
    question = "thermal printer label"  # no passage has it, so no other test's prompt
    response = preview(question)
    page = {"title": "Printing labels", "url": "https://docs.acme.example/labels#label-printers"}
    assert response.json() == {"sentence": LABELS, **page}
    assert '"search-org"' in response.headers["ratelimit"]
    assert upstream.asked(question) == []
    assert not Message.objects.filter(thread__project=tenant.project).exists()
    assert not tenant.project.searches.exists()
    assert_error(preview(" "), 400, "question")


def test_it_ends_with_the_searches_of_the_organization(service: Service, make_project: Any, http: httpx.Client) -> None:
    tenant = make_project()
    url = f"{service.url}/discovery/v1/search/{tenant.domain}"
    for _ in range(LIMIT):
        http.post(url, json={"query": "x"}, headers=tenant.assistant)
    url = f"{service.url}/discovery/v1/assistant/{tenant.domain}/preview"
    refused = http.post(url, json={"question": "two words"}, headers=tenant.assistant)
    assert_error(refused, 429)
    assert int(refused.headers["retry-after"]) > 0
