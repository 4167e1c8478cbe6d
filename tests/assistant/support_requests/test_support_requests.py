"""A reader writes to a person: it is stored, reaches the owner by mail and webhook, and programs are kept out."""

from datetime import timedelta

import pytest
from django.utils import timezone

from assistant.models import Message, SupportFormCount, SupportRequest, SupportSettings, Thread
from assistant.support_requests import store
from docsite.core.components.erasure import EVERYTHING, READER, WRITER
from docsite.core.delivery.models import Delivery
from docsite.privacy import erasure
from tests.assistant.support_requests.conftest import DOCS, old_token
from tests.conftest import assert_error, question, wait_for

pytestmark = pytest.mark.slow


def converse(project, fp="reader", *exchanges):
    thread = Thread.objects.create(project=project, fp=fp)
    ids = []
    for asked, answered in exchanges or (("Which printer?", "Any **thermal** one."), ("And matrix?", "I don't know.")):
        Message.objects.create(thread=thread, role="user", content=asked)
        ids.append(Message.objects.create(thread=thread, role="assistant", content=answered).message_id)
    return thread, ids


def test_a_request_reaches_the_owner_by_mail_and_webhook(desk, make_project, switch_on, write):
    project = make_project().project
    secret = switch_on(project, ("owner@acme.example", "second@acme.example"))
    thread, ids = converse(project)
    answer = write(project, path="/guides/labels", threadId=thread.thread_id, fp="reader", messageIds=ids[1:])
    assert answer.status_code == 201, answer.text
    request = SupportRequest.objects.get(project=project)
    assert answer.json() == {"id": request.request_id}
    assert request.thread == thread
    assert [turn["text"] for turn in request.transcript] == ["And matrix?", "I don't know."]
    deliveries = Delivery.objects.filter(subject=request.request_id)
    wait_for(lambda: not deliveries.exclude(state="delivered").exists(), "the deliveries")
    letter = next(letter for letter in desk.mail.mail if request.request_id in letter.get_content())
    assert letter["Reply-To"] == "ada@reader.example"
    assert letter["Subject"] == f"[{project.name}] Matrix printers"
    assert letter["To"] == "owner@acme.example, second@acme.example"
    text = letter.get_content()
    assert "> And matrix?" in text
    assert "Which printer?" not in text
    assert f"{desk.service.url}/admin/project/{project.domain}/support/{request.request_id}" in text
    number = next(n for n, event in enumerate(desk.receiver.events) if event["data"]["id"] == request.request_id)
    assert desk.receiver.is_signed(secret, number)
    event = desk.receiver.events[number]
    assert event["type"] == "support_request.created"
    assert event["data"]["email"] == "ada@reader.example"
    assert event["data"]["page"] == f"{DOCS}/guides/labels"
    assert event["data"]["threadId"] == thread.thread_id


def test_a_form_that_is_sent_twice_is_one_request(make_project, switch_on, write, monkeypatch):
    project = make_project().project
    switch_on(project)
    token = old_token(project, monkeypatch)
    first, second = (write(project, token=token) for _ in range(2))
    assert first.json() == second.json()
    assert SupportRequest.objects.filter(project=project).count() == 1
    assert Delivery.objects.filter(project=project).count() == 2
    assert SupportFormCount.objects.get(project=project).sent == 1


def test_without_an_address_there_is_no_form(desk, make_project, http, write):
    project = make_project().project
    url = f"{desk.service.url}/discovery/v1/support/{project.domain}"
    assert_error(http.get(url, headers={"Origin": DOCS}), 404)
    assert_error(write(project), 404)
    assert not SupportRequest.objects.filter(project=project).exists()


def test_a_form_gets_a_token_that_must_age(desk, make_project, http, switch_on, write):
    project = make_project().project
    switch_on(project)
    form = http.get(f"{desk.service.url}/discovery/v1/support/{project.domain}", headers={"Origin": DOCS}).json()
    assert form["waitSeconds"] == 3
    assert_error(write(project, token=form["token"]), 400, "token: this was very fast")
    assert SupportFormCount.objects.get(project=project).begun == 1


@pytest.mark.parametrize(
    ("fields", "detail"),
    [
        ({"email": "ada"}, "email:"),
        ({"email": "ada@reader.example\nBcc: x@y.example"}, "email:"),
        ({"message": "  "}, "message: write something"),
        ({"subject": ""}, "subject: write something"),
        ({"homepage": "https://spam.example"}, "homepage:"),
        ({"message": "http://a www.b https://c http://d http://e http://f"}, "message: has more than 5 links"),
        ({"message": "x" * 8001}, "message:"),
        ({"token": "x"}, "token: is not valid"),
    ],
)
def test_what_a_person_would_not_send_is_refused(make_project, switch_on, write, fields, detail):
    project = make_project().project
    switch_on(project)
    assert_error(write(project, **fields), 400, detail)
    assert not SupportRequest.objects.filter(project=project).exists()


def test_a_token_is_for_one_project_and_one_day(make_project, switch_on, write, monkeypatch):
    project, other = make_project().project, make_project().project
    switch_on(project)
    assert_error(write(project, token=old_token(other, monkeypatch)), 400, "token: is not valid")
    assert_error(write(project, token=old_token(project, monkeypatch, 90_000)), 400, "token: the form was open")


def test_other_origins_and_servers_are_refused(make_project, switch_on, write):
    project = make_project().project
    switch_on(project)
    assert_error(write(project, {"Origin": "https://evil.example"}), 403)
    assert_error(write(project, {}), 403)


def test_a_conversation_of_somebody_else_does_not_go_along(make_project, switch_on, write):
    project, other = make_project().project, make_project().project
    switch_on(project)
    for of, fp in ((project, "somebody else"), (other, "reader")):
        thread, ids = converse(of, fp)
        assert write(project, threadId=thread.thread_id, fp="reader", messageIds=ids).status_code == 201
    for request in SupportRequest.objects.filter(project=project):
        assert (request.thread, request.transcript) == (None, [])


@pytest.mark.matrix
def test_limits_count_addresses_and_organizations(start, make_project, http, switch_on, write, desk):
    tenant = make_project()
    switch_on(tenant.project)
    service = start(LIMIT_SUPPORT_IP="3/h")
    url = f"{service.url}/discovery/v1/support/{tenant.domain}"
    answers = [http.post(url, json={}, headers={"Origin": DOCS}) for _ in range(4)]
    assert [answer.status_code for answer in answers] == [400, 400, 400, 429]
    policy = answers[0].headers["ratelimit-policy"]
    assert '"support-ip";q=3' in policy
    assert '"support-org";q=200' in policy
    assert int(answers[3].headers["retry-after"]) > 0


def test_personal_data_is_redacted_but_for_the_address(make_project, switch_on, write):
    project = make_project().project
    project.redact_personal_data = True
    project.save()
    switch_on(project)
    thread, ids = converse(project, "reader", ("I am bob@reader.example", "Hello."))
    sent = write(
        project,
        subject="Mail to carl@reader.example",
        message="Call 4111 1111 1111 1111",
        threadId=thread.thread_id,
        fp="reader",
        messageIds=ids,
    )
    assert sent.status_code == 201
    request = SupportRequest.objects.get(project=project)
    assert request.email == "ada@reader.example"
    assert (request.subject, request.message) == ("Mail to [e-mail]", "Call [card number]")
    assert request.transcript[0]["text"] == "I am [e-mail]"


def test_the_log_has_no_address_and_no_words(desk, make_project, switch_on, write):
    project = make_project().project
    switch_on(project, ("refused@acme.example",))
    desk.mail.refusals["refused@acme.example"] = ["554 5.7.1 <ada@reader.example> refused"]
    request_id = write(project, message="A very private question").json()["id"]
    delivery = Delivery.objects.get(subject=request_id, channel="email")
    wait_for(delivery.attempts.exists, "an attempt")
    assert "[e-mail]" in delivery.attempts.first().result
    log = desk.service.log.read_text()
    assert "ada@" not in log
    assert "private question" not in log


def test_old_requests_are_deleted_with_their_deliveries(make_project, switch_on, write):
    project = make_project().project
    switch_on(project)
    old, new = (write(project).json()["id"] for _ in range(2))
    SupportRequest.objects.filter(request_id=old).update(created_at=timezone.now() - timedelta(days=366))
    store.sweep()
    assert [row.request_id for row in SupportRequest.objects.filter(project=project)] == [new]
    assert not Delivery.objects.filter(subject=old).exists()
    SupportSettings.objects.filter(project=project).update(days=None)
    SupportRequest.objects.filter(request_id=new).update(created_at=timezone.now() - timedelta(days=4000))
    store.sweep()
    assert SupportRequest.objects.filter(request_id=new).exists()


def test_requests_are_erased_by_address_reader_and_project(make_project, switch_on, write):
    project = make_project().project
    switch_on(project)
    thread, ids = converse(project)
    write(project)
    write(project, email="bob@reader.example", threadId=thread.thread_id, fp="reader", messageIds=ids)
    write(project, email="carl@reader.example")
    receipt = erasure.erase(project, WRITER, "ADA@reader.example")
    assert receipt.erased == {"support requests": 1}
    assert "ada" not in receipt.subject.lower()
    assert erasure.erase(project, READER, "reader").erased["support requests"] == 1
    assert erasure.erase(project, EVERYTHING).erased["support requests"] == 1
    assert not SupportRequest.objects.filter(project=project).exists()
    assert not Delivery.objects.filter(project=project).exists()


def test_a_reader_who_deletes_the_conversation_takes_it_out_of_the_request(desk, make_project, http, switch_on, write):
    tenant = make_project()
    switch_on(tenant.project)
    thread, ids = converse(tenant.project)
    write(tenant.project, threadId=thread.thread_id, fp="reader", messageIds=ids)
    url = f"{desk.service.url}/discovery/v1/assistant/{tenant.domain}/forget"
    body = {"fp": "reader", "threadId": thread.thread_id}
    assert http.post(url, json=body, headers=tenant.assistant).status_code == 204
    request = SupportRequest.objects.get(project=tenant.project)
    assert (request.thread, request.transcript) == (None, [])
    assert request.message == "How do I print on a matrix printer?"


def test_a_refusal_leads_to_the_form_in_place_of_the_support_link(desk, project, http, switch_on):
    from assistant.models import AssistantSettings

    AssistantSettings.objects.create(project=project.project, support_url="https://help.acme.example")
    url = f"{desk.service.url}/discovery/v1/assistant/{project.domain}/message"

    def ask():
        return http.post(url, json=question("zebra crossing colours of Mars"), headers=project.assistant).text

    assert "https://help.acme.example" in ask()
    switch_on(project.project)
    text = ask()
    assert "https://help.acme.example" not in text
    assert f"{desk.service.url}/support/{project.domain}?threadId=thr_" in text


def test_events_of_an_owners_own_form_are_counted(desk, make_project, http):
    project = make_project().project
    url = f"{desk.service.url}/discovery/v1/support/{project.domain}/event"
    for event in ("begun", "begun", "shown", "solved", "sent"):
        assert http.post(url, json={"event": event}, headers={"Origin": DOCS}).status_code == 204
    assert_error(http.post(url, json={"event": "deleted"}, headers={"Origin": DOCS}), 400, "event:")
    assert store.sum_forms(project, timezone.now().date()) == {"begun": 2, "shown": 1, "solved": 1, "sent": 1}
