"""Shows the feedback on answers in the list of conversations."""

from collections.abc import Iterable

from django.db.models import QuerySet

from analytics.models import Feedback
from assistant.admin.conversations import ratings
from assistant.admin.conversations.ratings import Rating
from assistant.models import Message
from docsite.core.redaction import redact
from docsite.core.tenants.models import Project

_TEXTS = {"reason": 200, "comment": None, "contact": 300, "code": None}  # with the size of the column


class FeedbackRatings:
    """The feedback on answers, as `assistant.admin.conversations.ratings.Ratings` describes it."""

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
        """Replace personal data in the feedback on some answers. Returns how many changed."""
        changed = []
        for row in Feedback.objects.filter(message__in=list(answers)):
            before = [getattr(row, name) for name in _TEXTS]
            after = [redact(text)[:size] for text, size in zip(before, _TEXTS.values(), strict=True)]
            if after != before:
                for name, text in zip(_TEXTS, after, strict=True):
                    setattr(row, name, text)
                changed.append(row)
        Feedback.objects.bulk_update(changed, [*_TEXTS])
        return len(changed)


ratings.register(FeedbackRatings())
