"""What owners are sent about a support request: an e-mail that they can answer, or data for their webhook."""

from typing import Any

from assistant.models import SupportRequest, SupportSettings
from assistant.support_requests.store import CREATED, HANDED_OFF
from docsite.core.delivery import events, outbox
from docsite.core.delivery.events import Description, EventType
from docsite.core.delivery.messages import Email, Message, WebhookCall
from docsite.core.delivery.models import Delivery, Event
from docsite.core.redaction import redact
from docsite.core.tenants.models import Project

_SPEAKERS = {"user": "Reader", "assistant": "Assistant"}


def register() -> None:
    """Let the outbox deliver support requests, and webhooks learn of them."""
    outbox.add_event_kind(CREATED, render)
    events.add_event_type(EventType(HANDED_OFF, "A reader wrote to a person", describe))


def describe(event: Event) -> Description:
    """A support request for a webhook of events: without the reader's address and message."""
    request = SupportRequest.objects.filter(request_id=event.facts["request"]).first()
    subject = redact(request.subject) if request else None
    data = {
        "requestId": event.facts["request"],
        "subject": subject,
        "page": event.project.url_of(request.page_path) if request and request.page_path else None,
    }
    path = f"/admin/project/{event.project.domain}/support/{event.facts['request']}"
    return Description(data, f"A reader wrote to a person: “{subject or 'deleted'}”.", path)


def render(delivery: Delivery) -> Message | None:
    """The message of a delivery, the same in each attempt. None if the address or the request was removed."""
    request = SupportRequest.objects.select_related("project", "thread").filter(request_id=delivery.subject).first()
    if request is None:
        return None
    settings = SupportSettings.for_project(request.project)
    if delivery.channel == Delivery.Channel.WEBHOOK:
        return WebhookCall(settings.webhook, build_data(request, settings)) if settings.webhook else None
    return build_email(request, settings) if settings.emails else None


def build_email(request: SupportRequest, settings: SupportSettings) -> Email:
    """An e-mail to the owner. Its answer goes to the reader."""
    project = request.project
    lines = [
        request.message,
        "",
        "-- ",
        f"From {request.email}. Your answer to this e-mail goes there.",
        *([f"Page: {project.url_of(request.page_path)}"] if request.page_path else []),
        f"Request {request.request_id}: {admin_url(request, settings)}",
    ]
    if request.transcript:
        lines += ["", "What the reader asked the assistant before:"]
    for turn in request.transcript:
        lines += ["", f"{_SPEAKERS[turn['role']]}:", *(f"> {line}" for line in turn["text"].splitlines())]
    return Email(settings.emails, f"[{project.name}] {request.subject}", "\n".join([*lines, ""]), request.email)


def build_data(request: SupportRequest, settings: SupportSettings) -> dict[str, Any]:
    """The data of the webhook."""
    return {
        "id": request.request_id,
        "project": request.project.domain,
        "createdAt": request.created_at.isoformat(),
        "email": request.email,
        "subject": request.subject,
        "message": request.message,
        "page": request.project.url_of(request.page_path) if request.page_path else None,
        "threadId": request.thread.thread_id if request.thread else None,
        "transcript": request.transcript,
        "adminUrl": admin_url(request, settings),
    }


def build_test(project: Project, settings: SupportSettings) -> tuple[Email, dict[str, Any]]:
    """What the test button sends: an e-mail, and the data of a webhook."""
    text = f"This is a test. Support requests of {project.name} will arrive here.\n"
    return Email(settings.emails, f"[{project.name}] Test", text), {"project": project.domain, "message": text.strip()}


def admin_url(request: SupportRequest, settings: SupportSettings) -> str:
    """The page of a request in the admin."""
    return f"{settings.service_url}/admin/project/{request.project.domain}/support/{request.request_id}"
