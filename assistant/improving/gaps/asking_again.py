"""Ask again what an owner has marked as fixed, whenever the index of the project was replaced.

A question is asked as in a preview: with the project's model, if it has one, and nothing is stored but the outcome.
"""

import logging
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from django.db.models import F, OuterRef, Subquery
from django.utils import timezone

from assistant.answering.owner_settings import to_answer_settings
from assistant.answering.question import Question
from assistant.answering.record import Outcome
from assistant.improving.golden_questions import checks
from assistant.improving.question_groups.pins import find_pin
from assistant.models import AssistantSettings, Message, QuestionGroup
from assistant.upstream import model_choice
from assistant.upstream.relay import ModelChain
from docsite.core.background import leases
from docsite.core.db import has_row
from docsite.core.tenants.models import Project
from search.hits import Filters
from search.models import Generation

logger = logging.getLogger(__name__)

LEASE = timedelta(minutes=10)  # longer than an answer takes
MAX_QUESTIONS = 100  # of a project after one swap of its index, the latest ones
MAX_TOKENS = 100_000  # of these; further questions are answered by quotes
ANSWERED = (Message.Outcome.ANSWERED,)


def is_due() -> bool:
    """Whether `ask_due` has something to do."""
    groups, generations = QuestionGroup._meta.db_table, Generation._meta.db_table
    return has_row(
        f"SELECT 1 FROM {groups} JOIN {generations} ON {generations}.project_id = {groups}.project_id WHERE state = %s "
        f"AND (asked_generation IS NULL OR asked_generation <> {generations}.number) LIMIT 1",
        QuestionGroup.State.FIXED.value,
    )


def ask_due(should_stop: Callable[[], bool] = lambda: False) -> int:
    """Ask the fixed questions whose project has a newer index than that of their last answer. Returns their number."""
    number = Generation.objects.filter(project=OuterRef("project")).values("number")[:1]
    fixed = QuestionGroup.objects.filter(state=QuestionGroup.State.FIXED).annotate(generation=Subquery(number))
    due = fixed.filter(generation__isnull=False).exclude(asked_generation=F("generation"))
    asked, spent, counted = 0, dict[int, int](), dict[int, int]()
    for group in due.select_related("project").order_by("project", "-fixed_at", "-pk").iterator():
        if should_stop():
            break
        claimed = leases.claim(due.filter(pk=group.pk), LEASE)
        if claimed is None:
            continue  # another process asks it
        counted[group.project_id] = counted.get(group.project_id, 0) + 1
        if counted[group.project_id] > MAX_QUESTIONS:
            leases.release(claimed, asked_generation=group.generation)
            continue
        used = spent.get(group.project_id, 0)
        outcome = ask(group.project, group.question, with_model=used < MAX_TOKENS)
        spent[group.project_id] = used + outcome.charge.tokens
        store(claimed, outcome, timezone.now(), group.generation)
        asked += 1
    return asked


def ask(project: Project, text: str, *, with_model: bool = True) -> Outcome:
    """Answer a question as for a reader, and store nothing. Its tokens count towards the project's daily limit."""
    owner_settings = AssistantSettings.for_project(project)
    pinned = find_pin(project, text, Filters())
    question = replace(Question(text, settings=to_answer_settings(owner_settings)), pinned=pinned)
    models = model_choice.choose_models(project, owner_settings) if with_model else ModelChain()
    return checks.answer(project, question, models)


def store(group: QuestionGroup, outcome: Outcome, now: datetime, generation: int) -> None:
    """Store the outcome of a claimed question, unless the owner wants it to be asked anew.

    A failure of the model server says nothing about the documentation.
    """
    if outcome.kind in ("failed", "cut", "running"):
        logger.warning("%s of %s could not be asked again: %s.", group, group.project, outcome.reason)
        leases.release(group, asked_generation=generation)
        return
    since = (group.answered_since or now) if outcome.kind in ANSWERED else None
    leases.release(
        group,
        asked_generation=generation,
        asked_at=now,
        asked_outcome=outcome.kind,
        asked_paths=list(dict.fromkeys(group.project.path_of(source.url) for source in outcome.sources)),
        answered_since=since,
    )
