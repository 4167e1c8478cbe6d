"""The gaps of a range in groups: how many questions, which pages are nearest, and whether a fix has worked."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Count, F, Max, Q, QuerySet, TextChoices

from assistant.models import GroupedQuestion, Message, QuestionGroup
from assistant.question_groups import wording
from docsite.core.tenants.models import Project
from docsite.core.workspace.report_state import previous_period
from docsite.core.workspace.tables import Change
from search.retrieval.answerability import MIN_CLOSE_CHANCE

Problem = GroupedQuestion.Problem
State = QuestionGroup.State
ALL = "all"


class Cause(TextChoices):
    """Why a group is a gap, most likely."""

    NO_PAGE = "no_page", "No page fits"
    NOT_FOUND = "not_found", "A page exists, but is not found or does not answer clearly"
    DISLIKED = "disliked", "The answer was disliked"
    CUT = "cut", "The answer was cut off"
    FAILED = "failed", "The answer failed"


@dataclass
class GapCount:
    """The gaps of one group in a range: how many of each kind, and when the latest was."""

    group: int
    problems: Counter[str] = field(default_factory=Counter)
    latest: datetime | None = None
    newest: int = 0  # id of its newest row

    @property
    def total(self) -> int:
        """All of them."""
        return self.problems.total()


@dataclass(frozen=True)
class Gap:
    """A group with its gaps in a range, ready to be shown."""

    group: QuestionGroup
    text: str  # its latest wording in the range
    count: Change
    problems: list[tuple[Problem, int]]
    latest: datetime
    cause: Cause
    effect: "Effect | None"


@dataclass(frozen=True)
class Effect:
    """How many questions were answered before something was marked as fixed, and since then."""

    answered_before: int = 0
    before: int = 0
    answered_since: int = 0
    since: int = 0


def count_gaps(
    project: Project,
    start: datetime,
    end: datetime,
    state: str = ALL,
    problem: str = "",
    words: str = "",
    order: str = "-count",
    newest_row: int = 0,
) -> list[GapCount]:
    """Count the gaps of the groups in a half-open range. `order`: `count` or `latest`, with a minus the largest first.

    `state` is that of the group; `open` includes what is assigned. `words` are in the group's first question. Rows
    above the id `newest_row` do not count.
    """
    rows = GroupedQuestion.objects.filter(project=project, problem__isnull=False, at__gte=start, at__lt=end)
    rows = rows.filter(group__isnull=False)
    if problem:
        rows = rows.filter(problem=problem)
    if newest_row:
        rows = rows.filter(pk__lte=newest_row)
    wanted = _groups_with(project, words) if words else None
    states = _states(project)
    counted: dict[int, GapCount] = {}
    found = (
        rows.order_by().values_list("group", "problem").annotate(number=Count("pk"), latest=Max("at"), newest=Max("pk"))
    )
    for group, kind, number, latest, newest in found:
        if _has_state(states.get(group, State.OPEN), state) and (wanted is None or group in wanted):
            one = counted.setdefault(group, GapCount(group))
            one.problems[kind] += number
            one.latest, one.newest = max(latest, one.latest or latest), max(newest, one.newest)
    by = (lambda one: (one.total, one.newest)) if "count" in order else (lambda one: (one.latest, one.newest))
    return sorted(counted.values(), key=by, reverse=order.startswith("-"))


def describe(project: Project, counts: Sequence[GapCount], start: datetime, end: datetime) -> list[Gap]:
    """The groups of a page of the table, in the same order, beside the period before."""
    groups = QuestionGroup.objects.select_related("assignee").in_bulk([one.group for one in counts])
    texts = load_texts([one.newest for one in counts])
    before = count_before(project, list(groups), start, end)
    effects = measure_effects([group for group in groups.values() if group.state == State.FIXED])
    return [
        Gap(
            group,
            texts.get(one.newest, ""),
            Change(one.total, before[one.group]),
            [(Problem(kind), number) for kind, number in one.problems.most_common()],
            one.latest,
            explain(group, one.problems),
            effects.get(one.group),
        )
        for one in counts
        if (group := groups.get(one.group)) and one.latest
    ]


def explain(group: QuestionGroup, problems: Counter[str]) -> Cause:
    """The likely cause: what happened most often, and whether the search finds a page that fits now."""
    kind = problems.most_common(1)[0][0] if problems else ""
    if kind in (Problem.DISLIKED, Problem.CUT, Problem.FAILED):
        return Cause(kind)
    if kind in (Problem.NO_CLICK, Problem.CLOSEST_PASSAGES, Problem.UNSUPPORTED):
        return Cause.NOT_FOUND if group.nearest or group.nearest_generation is None else Cause.NO_PAGE
    return Cause.NOT_FOUND if group.chance is not None and group.chance >= MIN_CLOSE_CHANCE else Cause.NO_PAGE


def load_texts(rows: Collection[int]) -> dict[int, str]:
    """The questions and searches of some rows."""
    found = GroupedQuestion.objects.filter(pk__in=rows).values_list("pk", "question__content", "search__text")
    return {pk: " ".join((question or search or "").split()) for pk, question, search in found}


def count_before(project: Project, groups: Collection[int], start: datetime, end: datetime) -> Counter[int]:
    """The gaps of some groups in the period of the same length before a range."""
    earlier = previous_period(start, end)
    if not earlier or not groups:
        return Counter()
    rows = GroupedQuestion.objects.filter(group__in=groups, at__gte=earlier[0], at__lt=earlier[1])
    return Counter(
        dict(rows.filter(problem__isnull=False).order_by().values_list("group").annotate(number=Count("pk")))
    )


def measure_effects(groups: Iterable[QuestionGroup]) -> dict[int, Effect]:
    """What became of the questions of fixed groups, by the id of the group. Greetings are in no group."""
    rows = GroupedQuestion.objects.filter(group__in=[group.pk for group in groups], answer__isnull=False)
    return dict(_measure(rows, "group"))


def measure_effect(project: Project) -> Effect:
    """What became of the questions of all fixed groups together."""
    fixed = QuestionGroup.objects.filter(project=project, state=State.FIXED).values("pk")
    rows = GroupedQuestion.objects.filter(group__in=fixed, answer__isnull=False)
    return dict(_measure(rows, "project")).get(project.pk, Effect())


def _measure(rows: "QuerySet[GroupedQuestion]", by: str) -> Iterable[tuple[int, Effect]]:
    since = Q(at__gte=F("group__fixed_at"))
    answered = Q(outcome=Message.Outcome.ANSWERED)
    counted = (
        rows.order_by()
        .values(by)
        .annotate(
            answered_before=Count("pk", filter=answered & ~since),
            before=Count("pk", filter=~since),
            answered_since=Count("pk", filter=answered & since),
            since=Count("pk", filter=since),
        )
    )
    for row in counted:
        yield row.pop(by), Effect(**row)


def _states(project: Project) -> dict[int, str]:
    """The states of groups that are not just open."""
    groups = QuestionGroup.objects.filter(project=project).exclude(state=State.OPEN)
    return dict(groups.values_list("pk", "state"))


def _has_state(state: str, wanted: str) -> bool:
    return wanted in (ALL, state) or (wanted == State.OPEN and state == State.ASSIGNED)


def _groups_with(project: Project, words: str) -> set[int]:
    groups = QuestionGroup.objects.filter(project=project)
    for term in wording.terms_of(words):
        groups = groups.filter(terms__contains=f" {term} ")
    return set(groups.values_list("pk", flat=True))


def count_problems(rows: "QuerySet[GroupedQuestion]") -> list[tuple[str, int]]:
    """Count the gaps of some rows by kind."""
    found = rows.filter(problem__isnull=False).order_by().values_list("problem").annotate(number=Count("pk"))
    return [(kind, number) for kind, number in found if kind]
