"""Support requests in the admin: who sees them, the list, one request with its deliveries, and the settings."""

import re

import pytest

from assistant.models import Message, SupportFormCount, SupportRequest, SupportSettings, Thread
from assistant.support_requests import store
from docsite.core.delivery import outbox
from docsite.core.delivery.models import Delivery, DeliveryAttempt, Webhook
from docsite.privacy.models import AuditEntry
from tests.conftest import logged_in
from tests.receivers import serve_webhook


@pytest.fixture
def page(project):
    return f"/admin/project/{project.domain}/support"


def add(project, subject="Matrix printers", **fields):
    number = SupportRequest.objects.count()
    values = {"email": "ada@reader.example", "message": "How?", "form_id": f"{project.pk}-{number}", **fields}
    request = SupportRequest.objects.create(project=project, subject=subject, **values)
    outbox.add(project, store.CREATED, request.request_id, [Delivery.Channel.EMAIL])
    return request


def settings_form(**fields):
    return {"emails": "", "webhook_url": "", "service_url": "https://docs-service.example", "save": "", **fields}


@pytest.mark.slow
def test_only_people_of_the_organization_see_requests(people, project, page):
    request = add(project.project)
    for address in (page, f"{page}/settings", f"{page}/{request.request_id}"):
        assert people.owner.get(address).status_code == 200
        assert people.teammate.get(address).status_code == 200
        assert people.stranger.get(address).status_code == 404
        assert people.stranger.post(address, {"state": "closed", "assignee": "nobody"}).status_code == 404
    request.refresh_from_db()
    assert request.state == "open"


def test_a_request_of_another_project_is_not_found(people, page, make_project):
    other = add(make_project().project)
    assert people.owner.get(f"{page}/{other.request_id}").status_code == 404


def test_the_list_filters_by_state_and_words(people, project, page):
    add(project.project, "Matrix printers")
    add(project.project, "Label <b>size</b>", state="closed", message="100% sure?")
    html = people.owner.get(page).content.decode()
    assert "Matrix printers" in html
    assert "Label" not in html
    assert "Open 1" in html
    assert "All 2" in html
    assert "Label &lt;b&gt;size&lt;/b&gt;" in people.owner.get(f"{page}?state=closed").content.decode()
    found = people.owner.get(f"{page}?state=all&q=100%25").content.decode()
    assert ("Label" in found, "Matrix" in found) == (True, False)
    assert people.owner.get(f"{page}?state=x&page=99").status_code == 200


def test_the_top_has_the_rate_of_forms_that_an_answer_solved(people, project, page):
    for event, number in (("begun", 8), ("shown", 4), ("solved", 1), ("sent", 5)):
        for _ in range(number):
            store.count_form(project.project, event)
    assert SupportFormCount.objects.filter(project=project.project).count() == 1
    assert "25% of the forms that showed answers" in people.owner.get(page).content.decode()


@pytest.mark.slow
def test_the_list_asks_the_database_as_often_for_many_requests(people, project, page, django_assert_max_num_queries):
    for number in range(60):
        add(project.project, f"Number {number}")
    with django_assert_max_num_queries(16):
        html = people.owner.get(page).content.decode()
    assert html.count("sup_") >= 50
    assert 'rel="next"' in html
    assert "Number 9<" in people.owner.get(f"{page}?page=2").content.decode()


def test_a_request_shows_its_conversation_and_changes_state(people, project, page):
    thread = Thread.objects.create(project=project.project, fp="reader")
    Message.objects.create(thread=thread, role="user", content="Which printer?")
    transcript = [
        {"role": "user", "text": "Which <i>printer</i>?"},
        {"role": "assistant", "text": "A **thermal** one. [x](javascript:alert(1))"},
    ]
    request = add(project.project, thread=thread, transcript=transcript)
    html = people.owner.get(f"{page}/{request.request_id}").content.decode()
    assert "Which &lt;i&gt;printer&lt;/i&gt;?" in html
    assert "<strong>thermal</strong>" in html
    assert 'href="javascript' not in html
    assert f"/conversations/{thread.thread_id}" in html
    teammate = re.search(r'<option value="(\d+)">teammate', html)[1]
    answer = people.owner.post(f"{page}/{request.request_id}", {"state": "answered", "assignee": teammate})
    assert answer.status_code == 302
    request.refresh_from_db()
    assert (request.state, str(request.assignee_id)) == ("answered", teammate)
    for wrong in ({"state": "lost", "assignee": "nobody"}, {"state": "open", "assignee": "999999"}):
        people.owner.post(f"{page}/{request.request_id}", wrong)
    request.refresh_from_db()
    assert request.state == "answered"


def test_deliveries_are_shown_and_sent_again(people, project, page, make_project):
    request = add(project.project)
    delivery = Delivery.objects.get(subject=request.request_id)
    DeliveryAttempt.objects.create(delivery=delivery, succeeded=False, result="The mail server answered 550: no")
    Delivery.objects.filter(pk=delivery.pk).update(state="failed", attempt_count=11)
    address = f"{page}/{request.request_id}"
    html = people.owner.get(address).content.decode()
    assert "The mail server answered 550: no" in html
    assert "Failed" in people.owner.get(page).content.decode()
    people.stranger.post(address, {"repeat": delivery.delivery_id})
    other = add(make_project().project)
    foreign = Delivery.objects.get(subject=other.request_id)
    assert people.owner.post(address, {"repeat": foreign.delivery_id}).status_code == 404
    delivery.refresh_from_db()
    assert delivery.state == "failed"
    people.owner.post(address, {"repeat": delivery.delivery_id})
    delivery.refresh_from_db()
    assert (delivery.state, delivery.attempt_count) == ("waiting", 0)


def test_it_is_off_until_an_address_is_named(people, project, page):
    assert not SupportSettings.for_project(project.project).is_on
    assert "Readers see no form" in people.owner.get(f"{page}/settings").content.decode()
    people.owner.post(f"{page}/settings", settings_form())
    assert not SupportSettings.for_project(project.project).is_on
    people.owner.post(f"{page}/settings", settings_form(emails="a@acme.example\nb@acme.example, a@acme.example"))
    stored = SupportSettings.for_project(project.project)
    assert (stored.is_on, stored.emails) == (True, ["a@acme.example", "b@acme.example"])
    assert stored.form_url == f"https://docs-service.example/support/{project.domain}"
    entry = AuditEntry.objects.filter(project=project.domain).latest("pk")
    assert entry.action.startswith("support settings")
    assert "a@acme.example" not in str(entry.details)


@pytest.mark.slow
def test_the_secret_is_shown_once(people, project, page):
    url = "https://help.acme.example/hooks"
    html = people.owner.post(f"{page}/settings", settings_form(webhook_url=url)).content.decode()
    webhook = Webhook.objects.get(project=project.project)
    assert webhook.secret in html.replace("&#x3D;", "=")
    assert webhook.secret not in people.owner.get(f"{page}/settings").content.decode()
    again = people.owner.post(f"{page}/settings", settings_form(webhook_url=f"{url}/2"), follow=True).content.decode()
    assert "whsec_" not in again
    assert people.stranger.post(f"{page}/settings", {"rotate": ""}).status_code == 404
    rotated = people.teammate.post(f"{page}/settings", {"rotate": ""}).content.decode()
    old = webhook.secret
    webhook.refresh_from_db()
    assert webhook.secret != old
    assert webhook.previous_secret == old
    assert webhook.secret in rotated.replace("&#x3D;", "=")
    assert old not in str(list(AuditEntry.objects.filter(project=project.domain).values()))
    people.owner.post(f"{page}/settings", settings_form(emails="a@acme.example"))
    assert not Webhook.objects.filter(project=project.project).exists()


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"emails": "owner"}, "not an e-mail address"),
        ({"emails": " ".join(f"a{n}@acme.example" for n in range(6))}, "At most 5 e-mail addresses"),
        ({"webhook_url": "http://help.acme.example"}, "must begin with https://"),
        ({"service_url": "javascript:alert(1)"}, "Write an address such as"),
    ],
)
def test_wrong_settings_are_explained(people, project, page, fields, sentence):
    answer = people.owner.post(f"{page}/settings", settings_form(**fields))
    assert answer.status_code == 400
    assert sentence in answer.content.decode()
    assert not SupportSettings.objects.filter(project=project.project).exists()


@pytest.mark.matrix
def test_only_superusers_name_hosts_of_the_operators_network(people, project, page):
    with serve_webhook() as receiver:
        form = settings_form(webhook_url=receiver.url)
        assert "Only superusers" in people.owner.post(f"{page}/settings", form).content.decode()
        assert not Webhook.objects.filter(project=project.project).exists()
        root = logged_in(f"root of {project.domain}", is_superuser=True)
        assert root.post(f"{page}/settings", form).status_code == 200
        html = root.post(f"{page}/settings", {"test": ""}).content.decode()
        assert "The webhook answered with status 204." in html
        assert receiver.is_signed(Webhook.objects.get(project=project.project).secret)
        assert receiver.events[0]["type"] == "support_request.test"
        receiver.statuses = [500]
        html = root.post(f"{page}/settings", {"test": ""}).content.decode()
        assert 'class="errornote" role="status">The webhook answered with status 500.' in html
