"""Asking without JavaScript."""

import re
from typing import Any

import pytest
from django.test import Client

from assistant.models import Message, Thread
from docsite.core.http.errors import TooMany
from search.indexing.ingest import ingest
from search.sources import Page

ORIGIN = "http://testserver"


@pytest.fixture
def site(project: Any, settings: Any) -> Any:
    """The pages' own project, with a key for its assistant."""
    env = settings.ENV.model_copy(update={"site_domain": project.domain, "site_assistant_key": project.assistant_key})
    settings.ENV = env
    return project


def post(
    client: Client,
    question: str = "How do I install acme?",
    origin: str | None = ORIGIN,
    language: str = "en",
    **more: str,
) -> Any:
    headers = {"Origin": origin} if origin else {}
    return client.post(f"/ask?language={language}", {"question": question, **more}, headers=headers)


def test_the_answer_appears_below_the_form_with_its_sources(client: Client, site: Any) -> None:
    response = post(client, path="/install")
    html = response.content.decode()
    assert (response.status_code, response["Cache-Control"]) == (200, "no-store")
    assert "pip install acme" in html[html.index('class="answer"') :]
    assert '<a href="https://docs.acme.example/install">' in html[html.index('<ol class="sources">') :]
    question, answer = Message.objects.filter(thread__project=site.project).order_by("pk")
    assert (question.content, question.caller, question.page_path) == ("How do I install acme?", "web", "/install")
    assert answer.state == "done"


@pytest.mark.matrix
def test_a_cut_answer_says_so(http: Any, start: Any, upstream: Any, project: Any) -> None:
    model = {"OPENAI_BASE_URL": f"{upstream.url}/v1", "OPENAI_API_KEY": "sk-x", "OPENAI_MODEL": "fake-1"}
    service = start(**model, SITE_DOMAIN=project.domain, SITE_ASSISTANT_KEY=project.assistant_key)
    for mode, language, sentence in (
        ("length", "en", "The answer was cut at its length limit."),
        ("filtered", "de", "von einem Inhaltsfilter abgeschnitten"),
        ("happy", "en", ""),
    ):
        question = {"question": f"How do I install acme? fake:{mode}"}
        html = http.post(f"{service.url}/ask?language={language}", data=question, headers={"Origin": service.url}).text
        assert sentence in html[html.index('class="answer"') :]
        assert ("was cut" in html or "abgeschnitten" in html) == bool(sentence)


def test_a_refusal_has_no_source_and_links_to_the_search(client: Client, site: Any) -> None:
    html = post(client, "Who won the chess championship of 1972?").content.decode()
    assert "find this in the documentation" in html
    assert 'class="sources"' not in html
    assert '<a href="/search?q=Who%20won%20the%20chess%20championship%20of%201972%3F">' in html


def test_a_get_request_asks_no_question(client: Client, site: Any) -> None:
    response = client.get("/ask", {"q": '"><script>x</script>', "path": "/install"})
    html = response.content.decode()
    assert "&quot;&gt;&lt;script&gt;x&lt;/script&gt;</textarea>" in html
    assert '<input type="hidden" name="path" value="/install">' in html
    assert "Set-Cookie" not in response
    assert not Thread.objects.filter(project=site.project).exists()


@pytest.mark.parametrize("origin", [None, "null", "https://evil.example"])
def test_forms_of_other_sites_are_refused(client: Client, site: Any, origin: str | None) -> None:
    response = post(client, origin=origin)
    assert response.status_code == 403
    assert b"from the pages of this site only" in response.content
    assert not Thread.objects.filter(project=site.project).exists()


@pytest.mark.parametrize(
    ("question", "status", "says"),
    [
        ("  ", 400, "Write a question first."),
        ("x" * 32_001, 400, "more than 32,000 characters"),
        ("a\x00b", 400, "cannot be stored"),
        ("x" * 2_200_000, 413, "larger than 2048 KiB"),
    ],
)
def test_an_empty_or_too_long_question_is_refused_in_a_sentence(
    client: Client, site: Any, question: str, status: int, says: str
) -> None:
    response = post(client, question)
    assert response.status_code == status
    assert says in response.content.decode()


def test_an_unreadable_form_is_refused_in_a_sentence(client: Client, site: Any) -> None:
    broken = {"content_type": "multipart/form-data; boundary=", "headers": {"Origin": ORIGIN}}
    response = client.post("/ask", "x", **broken)
    assert response.status_code == 400
    assert b"The form cannot be read." in response.content


def test_a_question_counts_against_the_limits(client: Client, site: Any, settings: Any) -> None:
    settings.ENV = settings.ENV.model_copy(update={"limit_assistant_org": "1/d"})
    assert post(client).status_code == 200
    response = post(client, "How do I install acme from source?")
    assert response.status_code == 429
    assert TooMany(int(response["Retry-After"])).sentence in response.content.decode()
    assert b"from source?</textarea>" in response.content


def test_the_german_page_is_german_around_the_answer(client: Client, site: Any) -> None:
    form = client.get("/ask", {"language": "de", "path": "/de/install"}).content.decode()
    assert '<html lang="de">' in form
    assert '<label for="question">Ihre Frage</label>' in form
    assert '<form class="ask-form" action="/ask?language=de" method="post">' in form
    answered = post(client, language="de")
    html = answered.content.decode()
    assert answered.status_code == 200
    assert "pip install acme" in html[html.index(">Antwort</h2>") :]
    assert '<a href="https://docs.acme.example/install">' in html[html.index(">Quellen</h2>") :]
    unknown = post(client, "Who won the chess championship of 1972?", language="de").content.decode()
    assert '<a href="/search?language=de&amp;q=Who%20won' in unknown


@pytest.mark.parametrize(
    ("form", "status", "says"),
    [
        ({"question": " "}, 400, "Es fehlt etwas"),
        ({"question": "a\x00b"}, 400, "Das lässt sich so nicht annehmen"),
        ({"origin": "https://evil.example"}, 403, "nur von den Seiten dieser Site"),
        ({"question": "x" * 2_200_000}, 413, "Das ist zu lang."),
    ],
)
def test_the_german_page_refuses_in_german(client: Client, site: Any, form: Any, status: int, says: str) -> None:
    refused = post(client, language="de", **form)
    html = refused.content.decode()
    assert refused.status_code == status
    assert '<html lang="de">' in html
    assert says in html


def test_the_german_page_says_how_long_a_limit_lasts(client: Client, site: Any, settings: Any) -> None:
    settings.ENV = settings.ENV.model_copy(update={"limit_assistant_org": "1/d"})
    assert post(client, language="de").status_code == 200
    html = post(client, language="de").content.decode()
    assert re.search(r"Versuchen Sie es in \d+ (Stunden?|Minuten?|Sekunden?) noch einmal\.", html)


def test_the_german_page_prefers_german_sources(client: Client, site: Any) -> None:
    pages = {"/parcels": ("en", "in English"), "/de/parcels": ("de", "auf Deutsch")}
    text = "# Parcels {}\n\nParcels: `acme send`.\n"
    home = Page("/de", "/de", "# Start\n\nWillkommen.", language="de")
    translated = [Page(path, path, text.format(title), language=code) for path, (code, title) in pages.items()]
    ingest(site.project, [home, *translated])
    html = post(client, "acme send parcels", language="de").content.decode()
    first = re.search("Parcels (auf Deutsch|in English)", html.partition(">Antwort</h2>")[2])
    assert first
    assert first[1] == "auf Deutsch"


def test_an_unknown_language_is_the_default_one(client: Client, site: Any) -> None:
    assert '<html lang="en">' in client.get("/ask", {"language": "tlh"}).content.decode()
    assert '<html lang="en">' in post(client, language="tlh").content.decode()


def test_without_a_key_the_page_says_so(client: Client, site: Any, settings: Any) -> None:
    settings.ENV = settings.ENV.model_copy(update={"site_assistant_key": ""})
    assert b"is not set up" in client.get("/ask").content
    settings.ENV = settings.ENV.model_copy(update={"site_assistant_key": "svc_dsc_wrong"})
    response = post(client)
    assert response.status_code == 503
    assert b"is not set up" in response.content
