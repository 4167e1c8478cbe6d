"""Writing to a person without JavaScript: the form, what goes along, errors, and the link to it on /ask."""

import re

import pytest

from assistant.models import SupportFormCount, SupportRequest, SupportSettings, Thread
from assistant.support_requests import form_tokens
from docsite.core.delivery.models import Delivery
from tests.assistant.support_requests.conftest import old_token
from tests.assistant.support_requests.test_support_requests import converse

ORIGIN = {"Origin": "http://testserver"}


@pytest.fixture
def open_desk(project):
    """A project that takes support requests."""
    SupportSettings.objects.create(
        project=project.project, service_url="http://testserver", emails=["owner@acme.example"]
    )
    return project


@pytest.fixture
def send(client, open_desk, monkeypatch):
    """Send the form as a browser does."""

    def post(headers=None, query="", **fields):
        values = {"token": old_token(open_desk.project, monkeypatch), "email": "ada@reader.example", "homepage": ""}
        values |= {"subject": "Matrix printers", "message": "How do I print?", **fields}
        return client.post(f"/support/{open_desk.domain}{query}", values, headers=headers or ORIGIN)

    return post


def test_the_form_shows_the_conversation_and_sends_what_is_ticked(client, open_desk, send):
    thread, ids = converse(open_desk.project, "any reader")
    address = f"/support/{open_desk.domain}?threadId={thread.thread_id}"
    page = client.get(address)
    html = page.content.decode()
    assert page["Cache-Control"] == "no-store"
    assert page["Referrer-Policy"] == "same-origin"
    assert "Set-Cookie" not in page
    for message_id in ids:
        assert f'<input type="checkbox" name="turn-{message_id}" checked>' in html
    assert "<strong>thermal</strong>" in html
    sent = send(threadId=thread.thread_id, path="/install", **{f"turn-{ids[1]}": "on"})
    request = SupportRequest.objects.get(project=open_desk.project)
    assert (sent.status_code, request.request_id in sent.content.decode()) == (200, True)
    assert [turn["text"] for turn in request.transcript] == ["And matrix?", "I don't know."]
    assert (request.thread, request.page_path) == (thread, "/install")
    assert Delivery.objects.filter(subject=request.request_id).count() == 1


def test_a_mistake_keeps_what_the_reader_wrote(open_desk, send):
    thread, ids = converse(open_desk.project)
    hostile = '"><script>x</script>'
    answer = send(threadId=thread.thread_id, email="ada", subject=hostile, **{f"turn-{ids[0]}": "on"})
    html = answer.content.decode()
    assert answer.status_code == 400
    assert 'role="alert"' in html
    assert '<a href="#email">Write an e-mail address, such as name@example.com.</a>' in html
    assert "<script>x" not in html
    assert 'value="&quot;&gt;&lt;script&gt;x&lt;/script&gt;"' in html
    assert f'name="turn-{ids[0]}" checked>' in html
    assert f'name="turn-{ids[1]}">' in html
    assert not SupportRequest.objects.filter(project=open_desk.project).exists()


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"homepage": "https://spam.example"}, "Leave the field below empty."),
        ({"message": "x" * 9000}, "Write a message of at most 8,000 characters"),
        ({"message": "http://a " * 6}, "with at most five links"),
        ({"token": "x"}, "This was sent very fast"),
    ],
)
def test_what_is_wrong_is_said(send, fields, sentence):
    answer = send(**fields)
    assert (answer.status_code, sentence in answer.content.decode()) == (400, True)


def test_a_form_that_was_sent_at_once_can_be_sent_again(client, open_desk, send, monkeypatch):
    token = re.search(r'name="token" value="([^"]+)"', client.get(f"/support/{open_desk.domain}").content.decode())[1]
    html = send(token=token).content.decode()
    assert "This was sent very fast" in html
    fresh = re.search(r'name="token" value="([^"]+)"', html)[1]
    monkeypatch.setattr(form_tokens, "WAIT_SECONDS", 0)
    assert send(token=fresh).status_code == 200


def test_forms_of_other_sites_are_refused(open_desk, send):
    for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"X": "y"}):
        assert send(headers).status_code == 403
    assert not SupportRequest.objects.filter(project=open_desk.project).exists()


def test_a_conversation_of_another_project_or_an_old_one_is_not_shown(client, open_desk, make_project):
    other, _ = converse(make_project().project)
    old, _ = converse(open_desk.project)
    old.messages.update(created_at="2020-01-01T00:00:00Z")
    for thread in (other, old, Thread(thread_id="thr_unknown")):
        html = client.get(f"/support/{open_desk.domain}?threadId={thread.thread_id}").content.decode()
        assert "Which printer?" not in html


def test_without_an_address_there_is_no_page(client, project):
    for domain in (project.domain, "no-such-project"):
        assert client.get(f"/support/{domain}").status_code == 404
        assert client.post(f"/support/{domain}", {}, headers=ORIGIN).status_code == 404


def test_it_speaks_the_readers_language(client, open_desk):
    address = f"/support/{open_desk.domain}"
    assert "Einen Menschen fragen" in client.get(f"{address}?language=de").content.decode()
    german = client.get(address, headers={"Accept-Language": "de-AT,de;q=0.9,en;q=0.8"}).content.decode()
    assert '<html lang="de">' in german
    assert "Ask a person" in client.get(address, headers={"Accept-Language": "fr"}).content.decode()


def test_a_page_of_another_project_shows_that_projects_name_only(client, open_desk):
    html = client.get(f"/support/{open_desk.domain}").content.decode()
    assert f'<header><a href="{open_desk.project.docs_url}">{open_desk.project.name}</a></header>' in html
    assert "site-header" not in html


def test_the_ask_page_leads_to_a_person(client, open_desk, settings):
    values = {"site_domain": open_desk.domain, "site_assistant_key": open_desk.assistant_key}
    settings.ENV = settings.ENV.model_copy(update=values)
    assert "Ask a person" not in client.get("/ask?q=install").content.decode()
    for question in ("How do I install acme?", "Who won the chess championship of 1972?"):
        html = client.post("/ask", {"question": question}, headers=ORIGIN).content.decode()
        address = re.search(r'<a href="(/support/[^"]+)">Ask a person</a>', html)[1]
        form = client.get(address).content.decode()
        assert question in form
        assert "site-header" in form
    SupportSettings.objects.filter(project=open_desk.project).update(emails=[])
    assert "/support/" not in client.post("/ask", {"question": "install"}, headers=ORIGIN).content.decode()


def test_only_readers_begin_a_form(client, open_desk):
    address = f"/support/{open_desk.domain}"
    crawler = {"User-Agent": "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"}
    assert client.head(address).status_code == 200
    assert client.get(address, headers=crawler).status_code == 200
    counts = SupportFormCount.objects.filter(project=open_desk.project)
    assert not counts.exists()
    client.get(address, headers={"User-Agent": "Mozilla/5.0 (X11; Linux) Gecko/20100101 Firefox/145.0"})
    assert counts.get().begun == 1
