"""What readers think, kept and read again."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import IntegrityError
from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from analytics.feedback.schemas import FeedbackIn
from analytics.models import Feedback
from assistant.models import Message
from docsite.core.http.cursor import Moment
from docsite.core.http.errors import BadRequest, NotFound
from docsite.core.tenants.models import Project


def record(project: Project, said: FeedbackIn) -> None:
    """Keep what a reader said; committed when this returns. Of an answer or an id the last word counts: it is one row.

    The row keeps the status that its owner gave it.

    Raises `BadRequest` for an answer that is none of the project's.
    """
    said.check()
    about = _answer(project, said.messageId) if said.messageId else None
    replaces: dict[str, Any] = {"message": about} if about else {"project": project, "client_id": said.id}
    if said.takes_back:
        Feedback.objects.filter(**replaces).delete()
        return
    told = {
        "project": project,
        "source": said.source,
        "path": project.path_of(said.path),
        "helpful": said.helpful,
        "reason": said.reason or "",
        "comment": said.comment or "",
        "contact": said.contact or "",
        "code": said.code or "",
        "filename": said.filename or "",
        "lang": said.lang or "",
        "created_at": timezone.now(),
    }
    try:
        if about or said.id:
            Feedback.objects.update_or_create(**replaces, defaults=told)
        else:
            Feedback.objects.create(**told)
    except IntegrityError:  # what it is about was deleted this moment
        raise _no_answer() if about else NotFound("No such domain.") from None


def _answer(project: Project, message_id: str) -> Message:
    answers = Message.objects.filter(thread__project=project, role=Message.Role.ASSISTANT)
    found = answers.filter(message_id=message_id).only("pk").first()
    if found is None:
        raise _no_answer()
    return found


def _no_answer() -> BadRequest:
    return BadRequest("messageId: no such answer")


def rows(
    project: Project,
    start: datetime,
    end: datetime,
    limit: int,
    *,
    source: str | None = None,
    statuses: Sequence[str] = (),
    after: Moment | None = None,
) -> list[Feedback]:
    """Feedback of the half-open range, latest first; what follows a place, if one is given."""
    found = _wanted(project, start, end, source, statuses)
    if after:
        found = found.filter(created_at__lte=after.at).exclude(created_at=after.at, pk__gte=after.pk)
    return list(found.select_related("message").only(*_SHOWN)[:limit])


_SHOWN = (
    *("feedback_id", "source", "status", "path", "helpful", "reason", "comment", "contact"),
    *("code", "filename", "lang", "created_at", "message__message_id"),
)


def by_page(
    project: Project,
    start: datetime,
    end: datetime,
    limit: int,
    *,
    source: str | None = None,
    statuses: Sequence[str] = (),
) -> list[dict[str, Any]]:
    """How much was said of each page in the half-open range, most first, then by path."""
    about_code = Q(source=Feedback.Source.CODE_SNIPPET)
    counted = (
        _wanted(project, start, end, source, statuses)
        .values("path")
        .annotate(
            thumbsUp=Count("pk", filter=Q(helpful=True) & ~about_code),
            thumbsDown=Count("pk", filter=Q(helpful=False) & ~about_code),
            code=Count("pk", filter=about_code),
            total=Count("pk"),
        )
    )
    return list(counted.order_by("-total", "path")[:limit])


def _wanted(
    project: Project, start: datetime, end: datetime, source: str | None, statuses: Sequence[str]
) -> QuerySet[Feedback]:
    found = Feedback.objects.filter(project=project, created_at__gte=start, created_at__lt=end)
    if source:
        found = found.filter(source=source)
    if statuses:
        found = found.filter(status__in=statuses)
    return found
