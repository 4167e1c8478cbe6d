"""What readers thought of an answer. The app that stores feedback hands it in."""

from collections.abc import Callable, Mapping, Sequence

from django.db import transaction

from assistant.improving.question_groups import events
from assistant.improving.question_groups.problems import problem_of
from assistant.models import GroupedQuestion

Lookup = Callable[[Sequence[int]], Mapping[int, bool]]
_lookups: list[Lookup] = []


def add_lookup(lookup: Lookup) -> None:
    """Register a function that returns the thumbs on answers: whether each one helped, by the id of its message."""
    _lookups.append(lookup)


def apply(answer_ids: Sequence[int]) -> None:
    """Store the thumbs on answers that were just grouped."""
    if answer_ids:
        for lookup in _lookups:
            for answer_id, helpful in lookup(answer_ids).items():
                set_thumb(answer_id, helpful)


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
