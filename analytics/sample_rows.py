"""Find and remove what the demo has invented."""

from typing import NamedTuple

from django.db import transaction
from django.db.models import Exists, OuterRef, Q, Subquery

from analytics.counting import recount
from analytics.models import Feedback, PageView
from assistant.models import Thread
from docsite.core.tenants.models import Project
from search.models import SearchQuery


class Counts(NamedTuple):
    """Numbers of sample rows."""

    conversations: int
    searches: int
    feedback: int
    views: int


def count(project: Project) -> Counts:
    """How many sample rows a project has. Views older than RAW_VIEW_DAYS are not counted any more."""
    return Counts(
        conversations=Thread.objects.filter(project=project, sample=True).count(),
        searches=SearchQuery.objects.filter(project=project, sample=True).count(),
        feedback=Feedback.objects.filter(project=project, sample=True).count(),
        views=project.views.filter(sample=True).count(),
    )


def has_sample(project: Project) -> bool:
    """Whether a project has sample conversations, searches, feedback or views: of these, the first would be one.

    One query, by indexes.
    """
    rows = [
        model._default_manager.filter(project=OuterRef("pk"), sample=True) for model in (Thread, SearchQuery, Feedback)
    ]
    first = Subquery(PageView.objects.filter(project=OuterRef("pk")).order_by("at").values("sample")[:1])
    found = Project.objects.alias(first=first).filter(pk=project.pk)
    return found.filter(Exists(rows[0]) | Exists(rows[1]) | Exists(rows[2]) | Q(first=True)).exists()


def remove(project: Project) -> Counts:
    """Remove the sample of a project. What readers did stays. Returns the numbers of removed rows."""
    with transaction.atomic():
        found = count(project)
        Feedback.objects.filter(project=project, sample=True).delete()
        Thread.objects.filter(project=project, sample=True).delete()
        SearchQuery.objects.filter(project=project, sample=True).delete()
    return found._replace(views=recount.remove_sample(project))
