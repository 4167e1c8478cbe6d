"""The event of a thumbs down for webhooks."""

from analytics.models import Feedback
from docsite.core.delivery import events
from docsite.core.delivery.events import Description, EventType
from docsite.core.delivery.models import Event
from docsite.core.redaction import redact
from docsite.core.tenants.models import Project

THUMBS_DOWN = "feedback.thumbs_down"
_MAX_COMMENT = 500  # characters


def register() -> None:
    """Let owners choose this event for their webhooks."""
    events.add_event_type(EventType(THUMBS_DOWN, "A reader gave a thumbs down", _describe))


def publish(project: Project, feedback: Feedback) -> None:
    """Publish a thumbs down. Call it in the transaction that stores it."""
    events.publish(project, THUMBS_DOWN, {"feedback": feedback.feedback_id})


def _describe(event: Event) -> Description:
    """Feedback without the reader's contact."""
    row = Feedback.objects.select_related("message").filter(feedback_id=event.facts["feedback"]).first()
    comment = redact(row.comment)[:_MAX_COMMENT] if row and row.comment else None
    page = event.project.url_of(row.path) if row else None
    data = {
        "feedbackId": event.facts["feedback"],
        "page": page,
        "isAboutAnswer": bool(row and row.message),
        "reason": row.reason or None if row else None,
        "comment": comment,
    }
    target = "An answer" if data["isAboutAnswer"] else "A page"
    sentence = f"{target} got a thumbs down{f' at {page}' if page else ''}{f': “{comment}”' if comment else ''}."
    return Description(data, sentence, f"/admin/project/{event.project.domain}/feedback/{event.facts['feedback']}")
