"""What happened in a range: notes of the owner, and replacements of the index, at most one mark of these a day."""

from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, Max
from django.db.models.functions import TruncDate

from analytics.models import Annotation
from docsite.core.tenants.models import Project
from search.models import Generation

MAX_NOTES = 200  # of a range that are shown


class Mark(NamedTuple):
    """A mark of the chart. `note` is the id of a note, and None for the index."""

    at: datetime
    text: str
    note: int | None = None
    author: str = ""


def list_marks(project: Project, start: datetime, end: datetime) -> list[Mark]:
    """The marks of a half-open range, by time."""
    found = Annotation.objects.filter(project=project, at__gte=start, at__lt=end)
    notes = found.filter(kind=Annotation.Kind.NOTE).order_by("-at")
    rows = notes.values_list("at", "text", "pk", "author__username")[:MAX_NOTES]
    marks = [Mark(at, text, number, author or "") for at, text, number, author in rows]
    replaced = found.filter(kind=Annotation.Kind.INDEX).annotate(day=TruncDate("at")).values("day")
    for latest, times in replaced.annotate(latest=Max("at"), times=Count("pk")).values_list("latest", "times"):
        marks.append(Mark(latest, "Index replaced" if times == 1 else f"Index replaced {times} times"))
    return sorted(marks, key=lambda mark: mark.at)


def record_replacement(instance: Generation, **_: Any) -> None:
    """Record that the index of a project was replaced. A receiver of `post_save`, in the transaction of the swap."""
    if instance.indexed_at is not None:
        Annotation.objects.create(
            project_id=instance.project_id, kind=Annotation.Kind.INDEX, at=instance.indexed_at, author=None
        )
