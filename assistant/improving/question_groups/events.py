"""The events of questions and gaps for webhooks: a question without an answer, a gap that appeared or was closed."""

from collections.abc import Iterable
from datetime import timedelta

from django.utils import timezone

from assistant.conversations.outcomes import UNANSWERED
from assistant.models import GroupedQuestion, QuestionGroup
from docsite.core.delivery import events
from docsite.core.delivery.events import Description, EventType
from docsite.core.delivery.models import Event
from docsite.core.redaction import redact

QUESTION_UNANSWERED, GAP_OPENED, GAP_CLOSED = "question.unanswered", "gap.opened", "gap.closed"
_RECENT = timedelta(days=1)  # older questions are no news: they come from an import
_MAX_TEXT = 500  # characters


def register() -> None:
    """Let owners choose these events for their webhooks."""
    events.add_event_type(EventType(QUESTION_UNANSWERED, "A question has no answer", _describe_question))
    events.add_event_type(EventType(GAP_OPENED, "A gap appeared, or was opened again", _describe_gap))
    events.add_event_type(EventType(GAP_CLOSED, "A gap was fixed or dismissed", _describe_gap))


def publish_unanswered(rows: Iterable[GroupedQuestion]) -> None:
    """Publish the questions among new rows that have no answer. Call it in the transaction that stores the rows."""
    since = timezone.now() - _RECENT
    events.publish_all(
        (row.project_id, QUESTION_UNANSWERED, {"answer": row.answer_id, "group": row.group_id})
        for row in rows
        if row.outcome in UNANSWERED and row.at > since
    )


def mark_problems(rows: Iterable[GroupedQuestion]) -> None:
    """Mark the groups of rows with a problem, and publish new gaps. Call it in the transaction that stores them."""
    since = timezone.now() - _RECENT
    problems = [row for row in rows if row.problem]
    by_group = {row.group_id: row for row in problems if row.group_id}
    groups = QuestionGroup.objects.filter(pk__in=by_group)
    new = set(groups.filter(has_problem=False).select_for_update().values_list("pk", flat=True))
    groups.update(has_problem=True, nearest_generation=None)
    events.publish_all(
        (row.project_id, GAP_OPENED, {"group": row.group_id, "state": "open"})
        for row in problems
        if row.group_id in new and by_group[row.group_id] is row and row.at > since
    )


def publish_state(group: QuestionGroup) -> None:
    """Publish that an owner has opened or closed a gap. Call it in the transaction that stores the state."""
    is_open = group.state in (QuestionGroup.State.OPEN, QuestionGroup.State.ASSIGNED)
    events.publish(group.project, GAP_OPENED if is_open else GAP_CLOSED, {"group": group.pk, "state": group.state})


def _describe_question(event: Event) -> Description:
    row = GroupedQuestion.objects.select_related("question", "answer").filter(answer=event.facts["answer"]).first()
    text = _cut(row.question.content) if row and row.question else None
    answer = row.answer if row else None
    data = {
        "question": text,
        "outcome": answer.outcome if answer else None,
        "page": event.project.url_of(answer.page_path) if answer and answer.page_path else None,
        "gapId": event.facts["group"],
    }
    return Description(data, f"This question has no answer: “{text or 'deleted'}”.", _path(event))


def _describe_gap(event: Event) -> Description:
    """A gap by its latest question; that of the owner, once it was fixed."""
    group = QuestionGroup.objects.filter(pk=event.facts["group"]).first()
    text = _cut(group.question or group.find_latest_wording()) if group else None
    data = {"gapId": event.facts["group"], "question": text or None, "state": event.facts["state"]}
    verb = {"dismissed": "was dismissed", "fixed": "was marked as fixed"}.get(event.facts["state"], "is open")
    return Description(data, f"The gap “{text or 'deleted'}” {verb}.", _path(event))


def _path(event: Event) -> str:
    gaps = f"/admin/project/{event.project.domain}/gaps"
    return f"{gaps}/{event.facts['group']}" if event.facts["group"] else gaps


def _cut(text: str) -> str:
    """A reader's text on one line, without personal data."""
    return redact(" ".join(text.split()))[:_MAX_TEXT]
