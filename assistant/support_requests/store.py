"""Store support requests with their deliveries, load the turns that go along, count forms, and delete requests."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date, timedelta
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet, Sum
from django.utils import timezone

from assistant.models import Message, SupportFormCount, SupportRequest, SupportSettings, Thread
from assistant.models.support_requests import MAX_EXCHANGES
from assistant.support_requests import form_tokens
from docsite.core.delivery import events, outbox
from docsite.core.delivery.models import Delivery
from docsite.core.http.errors import NotFound
from docsite.core.tenants.models import Project
from docsite.core.tenants.retention import list_cutoffs

if TYPE_CHECKING:
    from assistant.support_requests.schemas import SupportRequestIn

CREATED = "support_request.created"  # the event of the owner's help desk
HANDED_OFF = "question.handed_off"  # the event of other webhooks
FORM_EVENTS = ("begun", "shown", "solved", "sent")
MAX_PATH = 400
_RECENT = timedelta(hours=24)  # of a conversation that a page without `fp` may show
_BATCH = 200


@dataclass(frozen=True)
class Exchange:
    """A question and its answer. The id is that of the answer."""

    message_id: str
    question: str
    answer: str


def find_thread(project: Project, fp: str, thread_id: str | None) -> Thread | None:
    """The reader's conversation; None if there is none, or it belongs to somebody else."""
    return Thread.objects.filter(project=project, fp=fp, thread_id=thread_id).first() if thread_id else None


def find_recent_thread(project: Project, thread_id: str) -> Thread | None:
    """A conversation of the last day by its id, which is a secret. For readers who come by the link in an answer."""
    since = timezone.now() - _RECENT
    recent = Thread.objects.filter(project=project, thread_id=thread_id, messages__created_at__gte=since)
    return recent.distinct().first() if thread_id else None


def load_exchanges(thread: Thread) -> list[Exchange]:
    """The latest questions and answers of a conversation, oldest first."""
    turns = list(thread.messages.order_by("-pk").only("role", "content", "message_id")[: 2 * MAX_EXCHANGES])[::-1]
    exchanges, question = [], ""
    for turn in turns:
        if turn.role == Message.Role.USER:
            question = turn.content
        elif question:
            exchanges.append(Exchange(turn.message_id, question, turn.content))
    return exchanges


def record(project: Project, body: "SupportRequestIn", thread: Thread | None) -> SupportRequest:
    """Store a request with its deliveries; both are committed when this returns. A form that is sent twice counts once.

    Raises `BadRequest` for what a person would not send, and `NotFound` where the owner takes no requests.
    """
    settings = require_settings(project)
    body.check()
    form_id = form_tokens.check(project, body.token)
    chosen = set(body.messageIds)
    exchanges = [exchange for exchange in load_exchanges(thread) if exchange.message_id in chosen] if thread else []
    transcript = [
        {"role": role, "text": project.redact(text)}
        for exchange in exchanges
        for role, text in (("user", exchange.question), ("assistant", exchange.answer))
    ]
    try:
        with transaction.atomic():
            request = SupportRequest.objects.create(
                project=project,
                form_id=form_id,
                email=body.email,
                subject=project.redact(" ".join(body.subject.split())),
                message=project.redact(body.message),
                transcript=transcript,
                thread=thread,
                page_path=project.path_of(body.path)[:MAX_PATH] if body.path else "",
            )
            outbox.add(project, CREATED, request.request_id, list_channels(settings))
            events.publish(project, HANDED_OFF, {"request": request.request_id})
            count_form(project, "sent")
    except IntegrityError:
        return SupportRequest.objects.get(project=project, form_id=form_id)
    return request


def require_settings(project: Project) -> SupportSettings:
    """The owner's settings. Raises `NotFound` where the owner takes no requests."""
    settings = SupportSettings.for_project(project)
    if not settings.is_on:
        raise NotFound("This project takes no support requests.")
    return settings


def list_channels(settings: SupportSettings) -> list[Delivery.Channel]:
    """The channels by which the owner gets requests."""
    has_target = {Delivery.Channel.EMAIL: settings.emails, Delivery.Channel.WEBHOOK: settings.webhook_id}
    return [channel for channel, target in has_target.items() if target]


def count_form(project: Project, event: str) -> None:
    """Count what happened in a form today: one of `FORM_EVENTS`."""
    today = timezone.now().date()
    SupportFormCount.objects.get_or_create(project=project, day=today)
    SupportFormCount.objects.filter(project=project, day=today).update(**{event: F(event) + 1})


def sum_forms(project: Project, since: date) -> dict[str, int]:
    """What happened in forms since a day, by event."""
    sums: dict[str, Any] = SupportFormCount.objects.filter(project=project, day__gte=since).aggregate(
        **{event: Sum(event, default=0) for event in FORM_EVENTS}
    )
    return sums


def delete(requests: "QuerySet[SupportRequest]") -> int:
    """Delete requests with their deliveries. Returns how many there were."""
    deleted = 0
    while rows := list(requests.only("project_id", "request_id")[:_BATCH]):
        with transaction.atomic():
            for row in rows:
                outbox.discard(row.project_id, row.request_id)
            SupportRequest.objects.filter(pk__in=[row.pk for row in rows]).delete()
        deleted += len(rows)
    return deleted


def cut_conversation(project: Project, fp: str, thread_id: str) -> None:
    """Take a conversation out of its requests, since its reader deletes it. The requests themselves stay."""
    SupportRequest.objects.filter(project=project, thread__fp=fp, thread__thread_id=thread_id).update(transcript=[])


def delete_of_threads(threads: Iterable[int]) -> int:
    """Delete the requests of conversations. Returns how many there were."""
    return delete(SupportRequest.objects.filter(thread__in=list(threads)))


def select_of_address(project: Project, email: str) -> "QuerySet[SupportRequest]":
    """The requests of an e-mail address."""
    return SupportRequest.objects.filter(project=project, email__iexact=email)


def sweep() -> None:
    """Delete requests after the retention time of their project."""
    for project_id, oldest in list_cutoffs(SupportSettings, "days"):
        delete(SupportRequest.objects.filter(project=project_id, created_at__lt=oldest))
