"""Store feedback, query it, and delete it after its retention time."""

from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction
from django.utils import timezone

from analytics.feedback import events
from analytics.models import AnalyticsSettings, Feedback
from assistant.improving.question_groups import thumbs
from assistant.models import Message
from docsite.core.http.errors import BadRequest, NotFound
from docsite.core.tenants.models import Project
from docsite.core.tenants.retention import list_cutoffs

if TYPE_CHECKING:
    from analytics.feedback.schemas import FeedbackIn


def record(project: Project, feedback: "FeedbackIn", source: str = "") -> None:
    """Store feedback; it is committed when this returns. New feedback on the same answer or id replaces the old row.

    The row keeps the status that the owner set. `source` replaces that of the feedback, where readers cannot choose
    it. Raises `BadRequest` for an answer of another project.
    """
    feedback.check()
    answer = _find_answer(project, feedback.messageId) if feedback.messageId else None
    identity: dict[str, Any] = {"message": answer} if answer else {"project": project, "client_id": feedback.id}
    if feedback.is_withdrawal:
        Feedback.objects.filter(**identity).delete()
        if answer:
            thumbs.set_thumb(answer.pk, None)
        return
    values = {
        "project": project,
        "source": source or feedback.source,
        "path": project.path_of(feedback.path),
        "helpful": feedback.helpful,
        "reason": feedback.reason or "",
        "comment": project.redact(feedback.comment or ""),
        "contact": feedback.contact or "",
        "code": feedback.code or "",
        "filename": feedback.filename or "",
        "lang": feedback.lang or "",
        "created_at": timezone.now(),
    }
    try:
        with transaction.atomic():
            was_bad = False
            if answer or feedback.id:
                was_bad = Feedback.objects.filter(**identity, helpful=False).exists()
                row, _ = Feedback.objects.update_or_create(**identity, defaults=values)
            else:
                row = Feedback.objects.create(**values)
            if feedback.helpful is False and not was_bad:
                events.publish(project, row)
    except IntegrityError:  # the answer or the project was deleted at this moment
        raise _answer_not_found() if answer else NotFound("No such domain.") from None
    if answer:
        thumbs.set_thumb(answer.pk, feedback.helpful)


def sweep() -> None:
    """Delete feedback after the retention time of its project."""
    for project_id, oldest in list_cutoffs(AnalyticsSettings, "feedback_days"):
        Feedback.objects.filter(project=project_id, created_at__lt=oldest).delete()


def _find_answer(project: Project, message_id: str) -> Message:
    answers = Message.objects.filter(thread__project=project, role=Message.Role.ASSISTANT)
    found = answers.filter(message_id=message_id).only("pk").first()
    if found is None:
        raise _answer_not_found()
    return found


def _answer_not_found() -> BadRequest:
    return BadRequest("messageId: no such answer")
