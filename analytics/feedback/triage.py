"""Work through feedback: select it, count it, give it a status and an assignee."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Q, QuerySet

from analytics.models import Feedback
from docsite.core.tenants.models import Project
from docsite.core.tenants.staff import find_assignees

THUMBS = {"up": True, "down": False, "none": None}
NOBODY = "nobody"  # as assignee

_RATING = ~Q(source=Feedback.Source.CODE_SNIPPET)  # as the API counts thumbs


@dataclass(frozen=True)
class Selection:
    """Which feedback is listed. Empty: all. `status`: some with commas. `assignee`: a user's id, or `NOBODY`."""

    status: str = ""
    source: str = ""
    thumb: str = ""
    path: str = ""
    assignee: str = ""
    text: str = ""

    @property
    def condition(self) -> Q:
        """The same as a condition of the database."""
        found = Q()
        if self.status:
            found &= Q(status__in=self.status.split(","))
        for name in ("source", "path"):
            if value := getattr(self, name):
                found &= Q(**{name: value})
        if self.thumb:
            found &= Q(helpful=THUMBS[self.thumb])
        if self.assignee:
            found &= Q(assignee=None if self.assignee == NOBODY else self.assignee)
        if self.text:
            texts = Q(comment__icontains=self.text)
            for name in ("reason", "contact", "code", "path"):
                texts |= Q(**{f"{name}__icontains": self.text})
            found &= texts
        return found


@dataclass(frozen=True)
class Totals:
    """How much feedback a range has: in all, by status, by source and by thumb."""

    total: int = 0
    statuses: Counter[str] = field(default_factory=Counter)
    sources: Counter[str] = field(default_factory=Counter)
    thumbs: Counter[bool | None] = field(default_factory=Counter)


def select(project: Project, start: datetime, end: datetime, selection: Selection = Selection()) -> QuerySet[Feedback]:
    """The feedback of a half-open range, latest first."""
    found = Feedback.objects.filter(selection.condition, project=project, created_at__gte=start, created_at__lt=end)
    return found.order_by("-created_at", "-pk")


def count(project: Project, start: datetime, end: datetime, selection: Selection = Selection()) -> Totals:
    """The numbers of a half-open range. Each is that of the list which opens when its value is chosen, too."""

    def count_values(name: str, column: str) -> Counter[Any]:
        rows = select(project, start, end, replace(selection, **{name: ""})).order_by().values_list(column)
        return Counter(dict(rows.annotate(number=Count("pk"))))

    statuses = count_values("status", "status")
    return Totals(statuses.total(), statuses, count_values("source", "source"), count_values("thumb", "helpful"))


def count_pages(
    project: Project,
    start: datetime,
    end: datetime,
    selection: Selection,
    earlier: tuple[datetime, datetime] | None = None,
) -> QuerySet[Any]:
    """One row for each page, as a dictionary: `path`, `up`, `down`, `code` and `total`.

    With `earlier`, the period to compare with, also `before` and `change` of `down`.
    """
    now = Q(created_at__gte=start)
    first, until = earlier or (start, start)
    rows: QuerySet[Any, Any] = select(project, first, end, selection).order_by().values("path")
    counted: QuerySet[Any, Any] = rows.annotate(
        up=Count("pk", filter=now & _RATING & Q(helpful=True)),
        down=Count("pk", filter=now & _RATING & Q(helpful=False)),
        code=Count("pk", filter=now & ~_RATING),
        total=Count("pk", filter=now),
    ).filter(total__gt=0)
    if earlier:
        before = Count("pk", filter=Q(created_at__lt=until) & _RATING & Q(helpful=False))
        counted = counted.annotate(before=before).annotate(change=F("down") - F("before"))
    return counted


def change(
    project: Project, feedback_ids: Sequence[str], *, status: str | None = None, assignee: str | None = None
) -> int:
    """Give feedback of a project a status and an assignee; None leaves them. Returns how many rows there were.

    Raises ValueError for a status that does not exist, and for an assignee who is not of the organization.
    """
    values: dict[str, Any] = {}
    if status is not None:
        values["status"] = Feedback.Status(status)
    if assignee is not None:
        own = {str(user.pk): user for user in find_assignees(project)}
        if assignee not in (NOBODY, *own):
            raise ValueError("Only staff users of the organization can be assigned.")
        values["assignee"] = own.get(assignee)
    rows = Feedback.objects.filter(project=project, feedback_id__in=feedback_ids)
    return rows.update(**values) if values else 0
