"""Deliveries are sent by e-mail and signed webhook, retried, repeated, and never sent by two processes at once."""

import threading
import uuid
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.core.exceptions import ValidationError
from django.db import connection, transaction
from django.utils import timezone

from docsite.core.delivery import background, mail, outbox, webhooks
from docsite.core.delivery.messages import DeliveryError, Email, WebhookCall
from docsite.core.delivery.models import Delivery, DeliveryAttempt

EVENT = ""  # of the test that runs, since other tests leave deliveries


@pytest.fixture
def kind(monkeypatch):
    """A kind of event whose message a test sets."""
    messages = {}
    monkeypatch.setattr(f"{__name__}.EVENT", f"test.{uuid.uuid4().hex}")
    monkeypatch.setattr(outbox, "_kinds", {EVENT: lambda delivery: messages[delivery.subject]})
    return messages


def add(project, kind, message, subject="one"):
    kind[subject] = message
    channel = Delivery.Channel.EMAIL if isinstance(message, Email) else Delivery.Channel.WEBHOOK
    outbox.add(project, EVENT, subject, [channel])
    return Delivery.objects.get(project=project, subject=subject)


def make_due(delivery):
    Delivery.objects.filter(pk=delivery.pk).update(due_at=timezone.now(), leased_until=None)


LETTER = Email(["owner@acme.example"], "How do\nI print?", "Please help.\n", reply_to="ada@reader.example")


def test_a_mail_reaches_the_mail_server_and_its_answer_the_reader(make_project, kind, mailbox):
    delivery = add(make_project().project, kind, LETTER)
    assert background.send_next()
    assert not background.send_next()
    (letter,) = mailbox.mail
    assert (letter["To"], letter["Reply-To"], letter["From"]) == (
        "owner@acme.example",
        "ada@reader.example",
        "Docs <docs@acme.example>",
    )
    assert letter["Subject"] == "How do I print?"
    assert letter["Message-ID"] == f"<{delivery.delivery_id}@acme.example>"
    assert letter.get_content().strip() == "Please help."
    delivery.refresh_from_db()
    assert delivery.state == "delivered"


def test_a_refused_mail_is_sent_again_later_with_the_same_id(make_project, kind, mailbox):
    mailbox.refusals["owner@acme.example"] = ["451 4.3.0 <owner@acme.example> try later"]
    delivery = add(make_project().project, kind, LETTER)
    assert background.send_next()
    assert not background.send_next()  # not due yet
    delivery.refresh_from_db()
    assert timedelta(seconds=3) < delivery.due_at - timezone.now() < timedelta(seconds=6)
    make_due(delivery)
    assert background.send_next()
    first, second = outbox.list_deliveries(delivery.project, "one")[0].attempts.all()
    assert (first.succeeded, second.succeeded) == (False, True)
    assert "451" in first.result
    assert "owner@" not in first.result
    assert len(mailbox.mail) == 1


def test_a_mail_server_that_is_away_costs_an_attempt(make_project, kind, mailbox, settings):
    settings.EMAIL_PORT = 1
    delivery = add(make_project().project, kind, LETTER)
    background.send_next()
    (attempt,) = delivery.attempts.all()
    assert attempt.result == "The mail server could not be used (ConnectionRefusedError)."


def test_mail_waits_for_a_mail_server(make_project, kind):
    delivery = add(make_project().project, kind, LETTER)
    assert not mail.is_configured()
    assert not background.send_next()
    assert not delivery.attempts.exists()


def test_a_webhook_is_signed(make_project, kind, receiver):
    project = make_project().project
    webhook, secret = webhooks.store(project, None, receiver.url)
    delivery = add(project, kind, WebhookCall(webhook, {"text": "Grüße"}))
    assert background.send_next()
    assert receiver.is_signed(secret)
    assert not receiver.is_signed("whsec_" + "A" * 44)
    assert receiver.ids == [delivery.delivery_id]
    (event,) = receiver.events
    assert (event["type"], event["data"]) == (EVENT, {"text": "Grüße"})
    assert event["timestamp"] == delivery.created_at.isoformat(timespec="seconds")


def test_after_a_rotation_both_secrets_sign_for_a_day(make_project, kind, receiver):
    project = make_project().project
    webhook, old = webhooks.store(project, None, receiver.url)
    new = webhooks.rotate(webhook)
    add(project, kind, WebhookCall(webhook, {}))
    background.send_next()
    assert receiver.is_signed(old)
    assert receiver.is_signed(new)
    webhook.rotated_at -= timedelta(hours=25)
    add(project, kind, WebhookCall(webhook, {}), "two")
    background.send_next()
    assert not receiver.is_signed(old)
    assert receiver.is_signed(new)


@pytest.mark.parametrize("status", [500, 302, 404])
def test_a_refused_call_is_repeated_with_the_same_id_and_body(make_project, kind, receiver, status):
    project = make_project().project
    webhook, secret = webhooks.store(project, None, receiver.url)
    receiver.statuses = [status]
    delivery = add(project, kind, WebhookCall(webhook, {"n": 1}))
    background.send_next()
    assert len(receiver.calls) == 1  # a redirect is not followed
    make_due(delivery)
    background.send_next()
    assert len(set(receiver.ids)) == 1
    assert receiver.events[0] == receiver.events[1]
    assert receiver.is_signed(secret)
    assert [attempt.succeeded for attempt in delivery.attempts.all()] == [False, True]


def test_a_delivery_fails_after_its_last_attempt_and_can_be_repeated(make_project, kind, receiver):
    project = make_project().project
    webhook, _ = webhooks.store(project, None, receiver.url)
    attempts = len(outbox.RETRY_SECONDS) + 1
    receiver.statuses = [500] * attempts
    delivery = add(project, kind, WebhookCall(webhook, {}))
    for _ in range(attempts):
        make_due(delivery)
        assert background.send_next()
    delivery.refresh_from_db()
    assert delivery.state == "failed"
    make_due(delivery)
    assert not background.send_next()
    outbox.repeat(delivery)
    assert background.send_next()
    delivery.refresh_from_db()
    assert delivery.state == "delivered"
    assert len(set(receiver.ids)) == 1


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "localhost", "2130706433", "[::1]", "10.0.0.1", "169.254.169.254", "[::ffff:127.0.0.1]"]
)
def test_a_webhook_to_a_private_address_is_never_called(make_project, kind, receiver, settings_of, host):
    settings_of(webhook_private_hosts=())
    project = make_project().project
    webhook, _ = webhooks.store(project, None, f"http://{host}:{receiver.port}/hook")
    delivery = add(project, kind, WebhookCall(webhook, {}))
    background.send_next()
    assert receiver.calls == []
    assert "no public address" in delivery.attempts.get().result


@pytest.mark.parametrize(
    "url", ["http://example.com/x", "ftp://example.com", "https://me:x@example.com", "https://", "https://a b", "x"]
)
def test_an_address_that_cannot_be_called_is_refused(url):
    with pytest.raises(ValidationError):
        webhooks.validate_url(url)


def test_what_is_not_committed_is_not_sent(make_project, kind):
    project = make_project().project
    with transaction.atomic():
        add(project, kind, LETTER)
        transaction.set_rollback(True)
    assert not Delivery.objects.filter(project=project).exists()


def test_an_error_of_ours_holds_up_no_other_delivery(make_project, kind, mailbox, caplog):
    project = make_project().project
    broken = add(project, kind, LETTER, "broken")
    add(project, kind, LETTER, "fine")
    del kind["broken"]
    assert background.send_next()
    assert background.send_next()
    assert len(mailbox.mail) == 1
    assert broken.attempts.get().result == "An error of the service (KeyError)."
    assert "ada@" not in caplog.text


def test_a_delivery_is_claimed_once_and_again_after_its_lease(make_project, kind, mailbox):
    delivery = add(make_project().project, kind, LETTER)
    claimed = outbox.claim()
    assert claimed == delivery
    assert outbox.claim() is None
    make_due(delivery)  # the process that had claimed it was killed
    again = outbox.claim()
    assert (again, again.attempt_count) == (delivery, 2)
    outbox.finish(claimed, succeeded=True, result="too late")
    assert not DeliveryAttempt.objects.filter(delivery=delivery).exists()


def test_a_delivery_that_kills_its_process_each_time_fails_in_the_end(make_project, kind, mailbox):
    delivery = add(make_project().project, kind, LETTER)
    for _ in range(len(outbox.RETRY_SECONDS) + 1):
        assert outbox.claim() == delivery
        make_due(delivery)
    assert outbox.claim() is None
    delivery.refresh_from_db()
    assert delivery.state == Delivery.State.FAILED
    assert [attempt.result for attempt in delivery.attempts.all()] == ["The attempt did not end."]


def test_threads_that_claim_at_once_get_different_deliveries(make_project, kind, mailbox):
    project = make_project().project
    for number in range(20):
        add(project, kind, LETTER, f"s{number}")
    start = threading.Barrier(4)

    def claim_all(_):
        start.wait()
        try:
            return [claimed.pk for claimed in iter(outbox.claim, None)]
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        claimed = [pk for pks in threads.map(claim_all, range(4)) for pk in pks]
    assert len(claimed) == len(set(claimed)) == 20


def test_a_call_reports_a_host_that_does_not_exist(make_project):
    webhook, _ = webhooks.store(make_project().project, None, "https://nowhere.invalid/hook")
    with pytest.raises(DeliveryError, match="does not exist"):
        webhooks.call(WebhookCall(webhook, {}), "dlv_1", EVENT, "2026-01-01T00:00:00+00:00")


def test_a_slow_receiver_costs_an_attempt_and_no_more_time(make_project, kind, receiver, monkeypatch):
    monkeypatch.setattr(webhooks, "_SECONDS", 0.3)
    receiver.delay = 1
    project = make_project().project
    webhook, _ = webhooks.store(project, None, receiver.url)
    delivery = add(project, kind, WebhookCall(webhook, {}))
    background.send_next()
    assert delivery.attempts.get().result == "The webhook did not answer within 0.3 seconds."
