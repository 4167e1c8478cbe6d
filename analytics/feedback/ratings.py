"""The feedback on answers, for the assistant: its conversations show it, and a thumb down makes a gap."""

from collections.abc import Iterable

from django.db.models import QuerySet

from analytics.models import Feedback
from assistant.conversations.ratings import Rating
from assistant.models import Message
from docsite.core.redaction import redact
from docsite.core.tenants.models import Project


class FeedbackRatings:
    """The feedback on answers, as `assistant.conversations.ratings.Ratings` describes it."""

    def rated(self, project: Project, *, helpful: bool) -> "QuerySet[Message]":
        """Select the answers of a project with this thumb: their primary keys, for a subquery."""
        rated = Feedback.objects.filter(project=project, helpful=helpful, message__isnull=False)
        return rated.order_by().values("message")  # type: ignore[return-value]  # keys of messages

    def load(self, answers: Iterable[int]) -> dict[int, Rating]:
        """Load the ratings of some answers, by the answer's primary key."""
        found = Feedback.objects.filter(message__in=list(answers))
        return {
            row.message_id: Rating(row.helpful, ": ".join(filter(None, (row.reason, row.comment))))
            for row in found
            if row.message_id
        }

    def redact(self, answers: Iterable[int]) -> int:
        """Replace personal data in the comments on some answers. Returns how many changed."""
        changed = []
        for row in Feedback.objects.filter(message__in=list(answers)):
            comment = redact(row.comment)
            if comment != row.comment:
                row.comment = comment
                changed.append(row)
        Feedback.objects.bulk_update(changed, ["comment"])
        return len(changed)
