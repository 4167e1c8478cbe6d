"""What happens in a project reaches its webhooks: once, signed, without personal data, and as chats expect it."""

import json
import re

import pytest
from django.db import transaction
from django.utils import timezone

from analytics.feedback import store as feedback
from analytics.feedback.schemas import FeedbackIn
from analytics.models import Feedback
from assistant.improving.gaps.actions import Actor
from assistant.improving.question_groups import group_index, grouping, thumbs
from assistant.models import Message, QuestionGroup, SupportRequest, SupportSettings
from assistant.support_requests import store as support
from assistant.support_requests.schemas import SupportRequestIn
from docsite.core.delivery import chats, events, webhooks
from docsite.core.delivery.models import Delivery, Event, Webhook
from docsite.site import navigation
from search.models import Source
from search.stored_sources import queue
from tests.assistant.improving.gaps.conftest import skip_earlier, store_answer

SERVICE = "https://docs-service.acme.example"


@pytest.fixture
def listen(receiver):
    """Let a webhook of a project receive all events. Returns it."""

    def listen(project, **facts):
        skip_earlier()
        group_index.forget(project.pk)
        names = " ".join(event_type.name for event_type in events.list_event_types())
        webhook, _ = webhooks.build(project, receiver.url)
        webhook.events, webhook.service_url = names, SERVICE
        for name, value in facts.items():
            setattr(webhook, name, value)
        webhook.save()
        return webhook

    return listen


def read_source(project, name, *, error=""):
    source = Source.objects.create(project=project, name=name, location="https://docs.acme.example")
    assert queue.claim(source)
    if error:
        queue.fail(source, error)
    else:
        queue.finish(source, Source.State.DONE, outcome={"added": 2, "changed": 1, "unchanged": 40, "removed": 0})


def write_to_a_person(project, monkeypatch):
    from tests.assistant.support_requests.conftest import old_token

    SupportSettings.objects.create(project=project, service_url=SERVICE, emails=["owner@acme.example"])
    body = {"email": "ada@reader.example", "subject": "Ask ada@reader.example", "message": "My secret"}
    form = SupportRequestIn(token=old_token(project, monkeypatch), **body)
    return support.record(project, form, None)


def happen(project, people_user, monkeypatch):
    """Let every event happen. Returns what must be in no body."""
    store_answer(project, "How do I herd ferrets for ada@reader.example?")
    assert grouping.catch_up()
    group = QuestionGroup.objects.get(project=project)
    group.project = project
    Actor(people_user.get_username(), group).dismiss()
    liked = {
        "source": "contextual",
        "path": "/install",
        "helpful": False,
        "comment": "Ask bob@reader.example",
        "contact": "bob@reader.example",
    }
    feedback.record(project, FeedbackIn(**liked))
    read_source(project, "docs")
    read_source(project, "blog", error="The site of ada@reader.example cannot be reached.")
    write_to_a_person(project, monkeypatch)


@pytest.fixture
def owner(django_user_model):
    return django_user_model.objects.get_or_create(username="owner of events")[0]


def test_every_event_is_sent_once_and_looks_as_documented(make_project, listen, receiver, send_all, owner, monkeypatch):
    project = make_project().project
    listen(project)
    happen(project, owner, monkeypatch)
    send_all()
    send_all()
    received = {event["type"]: event for event in receiver.events}
    assert sorted(event["type"] for event in receiver.events) == sorted(received), "an event came twice"
    documented = read_documented()
    assert set(documented) - set(received) == {"budget.reached", "key.expiring"}
    assert set(received) <= set(documented)
    for name, event in received.items():
        assert set(event) == {"type", "timestamp", "data"}
        assert list(event["data"]) == documented[name], name
        assert event["data"]["project"] == project.domain
        assert event["data"]["url"].startswith(f"{SERVICE}/admin/")
        assert re.fullmatch("evt_[a-z2-7]{20}", event["data"]["id"])
    text = json.dumps(receiver.events)
    assert not re.search(r"reader\.example|secret", text), text
    assert received["question.unanswered"]["data"]["question"] == "How do I herd ferrets for [e-mail]?"
    assert received["gap.opened"]["data"]["gapId"] == received["gap.closed"]["data"]["gapId"]
    assert received["source.read"]["data"]["pagesUnchanged"] == 40
    assert received["feedback.thumbs_down"]["data"]["comment"] == "Ask [e-mail]"


def read_documented():
    """Read from the documentation, for each type of event, the names of the fields in its `data`."""
    body = navigation.pages()["webhooks"].body.partition("\n## Events\n")[2]
    rows = re.findall(r"^\| `([a-z_.]+)` \| .* \| (.+) \|$", body, re.MULTILINE)
    documented = {name: ["id", "project", "url", *re.findall(r"`(\w+)`", names)] for name, names in rows}
    example = json.loads(re.findall(r"^```json\n(.*?)^```$", body, re.MULTILINE | re.DOTALL)[0])
    assert set(example) == {"type", "timestamp", "data"}
    assert list(example["data"]) == documented[example["type"]]
    return documented


def test_every_type_of_event_is_documented():
    assert {event_type.name for event_type in events.list_event_types()} == set(read_documented())


def test_only_the_chosen_events_of_the_own_project_are_stored(make_project, listen, receiver, send_all, owner):
    project, other = make_project().project, make_project().project
    listen(project, events="gap.closed")
    group = QuestionGroup.objects.create(project=project, terms=" a ", key="a")
    stranger = QuestionGroup.objects.create(project=other, terms=" a ", key="a")
    for one in (group, stranger):
        Actor(owner.get_username(), one).dismiss()
        Actor(owner.get_username(), one).reopen()
    send_all()
    assert [event["type"] for event in receiver.events] == ["gap.closed"]
    assert not Event.objects.filter(project=other).exists()
    assert Event.objects.filter(project=project).count() == 1


def test_two_webhooks_get_the_same_event_with_one_id(make_project, listen, receiver, send_all):
    project = make_project().project
    listen(project)
    listen(project)
    read_source(project, "docs")
    send_all()
    first, second = receiver.events
    assert first["data"]["id"] == second["data"]["id"]
    assert len(set(receiver.ids)) == 2


def test_a_gap_is_news_once_until_it_is_closed(make_project, listen, receiver, send_all, owner):
    project = make_project().project
    listen(project)
    for _ in range(3):
        store_answer(project, "How do I herd ferrets?")
        assert grouping.catch_up()
    group = QuestionGroup.objects.get(project=project)
    Actor(owner.get_username(), group).assign(owner)
    Actor(owner.get_username(), group).mark_fixed("How do I herd ferrets?")
    send_all()
    names = [event["type"] for event in receiver.events]
    assert names.count("question.unanswered") == 3
    assert [name for name in names if name.startswith("gap.")] == ["gap.opened", "gap.closed"]


def test_each_question_without_an_answer_is_news_once(make_project, listen, receiver, send_all):
    project = make_project().project
    listen(project, events="question.unanswered")
    answers = {kind: store_answer(project, f"Where is the {kind} ferret?", kind) for kind in Message.Outcome.values}
    assert grouping.catch_up()
    thumbs.set_thumb(answers["refused"].pk, helpful=False)
    send_all()
    found = sorted(event["data"]["outcome"] for event in receiver.events)
    assert found == ["closest_passages", "cut", "failed", "refused", "unsupported"]


def test_a_thumb_with_its_reason_and_comment_is_one_event(project, listen, receiver, send_all):
    listen(project.project)
    answer = store_answer(project.project, "How do I install acme?", "answered")
    assert grouping.catch_up()
    with transaction.atomic():  # else a service of another test could send it before the comment
        for more in ({}, {"reason": "Outdated"}, {"reason": "Outdated", "comment": "For 2.0"}):
            feedback.record(
                project.project,
                FeedbackIn(source="contextual", path="/", helpful=False, messageId=answer.message_id, **more),
            )
    send_all()
    assert sorted(event["type"] for event in receiver.events) == ["feedback.thumbs_down", "gap.opened"]
    data = next(event["data"] for event in receiver.events if event["type"].startswith("feedback"))
    assert (data["isAboutAnswer"], data["reason"], data["comment"]) == (True, "Outdated", "For 2.0")


def test_what_was_erased_before_it_was_sent_is_not_in_it(make_project, listen, receiver, send_all):
    project = make_project().project
    listen(project)
    with transaction.atomic():  # else a service of another test could send it before
        store_answer(project, "How do I herd ferrets?")
        feedback.record(project, FeedbackIn(source="contextual", path="/", helpful=False, comment="Ferrets!"))
        assert grouping.catch_up()
        Message.objects.filter(project=project).delete()
        Feedback.objects.filter(project=project).delete()
    send_all()
    assert len(receiver.events) == 3
    assert "errets" not in json.dumps(receiver.events)


def test_old_questions_are_no_news(make_project, listen, receiver, send_all):
    project = make_project().project
    listen(project)
    store_answer(project, "How do I herd ferrets?", at=timezone.now() - timezone.timedelta(days=3))
    assert grouping.catch_up()
    send_all()
    assert receiver.events == []


def test_an_event_is_stored_with_its_cause_or_not_at_all(make_project, listen, monkeypatch):
    project = make_project().project
    listen(project)
    monkeypatch.setattr(Delivery.objects, "bulk_create", lambda rows: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_to_a_person(project, monkeypatch)
    assert not SupportRequest.objects.filter(project=project).exists()
    assert not Event.objects.filter(project=project).exists()


def test_events_go_after_thirty_days(make_project, listen):
    project = make_project().project
    listen(project)
    read_source(project, "docs")
    events.sweep()
    assert Delivery.objects.filter(project=project).exists()
    Event.objects.filter(project=project).update(created_at=timezone.now() - timezone.timedelta(days=31))
    events.sweep()
    assert not Event.objects.filter(project=project).exists()
    assert not Delivery.objects.filter(project=project).exists()


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://hooks.slack.com/services/T0/B0/x", "slack"),
        ("https://discord.com/api/webhooks/1/x", "discord"),
        ("https://discord.com/api/webhooks/1/x/slack", "standard"),
        ("https://acme.webhook.office.com/webhookb2/x", "teams"),
        ("https://prod-1.westeurope.logic.azure.com:443/workflows/x", "teams"),
        ("https://hooks.slack.com.evil.example/x", "standard"),
        ("https://help.acme.example/hooks", "standard"),
    ],
)
def test_a_chat_is_recognized_by_its_host(url, expected):
    assert chats.find_format(url) == expected


@pytest.mark.parametrize("chat", ["slack", "teams", "discord"])
def test_a_chat_gets_a_message_in_which_nothing_is_markup(make_project, listen, receiver, send_all, chat):
    project = make_project().project
    listen(project, format=chat)
    store_answer(project, "How do I <!channel> *herd* [ferrets](https://evil.example) @everyone?")
    assert grouping.catch_up()
    send_all()
    headers, _ = receiver.calls[0]
    assert "webhook-signature" not in headers
    message = receiver.events[0]
    url = f"{SERVICE}/admin/project/{project.domain}/gaps/{QuestionGroup.objects.get(project=project).pk}"
    if chat == "slack":
        assert f"<{url}|Open it>" in message["text"]
        assert "&lt;!channel&gt;" in message["text"]
        sentence, link = (block["text"] for block in message["blocks"])
        assert (sentence["type"], link["text"]) == ("plain_text", f"<{url}|Open it>")
        assert "<!channel> *herd* [ferrets]" in sentence["text"]
    elif chat == "discord":
        assert message["allowed_mentions"] == {"parse": []}
        assert message["content"].endswith(f"<{url}>")
        assert r"\*herd\* \[ferrets\]" in message["content"]
    else:
        card = message["attachments"][0]["content"]
        assert card["actions"][0]["url"] == url
        assert r"\*herd\*" in card["body"][0]["text"]


def test_a_long_sentence_fits_into_a_message_of_discord():
    body = chats.build_body(Webhook.Format.DISCORD, "*" * 5000, f"{SERVICE}/{'x' * 100}")
    assert len(body["content"]) <= 2000


def test_the_owner_reads_why_a_receiver_refused(make_project, listen, receiver, send_all):
    receiver.statuses = [400]  # whichever process sends
    receiver.body = b"invalid_payload for ada@reader.example\nwhsec_0123456789abcdefghij"
    project = make_project().project
    webhook = listen(project)
    read_source(project, "docs")
    send_all()
    result = webhook.deliveries.get().attempts.get().result
    assert result == "The webhook answered with status 400: invalid_payload for [e-mail] [key]."
