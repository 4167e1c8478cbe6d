"""An owner adds a webhook, sees its secret once, tests it, looks at deliveries, repeats and deletes."""

import re

import pytest

from docsite.core.delivery import events
from docsite.core.delivery.models import Delivery, Event, Webhook
from docsite.privacy.models import AuditEntry
from tests.conftest import logged_in
from tests.variants import first_of

CHOSEN = {"save": "1", "format": "", "events": ["source.read", "gap.opened"]}


@pytest.fixture
def page(project):
    return f"/admin/project/{project.domain}/webhooks"


@pytest.fixture
def admin(project, django_user_model):
    """A superuser, who may name private hosts."""
    return logged_in("webhook superuser", is_superuser=True)


def add(browser, page, receiver, **more):
    html = browser.post(page, {**CHOSEN, "url": receiver.url, **more}).content.decode()
    return re.search(r"whsec_[\w+/=]+", html)[0]


def test_the_secret_is_shown_once_and_signs(people, admin, page, project, receiver, send_all):
    secret = add(admin, page, receiver)
    webhook = Webhook.objects.get(project=project.project)
    edit = f"{page}/{webhook.pk}"
    assert secret == webhook.secret
    for address in (page, edit):
        html = people.owner.get(address).content.decode()
        assert secret not in html
        assert receiver.url in html
    events.publish(project.project, "source.read", {"source": 1, "name": "docs", "counts": READ})
    send_all()
    assert receiver.is_signed(secret)
    new = re.search(r"whsec_[\w+/=]+", people.owner.post(edit, {"rotate": "1"}).content.decode())[0]
    assert new != secret
    trail = str(list(AuditEntry.objects.filter(project=project.domain).values()))
    assert "webhook created" in trail
    assert secret not in trail


READ = {"added": 1, "changed": 0, "unchanged": 0, "removed": 0}


@pytest.mark.matrix
def test_deliveries_are_listed_with_answers_and_repeated(people, admin, page, project, receiver, send_all):
    add(admin, page, receiver)
    edit = f"{page}/{Webhook.objects.get(project=project.project).pk}"
    receiver.statuses = [503]
    events.publish(project.project, "source.read", {"source": 1, "name": "docs", "counts": READ})
    send_all()
    html = people.owner.get(edit).content.decode()
    assert "A source was read" in html
    assert "answered with status 503" in html
    assert "Next attempt at" in html
    delivery = Delivery.objects.get(project=project.project)
    assert people.owner.post(edit, {"repeat": delivery.delivery_id}).status_code == 302
    send_all()
    assert receiver.ids == [delivery.delivery_id] * 2
    assert "answered with status 204" in people.owner.get(edit).content.decode()
    assert people.owner.post(edit, {"repeat": "dlv_" + "a" * 20}).status_code == 404


def test_a_test_is_sent_at_once(people, admin, page, project, receiver):
    add(admin, page, receiver)
    edit = f"{page}/{Webhook.objects.get(project=project.project).pk}"
    receiver.statuses = [204, 410]
    assert "answered with status 204" in people.owner.post(edit, {"test": "1"}).content.decode()
    assert receiver.events[0]["type"] == "webhook.test"
    assert receiver.events[0]["data"]["url"] == f"http://testserver{edit}"
    assert "answered with status 410" in people.owner.post(edit, {"test": "1"}).content.decode()


def test_a_chat_needs_no_choice(admin, page, project):
    html = admin.post(page, {**CHOSEN, "url": "https://hooks.slack.com/services/T0/B0/x"}).content.decode()
    assert "whsec_" not in html
    webhook = Webhook.objects.get(project=project.project)
    assert (webhook.format, webhook.events) == ("slack", "gap.opened source.read") or webhook.format == "slack"


@pytest.mark.parametrize(
    ("values", "sentence"),
    first_of(
        [
            ({"url": "http://example.com/x"}, "must begin with https://"),
            ({"url": "https://127.0.0.1/x"}, "Only superusers may name"),
            ({"url": "https://example.com/x", "events": []}, "This field is required"),
            ({"url": "https://example.com/x", "events": ["nothing"]}, "not one of the available choices"),
            ({"url": "https://example.com/x", "format": "smoke"}, "not one of the available choices"),
        ],
        2,
    ),
)
def test_what_is_wrong_is_said_beside_the_field(people, page, project, values, sentence):
    answer = people.owner.post(page, {**CHOSEN, **values})
    assert answer.status_code == 400
    assert sentence in answer.content.decode()
    assert not Webhook.objects.filter(project=project.project).exists()


def test_a_deleted_webhook_gets_nothing_any_more(people, admin, page, project, receiver, send_all):
    add(admin, page, receiver)
    edit = f"{page}/{Webhook.objects.get(project=project.project).pk}"
    events.publish(project.project, "source.read", {"source": 1, "name": "docs", "counts": READ})
    assert people.owner.post(edit, {"delete": "1"}).status_code == 302
    send_all()
    assert receiver.calls == []
    assert people.owner.get(edit).status_code == 404
    assert Event.objects.filter(project=project.project).exists()


def test_strangers_and_other_projects_do_not_reach_it(people, admin, page, project, receiver, make_project):
    add(admin, page, receiver)
    number = Webhook.objects.get(project=project.project).pk
    other = make_project()
    assert people.stranger.get(f"{page}/{number}").status_code == 404
    elsewhere = logged_in(f"owner of {other.domain}", other.project.organization)
    assert elsewhere.get(f"/admin/project/{other.domain}/webhooks/{number}").status_code == 404
    assert people.teammate.get(f"{page}/{number}").status_code == 200


def test_the_webhook_of_support_requests_is_not_among_them(people, page, project):
    from docsite.core.delivery import webhooks

    own, _ = webhooks.store(project.project, None, "https://desk.acme.example/")
    assert "desk.acme.example" not in people.owner.get(page).content.decode()
    assert people.owner.get(f"{page}/{own.pk}").status_code == 404
