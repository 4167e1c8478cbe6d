"""Events for the webhooks of a project: apps describe their types, and publish what happened when they store it.

events.add_event_type(EventType("gap.opened", "A gap appeared", describe))
with transaction.atomic():
    group.save()
    events.publish(project, "gap.opened", {"group": group.pk})
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.utils import timezone

from docsite.core.delivery import outbox
from docsite.core.delivery.messages import WebhookCall
from docsite.core.delivery.models import Delivery, Event, Webhook
from docsite.core.tenants.models import Project

TEST = "webhook.test"  # what the test button sends
DAYS = 30  # that an event is stored with its deliveries
_BATCH = 500


@dataclass(frozen=True)
class Description:
    """What receivers learn of an event: JSON, the same in one sentence, and the path of its page in the admin.

    It is built whenever the event is sent, so that what was erased meanwhile is not in it.
    """

    data: dict[str, Any]
    sentence: str
    path: str


@dataclass(frozen=True)
class EventType:
    """A type of events. `label` is what owners choose it by."""

    name: str
    label: str
    describe: Callable[[Event], Description]


_types: dict[str, EventType] = {}


def add_event_type(event_type: EventType) -> None:
    """Let owners choose a type of events for their webhooks. Apps call this when they start."""
    _types[event_type.name] = event_type
    outbox.add_event_kind(event_type.name, render)


def list_event_types() -> list[EventType]:
    """All types, by name."""
    return sorted(_types.values(), key=lambda one: one.name)


def publish(project: Project, name: str, facts: dict[str, Any]) -> None:
    """Store an event, with a delivery for each webhook that receives its type. Call it in the transaction of its cause.

    Without such a webhook nothing is stored.
    """
    publish_all([(project.pk, name, facts)])


def publish_all(news: Iterable[tuple[int, str, dict[str, Any]]]) -> None:
    """Publish several events, as `publish` does. Each has the id of its project, its type and its facts."""
    news = list(news)
    by_project: dict[int, list[Webhook]] = {project_id: [] for project_id, _, _ in news}
    for webhook in Webhook.objects.filter(project__in=by_project).exclude(events="").order_by("pk"):
        by_project[webhook.project_id].append(webhook)
    for project_id, name, facts in news:
        receivers = [webhook for webhook in by_project[project_id] if name in webhook.events.split()]
        if receivers:
            event = Event.objects.create(project_id=project_id, name=name, facts=facts)
            Delivery.objects.bulk_create(
                Delivery(
                    project_id=project_id,
                    event=name,
                    subject=event.event_id,
                    channel=Delivery.Channel.WEBHOOK,
                    webhook=webhook,
                )
                for webhook in receivers
            )


def render(delivery: Delivery) -> WebhookCall | None:
    """What the webhook of a delivery is sent."""
    event = Event.objects.select_related("project").filter(event_id=delivery.subject).first()
    if event is None or delivery.webhook is None:
        return None
    described = _types[event.name].describe(event)
    data = {
        "id": event.event_id,
        "project": event.project.domain,
        "url": f"{delivery.webhook.service_url}{described.path}",
        **described.data,
    }
    return WebhookCall(delivery.webhook, data, f"{event.project.name}: {described.sentence}")


def build_test(webhook: Webhook) -> WebhookCall:
    """What the test button sends."""
    project = webhook.project
    sentence = f"This is a test. Events of {project.name} will arrive here."
    path = f"/admin/project/{project.domain}/webhooks/{webhook.pk}"
    data = {"project": project.domain, "url": f"{webhook.service_url}{path}", "message": sentence}
    return WebhookCall(webhook, data, sentence)


def sweep() -> None:
    """Delete events with their deliveries after `DAYS`."""
    old = Event.objects.filter(created_at__lt=timezone.now() - timedelta(days=DAYS))
    while batch := dict(old.values_list("pk", "event_id")[:_BATCH]):
        Delivery.objects.filter(subject__in=batch.values(), webhook__isnull=False).delete()
        Event.objects.filter(pk__in=batch).delete()
