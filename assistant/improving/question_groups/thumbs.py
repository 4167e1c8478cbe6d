"""What readers thought of an answer. The app that stores feedback hands it in."""

from collections.abc import Sequence

from django.db import transaction

from assistant.conversations import ratings
from assistant.improving.question_groups import events
from assistant.improving.question_groups.problems import problem_of
from assistant.models import GroupedQuestion


def apply(answer_ids: Sequence[int]) -> None:
    """Store the thumbs on answers that were just grouped."""
    for answer_id, rating in ratings.get_ratings().load(answer_ids).items() if answer_ids else ():
        if rating.helpful is not None:
            set_thumb(answer_id, rating.helpful)


def set_thumb(answer_id: int, helpful: bool | None) -> None:
    """Store a new thumb on an answer; None where it was withdrawn. An answer that is not grouped yet gets it later."""
    row = GroupedQuestion.objects.filter(answer=answer_id).select_related("answer").first()
    if row is not None and row.answer is not None:
        problem = problem_of(row.answer, helpful)
        if problem != row.problem:
            row.problem = problem
            with transaction.atomic():
                row.save(update_fields=["problem"])
                if problem == GroupedQuestion.Problem.DISLIKED:
                    events.mark_problems([row])
