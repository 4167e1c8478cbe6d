"""The questions of a range: how many were answered, from where they came, and the groups that are asked most often."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime
from operator import attrgetter
from typing import NamedTuple

from django.db.models import Count, Max, Q, QuerySet

from assistant.conversations import outcomes
from assistant.models import GroupedQuestion, Message
from docsite.core.tenants.models import Project
from docsite.core.workspace.reports.time_steps import Step, StepText

FACETS = ("outcome", "rung", "caller", "language")
MAX_PAGES = 10


@dataclass(frozen=True)
class QuestionFilters:
    """Which questions count; an empty field is no condition. `group` is an id, `page` a path, or `none`.

    `outcome` is a `Message.Outcome`, or `without_answer`. `language` is a code, or `unknown`.
    """

    outcome: str = ""
    rung: str = ""
    caller: str = ""
    language: str = ""
    page: str = ""
    group: str = ""

    @property
    def condition(self) -> Q:
        """The condition on `GroupedQuestion`."""
        wanted = {field_.name: value for field_ in fields(self) if (value := getattr(self, field_.name))}
        chosen = Q(outcome__in=outcomes.select(outcome)) if (outcome := wanted.pop("outcome", "")) else Q()
        names = {"page": "page_path"}
        return chosen & Q(
            **{
                names.get(name, name): "" if value in ("unknown", "none") and name in ("language", "page") else value
                for name, value in wanted.items()
            }
        )


@dataclass
class QuestionTotals:
    """The questions of a range, by each facet, and their outcomes in each step of it."""

    total: int = 0
    facets: dict[str, Counter[str]] = field(default_factory=lambda: {name: Counter() for name in FACETS})
    steps: list[Counter[str]] = field(default_factory=list)

    @property
    def answered(self) -> int:
        """Those whose answer cites a page that fits."""
        return self.facets["outcome"][Message.Outcome.ANSWERED]

    @property
    def asked(self) -> int:
        """Those that wanted an answer: all but greetings. The answered rate is a share of these."""
        return outcomes.count_asked(self.facets["outcome"])


class GroupCount(NamedTuple):
    """The questions of one group in a range."""

    group: int
    total: int
    answered: int
    newest: int  # id of its newest row


def summarize(project: Project, steps: Sequence[Step], filters: QuestionFilters) -> QuestionTotals:
    """Count the questions of some steps of time that follow each other: by each facet, and the outcomes of each step.

    One query counts both: each reads the whole range.
    """
    totals = QuestionTotals(steps=[Counter() for _ in steps])
    if not steps:
        return totals
    step_text = StepText("at", steps)
    rows = _rows(project, steps[0][0], steps[-1][1], filters).annotate(step=step_text)
    for text, *values, number in rows.values_list("step", *FACETS).annotate(number=Count("pk")):
        totals.total += number
        for name, value in zip(FACETS, values, strict=True):
            totals.facets[name][str(value)] += number
        totals.steps[step_text.find(text)][str(values[0])] += number
    return totals


def count_pages(project: Project, start: datetime, end: datetime, filters: QuestionFilters) -> list[tuple[str, int]]:
    """The pages from which most questions came, with their numbers. Empty: no page is known."""
    rows = _rows(project, start, end, filters).values_list("page_path").annotate(number=Count("pk"))
    return list(rows.order_by("-number", "page_path")[:MAX_PAGES])


def count_groups(project: Project, start: datetime, end: datetime, filters: QuestionFilters) -> list[GroupCount]:
    """The groups of questions, the most frequent first, then the newest."""
    rows = _rows(project, start, end, filters).filter(group__isnull=False)
    counted = rows.values_list("group").annotate(
        total=Count("pk"), answered=Count("pk", filter=Q(outcome=Message.Outcome.ANSWERED)), newest=Max("pk")
    )
    found = [GroupCount(group, total, answered, newest) for group, total, answered, newest in counted if group]
    return sorted(found, key=attrgetter("total", "newest"), reverse=True)


def count_outcomes(project: Project, start: datetime, end: datetime, filters: QuestionFilters) -> Counter[str]:
    """Count the questions of a half-open range by their outcome."""
    rows = _rows(project, start, end, filters).values_list("outcome")
    return Counter(dict(rows.annotate(number=Count("pk"))))


def _rows(project: Project, start: datetime, end: datetime, filters: QuestionFilters) -> "QuerySet[GroupedQuestion]":
    rows = GroupedQuestion.objects.filter(project=project, at__gte=start, at__lt=end, answer__isnull=False)
    # As for other reports: an answer whose process died has no outcome.
    return rows.exclude(outcome__in=("", Message.Outcome.RUNNING)).filter(filters.condition).order_by()
