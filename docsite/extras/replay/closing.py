"""Closes the gaps that a push answers. The group remembers what the replay said before and after."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone

from assistant.improving.gaps.actions import OPEN, Actor
from assistant.models import Message, QuestionGroup
from docsite.core.tenants.models import Project
from docsite.extras.replay import comment, held
from docsite.extras.replay.answers import ANSWERED
from docsite.extras.replay.asked import find_asked
from docsite.extras.replay.comparison import Preview, Row, compare
from search.models import Source
from search.signals import IndexEffect

MAX_GAPS = 200  # open ones that a push asks, the newest: its readers wait for the new index
CLOSED = "closedGaps"


@dataclass(frozen=True)
class ClosedGap:
    """A gap that the new index answers, as an effect carries it from the comparison to the swap."""

    group: int
    question: str
    before: str
    after: str
    page: str

    @classmethod
    def from_row(cls, row: Row) -> "ClosedGap":
        """The gap of a row that was won."""
        before, after = row.before, row.after
        return cls(row.asked.group or 0, row.asked.shown, before.state, after.state, after.page)


def find_effects(project: Project, preview: Preview) -> list[IndexEffect]:
    """Which open gaps a new index will close. Nothing if no gap is open, and none was closed lately.

    A gap of few readers is left to its owner, since closing keeps a wording even when its reader's data is erased.
    """
    gaps = QuestionGroup.objects.filter(project=project, has_problem=True, state__in=OPEN)
    waiting = set(gaps.values_list("pk", flat=True))
    asked = find_asked(project) if waiting else []
    questions = [question for question in asked if question.group in waiting and question.is_quotable]
    rows = compare(project, questions[:MAX_GAPS], preview).rows
    won = [row for row in rows if row.before.state != ANSWERED and row.after.state == ANSWERED]
    lines = comment.describe_closed(held.find_closed(project))
    if won:
        closed = [f"- {comment.quote(row.asked.shown)}: {comment.describe_answer(row.after)}" for row in won]
        lines = ["**Gaps that this closes:**", "", *closed[: comment.MAX_LISTED], "", *lines]
    effects = [IndexEffect("replayComment", {"markdown": "\n".join(lines)})] if lines else []
    return [*effects, IndexEffect(CLOSED, {"gaps": [ClosedGap.from_row(row) for row in won]})] if won else effects


def close(source: Source, effects: Iterable[IndexEffect]) -> None:
    """Close the gaps that the new index answers."""
    gaps: list[Any] = [gap for effect in effects if effect.name == CLOSED for gap in effect.facts["gaps"]]
    groups = QuestionGroup.objects.select_related("project").in_bulk([gap.group for gap in gaps])
    for gap in gaps:
        group = groups.get(gap.group)
        if group is None or group.state not in OPEN:  # the owner was faster
            continue
        now = timezone.now()
        with transaction.atomic():
            actor = Actor(f"push of {source.name}", group)
            actor.mark_fixed(group.question or gap.question)  # an owner's words stay
            actor.add_note(f"Replayed: {gap.before} before, {gap.after} after by {gap.page}.")
            QuestionGroup.objects.filter(pk=group.pk).update(
                asked_at=now, answered_since=now, asked_outcome=Message.Outcome.ANSWERED, asked_paths=[gap.page]
            )
