"""Finds the pages nearest to groups with a gap, in the background: a search for each row would take too long."""

import logging
from collections.abc import Callable

from django.db import DatabaseError

from assistant.answering.passage_search import find
from assistant.answering.question import Question
from assistant.models import QuestionGroup
from docsite.core.db import has_row
from docsite.core.tenants.models import Project
from search.models import Generation

logger = logging.getLogger(__name__)

MAX_PAGES = 3
BATCH = 100


def is_due() -> bool:
    """Whether `find_due` has something to do."""
    groups = QuestionGroup._meta.db_table
    return has_row(f"SELECT 1 FROM {groups} WHERE has_problem AND nearest_generation IS NULL LIMIT 1")


def find_due(should_stop: Callable[[], bool] = lambda: False) -> None:
    """Find the pages of groups whose latest gap is newer than their pages."""
    due = QuestionGroup.objects.filter(has_problem=True, nearest_generation=None).select_related("project")
    last = 0
    while batch := list(due.filter(pk__gt=last).order_by("pk")[:BATCH]):
        for group in batch:
            if should_stop():
                return
            text = group.find_latest_wording()
            try:
                if text:
                    refresh(group.project, group, text)
            except DatabaseError as failure:  # perhaps its project is being deleted; the others go on
                logger.warning("The nearest pages of a gap of %s could not be found: %s", group.project, failure)
                QuestionGroup.objects.filter(pk=group.pk).update(nearest_generation=0)  # the next gap tries again
        last = batch[-1].pk


def refresh(project: Project, group: QuestionGroup, text: str) -> None:
    """Store the pages that the search finds for a question now, and the chance that they answer it."""
    number = Generation.objects.filter(project=project).values_list("number", flat=True).first() or 0
    retrieved = find(project, Question(text))
    group.nearest = list(dict.fromkeys(hit.path for hit in retrieved.hits))[:MAX_PAGES]
    group.chance, group.nearest_generation = retrieved.chance, number
    group.save(update_fields=["nearest", "chance", "nearest_generation"])
