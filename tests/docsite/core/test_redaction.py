"""Personal data in readers' texts: what is found, what looks like it and stays, and every place that stores a text."""

import json

import pytest

from analytics.models import Feedback
from assistant.models import Message, Thread
from docsite.core import ids
from docsite.core.redaction import redact
from search.query_log import recording
from tests.conftest import fake, logged_in, question

KEY = "sk-proj-0aB1cD2eF3gH4iJ5kL6mN7oP"
CARD = "4111 1111 1111 1111"
DATA = f"ann@mail.example {KEY} {CARD} DE89 3704 0044 0532 0130 00 8.8.8.8"
REDACTED = "[e-mail] [key] [card number] [IBAN] [IP address]"
JWT = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc-_x"
PEM = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAK=\n-----END RSA PRIVATE KEY-----"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (DATA, REDACTED),
        ("Write to Ann.Lee+docs@mail.example.co.uk.", "Write to [e-mail]."),
        ("https://acme.example/?email=ann%40mail.example&x=1", "https://acme.example/?email=[e-mail]&x=1"),
        ("連絡先はjörg@müller.deです", "連絡先は[e-mail]です"),
        ("postgres://me:secret@db.acme.example/x", "postgres://me:[e-mail]/x"),
        ("`ghp_0123456789abcdefghijABCDEFGHIJ012345`", "`[key]`"),
        ("AKIAIOSFODNN7EXAMPLE xoxb-1234-5678-abcdefghijkl sk_live_0123456789abcdef", "[key] [key] [key]"),
        ("キーはsk-0123456789abcdefです", "キーは[key]です"),
        (f"token={JWT};", "token=[key];"),
        ("Authorization: Bearer abcdefgh12345678==", "Authorization: Bearer [key]"),
        (f"It says {PEM} why?", "It says [key] why?"),
        ("4111111111111111, 4111-1111-1111-1111", "[card number], [card number]"),
        ("3782 822463 10005 12/27 123", "[card number] 12/27 123"),
        ("in 2026 4111 1111 1111 1111 12", "in 2026 [card number] 12"),
        ("iban:de89370400440532013000.", "iban:[IBAN]."),
        ("BE68 5390 0754 7034 BIC NL91ABNA0417164300", "[IBAN] BIC [IBAN]"),
        ("ping 8.8.8.8:53 and [2001:4860:4860::8888]:53", "ping [IP address]:53 and [[IP address]]:53"),
        ("since 1.2.3.4", "since [IP address]"),  # may be a version, but nobody can tell
    ],
)
def test_it_is_replaced(text, expected):
    assert redact(text) == expected
    assert redact(expected) == expected


def test_our_own_keys_are_replaced():
    assert redact(f"{ids.token('svc_')}, {ids.token('svc_dsc_')}.") == "[key], [key]."


@pytest.mark.parametrize(
    "text",
    [
        "git@github.com:acme/docs.git, user@localhost, @app.route, react@18.2.0, lodash@4.17.21-beta.1",
        "v1.2.3.4, version 1.2.3.4, Version 1.2.3.4, acme-1.2.3.4, 1.2.3.4-rc1, 1.2.3.4.5, 999.1.1.1",
        "127.0.0.1, 0.0.0.0:8000, 192.168.1.3, 10.0.0.0/8, 203.0.113.7, ::1, fe80::1, 2001:db8::1",
        "std::vector, a::b, 12:30:45, 2026:11",
        "order 4111111111111112, 5555 5555 5555 4445",  # fail Luhn
        "1763900000000, 978-3-16-148410-0, 3.1415926535897932, 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16",
        "da39a3ee5e6b4b0d3255bfef95601890afd80709, 550e8400-e29b-41d4-a716-446655440000",
        "DE88 3704 0044 0532 0130 00, XX89370400440532013000, DE89 3704",
        "sk-your-api-key-goes-here, svc_dsc_…, task-0123456789abcdefgh, Bearer authentication-tokens, eyJ.eyJ.x",
        "prj_q2m7abcdefghijklmnop, thr_abcdefghijklmnopqrstuvwx22",
    ],
)
def test_it_looks_like_it_and_stays(text):
    assert redact(text) == text


@pytest.fixture
def careful(project):
    project.project.redact_personal_data = True
    project.project.save(update_fields=["redact_personal_data"])
    return project


def ask(http, service, tenant, text, **more):
    url = f"{service.url}/discovery/v2/assistant/{tenant.domain}/message"
    response = http.post(url, json=question(text, **more), headers=tenant.assistant)
    assert response.status_code == 200
    return response.headers["X-Thread-Id"]


def stored(tenant) -> list[str]:
    turns = Message.objects.filter(thread__project=tenant.project).order_by("pk")
    return list(turns.values_list("content", flat=True))


def test_questions_titles_and_repeating_answers_are_stored_without_it(http, model_service, upstream, careful):
    obey = [*fake("obey", "redact-1"), {"type": "textSelection", "value": f"SAY: Acme for {DATA}"}]
    thread_id = ask(http, model_service, careful, f"Install acme for {DATA}", context=obey)
    (request,) = upstream.asked("redact-1")
    assert DATA in json.dumps(request), "the model gets the question as it was asked"
    assert Thread.objects.get(thread_id=thread_id).title == f"Install acme for {REDACTED}"
    asked, answer = stored(careful)
    assert asked == f"Install acme for {REDACTED}"
    assert REDACTED.removeprefix("[e-mail]") in answer, "readers get no e-mail address that no page has, anyway"
    rows = json.dumps(list(Message.objects.filter(thread__thread_id=thread_id).values()), default=str)
    assert [part for part in ("ann@", KEY, CARD, "0532", "8.8.8.8") if part in rows] == []

    ask(http, model_service, careful, "And labels?", context=fake("happy", "redact-2"), threadId=thread_id)
    assert f"Install acme for {REDACTED}" in json.dumps(upstream.last("redact-2")), "later turns get what is stored"
    assert KEY not in json.dumps(upstream.last("redact-2"))


def test_a_question_that_is_asked_again_is_stored_without_it(http, service, careful):
    thread_id = ask(http, service, careful, "Install acme", fp="reader")
    again = {"fp": "reader", "threadId": thread_id, "trigger": "regenerate-message"}
    ask(http, service, careful, f"Install acme for {DATA}", **again)
    assert stored(careful)[0] == f"Install acme for {REDACTED}"
    ask(http, service, careful, f"Install acme for {DATA}", **again)
    assert len(stored(careful)) == 2


def test_an_answer_keeps_the_addresses_of_the_documentation(http, model_service, careful):
    obey = [*fake("obey"), {"type": "textSelection", "value": "SAY: Acme asks 8.8.8.8 for names."}]
    ask(http, model_service, careful, "Install acme", context=obey)
    assert "8.8.8.8" in stored(careful)[1]


def searches(tenant) -> list[str]:
    recording.flush()
    return list(tenant.project.searches.order_by("at", "pk").values_list("text", flat=True))


def test_searches_are_stored_without_it(http, service, careful):
    url = f"{service.url}/discovery/v1/search/{careful.domain}"
    assert http.post(url, json={"query": f"install {KEY}"}, headers=careful.assistant).status_code == 200
    body = json.dumps({"query": f"install {KEY}", "path": "/install", "position": 1})
    page = {"Origin": "https://docs.acme.example", "Content-Type": "text/plain"}
    assert http.post(f"{url}/click", content=body, headers=page).status_code == 204
    assert searches(careful) == ["install [key]"]
    assert careful.project.searches.get().clicked_path == "/install"


def test_a_click_on_what_was_typed_on_replaces_half_an_address(careful):
    recording.record(careful.project, 1, "ann@mai", 0)
    recording.record_click(careful.project, 1, "ann@mail.example", "/install", 1)
    assert searches(careful) == ["[e-mail]"]


@pytest.mark.parametrize("flushed", [True, False])
def test_half_an_address_gives_way_to_the_whole_one(careful, flushed):
    for typed in ("ann@mai", "ann@mail.example", "ann@mail.example login"):
        recording.record(careful.project, 1, typed, 0)
        if flushed:
            recording.flush()
    assert searches(careful) == ["[e-mail] login"]


def test_a_search_is_redacted_before_it_is_cut(careful):
    recording.record(careful.project, 1, f"{'x' * 390} {CARD}", 0)
    assert searches(careful) == [f"{'x' * 390} [card num"]


def test_comments_are_stored_without_it_and_contacts_as_they_are(http, service, careful):
    body = {"source": "contextual", "path": "/install", "helpful": False, "comment": f"Fails for {DATA}"}
    headers = {"Origin": "https://docs.acme.example", "Content-Type": "text/plain"}
    url = f"{service.url}/discovery/v1/feedback/{careful.domain}"
    content = json.dumps({**body, "contact": "ann@mail.example"})
    assert http.post(url, content=content, headers=headers).status_code == 204
    row = Feedback.objects.get(project=careful.project)
    assert (row.comment, row.contact) == (f"Fails for {REDACTED}", "ann@mail.example")


@pytest.mark.matrix
def test_it_is_off_until_the_owner_switches_it_on(http, service, project):
    ask(http, service, project, f"Install acme for {DATA}")
    recording.record(project.project, 1, f"install {KEY}", 0)
    assert stored(project)[0] == f"Install acme for {DATA}"
    assert searches(project) == [f"install {KEY}"]
    owner = logged_in(f"owner-{project.project.pk}", project.project.organization)
    page = f"/admin/projects/project/{project.project.pk}/change/"
    form = owner.get(page).context["adminform"].form
    values = {name: value for name, value in form.initial.items() if value is not None and name in form.fields}
    changes = {"allowed_origins": "", "redact_personal_data": "on"}
    assert owner.post(page, {**values, **changes}).status_code == 302
    project.project.refresh_from_db()
    assert project.project.redact("ann@mail.example") == "[e-mail]"
