"""Finds the pages nearest to groups with a gap, in the background: a search for each row would take too long."""

from collections.abc import Callable

from django.db.models import F

from assistant.models import GroupedQuestion, QuestionGroup
from assistant.passage_search import find
from assistant.question import Question
from docsite.core.tenants.models import Project
from search.models import Generation

MAX_PAGES = 3
BATCH = 100


def find_due(should_stop: Callable[[], bool] = lambda: False) -> None:
    """Find the pages of groups whose latest gap is newer than their pages."""
    due = QuestionGroup.objects.filter(has_problem=True, nearest_generation=None).select_related("project")
    last = 0
    while batch := list(due.filter(pk__gt=last).order_by("pk")[:BATCH]):
        for group in batch:
            if should_stop():
                return
            if text := latest_wording(group):
                refresh(group.project, group, text)
        last = batch[-1].pk


def refresh(project: Project, group: QuestionGroup, text: str) -> None:
    """Store the pages that the search finds for a question now, and the chance that they answer it."""
    number = Generation.objects.filter(project=project).values_list("number", flat=True).first() or 0
    retrieved = find(project, Question(text))
    group.nearest = list(dict.fromkeys(hit.path for hit in retrieved.hits))[:MAX_PAGES]
    group.chance, group.nearest_generation = retrieved.chance, number
    group.save(update_fields=["nearest", "chance", "nearest_generation"])


def latest_wording(group: QuestionGroup) -> str:
    """The latest question or search of a group; empty where none is left."""
    newest = GroupedQuestion.objects.filter(group=group).order_by("-at", "-pk")
    row = newest.values_list(F("question__content"), F("search__text")).first()
    return (row[0] or row[1] or "") if row else ""
