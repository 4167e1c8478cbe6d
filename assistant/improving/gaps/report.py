"""The gaps of a range in groups: how many questions, which pages are nearest, and whether a fix has worked."""

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from operator import attrgetter
from typing import NamedTuple

from django.db.models import Count, F, Max, Q, QuerySet, TextChoices, Value
from django.db.models.functions import Length, Replace

from assistant.conversations.outcomes import UNANSWERED, WITHOUT_ANSWER
from assistant.improving.question_groups import wording
from assistant.models import GroupedQuestion, Message, QuestionGroup
from docsite.core.tenants.models import Project
from docsite.core.workspace.reports.report_state import previous_period
from docsite.core.workspace.reports.tables import Change

Problem = GroupedQuestion.Problem
State = QuestionGroup.State
ALL = "all"
_OF_SEARCHES = (Problem.NO_RESULT, Problem.NO_CLICK)


class Cause(TextChoices):
    """Why a group is a gap, most likely."""

    NO_PAGE = "no_page", "No page fits"
    NOT_FOUND = "not_found", "A page exists, but is not found or does not answer clearly"
    DISLIKED = "disliked", "The answer was disliked"
    CUT = "cut", "The answer was cut off"
    FAILED = "failed", "The answer failed"


class GapCount(NamedTuple):
    """The gaps of one group in a range."""

    group: int
    total: int
    newest: int  # id of its newest row


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
    order: str = "",
    newest_row: int = 0,
) -> list[GapCount]:
    """Count the gaps of the groups in a half-open range. `order`: `count` or `latest`, with a minus the largest first.

    Without an `order` the most frequent are first. Searches with one word that counts, as in `terms`, are last.
    `state` is that of the group; `open` includes what is assigned. `words` are in the group's first question. Rows
    above the id `newest_row` do not count. The problem `without_answer` means all questions without an answer, also
    those whose reader gave a thumb down, or left when the answer had cited a page.
    """
    rows = _select(problem).filter(project=project, group__isnull=False, at__gte=start, at__lt=end)
    if newest_row:
        rows = rows.filter(pk__lte=newest_row)
    wanted = _groups_with(project, words) if words else None
    wanted_states = {ALL: {*State}, State.OPEN: {State.OPEN, State.ASSIGNED}}.get(state, {state})
    states = _states(project)
    asked = Count("pk", filter=~Q(problem__in=_OF_SEARCHES))
    found = list(rows.order_by().values_list("group").annotate(total=Count("pk"), newest=Max("pk"), asked=asked))
    counted = [
        GapCount(group, total, newest)
        for group, total, newest, _ in found
        if group and states.get(group, State.OPEN) in wanted_states and (wanted is None or group in wanted)
    ]
    keys = ("newest",) if "latest" in order else ("total", "newest")
    counted.sort(key=attrgetter(*keys), reverse=not order or order.startswith("-"))
    if not order:
        last = _groups_of_one_word(project) & {group for group, _, _, asked in found if not asked}
        counted.sort(key=lambda one: one.group in last)
    return counted


def _select(problem: str) -> "QuerySet[GroupedQuestion]":
    """The questions and searches that count for a problem, or for any."""
    if problem == WITHOUT_ANSWER:
        return GroupedQuestion.objects.filter(answer__isnull=False, outcome__in=UNANSWERED)
    return GroupedQuestion.objects.filter(Q(problem=problem) if problem else Q(problem__isnull=False))


def describe(
    project: Project, counts: Sequence[GapCount], start: datetime, end: datetime, problem: str = ""
) -> list[Gap]:
    """One page of the table of gaps: a row for each count, in its order, with its change since the period before.

    With a `problem` only questions with that problem count, in both periods.
    """
    groups = QuestionGroup.objects.select_related("assignee").in_bulk([count.group for count in counts])
    newest = load_rows([count.newest for count in counts])
    problems = count_problems(groups, start, end)
    before = count_before(list(groups), start, end, problem)
    effects = measure_effects([group for group in groups.values() if group.state == State.FIXED])
    return [
        Gap(
            group,
            newest[count.newest].text,
            Change(count.total, before[count.group]),
            [(Problem(kind), number) for kind, number in problems[count.group].most_common()],
            newest[count.newest].at,
            explain(group, problems[count.group]),
            effects.get(count.group),
        )
        for count in counts
        if (group := groups.get(count.group)) and count.newest in newest
    ]


def explain(group: QuestionGroup, problems: Counter[str]) -> Cause:
    """The likely cause: what happened most often, and whether the search finds a page that fits now."""
    from search.retrieval.answerability import MIN_CLOSE_CHANCE  # imports numpy

    kind = problems.most_common(1)[0][0] if problems else ""
    if kind in (Problem.DISLIKED, Problem.CUT, Problem.FAILED):
        return Cause(kind)
    if kind in (Problem.NO_CLICK, Problem.CLOSEST_PASSAGES, Problem.UNSUPPORTED):
        return Cause.NOT_FOUND if group.nearest or group.nearest_generation is None else Cause.NO_PAGE
    return Cause.NOT_FOUND if group.chance is not None and group.chance >= MIN_CLOSE_CHANCE else Cause.NO_PAGE


class Row(NamedTuple):
    """The wording and the time of a question or search."""

    text: str
    at: datetime


def load_rows(rows: Collection[int]) -> dict[int, Row]:
    """The questions and searches of some rows, by the ids of the rows."""
    found = GroupedQuestion.objects.filter(pk__in=rows).values_list("pk", "at", "question__content", "search__text")
    return {pk: Row(" ".join((question or search or "").split()), at) for pk, at, question, search in found}


def count_problems(groups: Collection[int], start: datetime, end: datetime) -> dict[int, Counter[str]]:
    """The gaps of some groups by kind."""
    rows = GroupedQuestion.objects.filter(group__in=groups, at__gte=start, at__lt=end, problem__isnull=False)
    counted: dict[int, Counter[str]] = {group: Counter() for group in groups}
    for group, kind, number in rows.order_by().values_list("group", "problem").annotate(number=Count("pk")):
        if group and kind:
            counted[group][kind] = number
    return counted


def count_before(groups: Collection[int], start: datetime, end: datetime, problem: str = "") -> Counter[int]:
    """The gaps of some groups in the period that a range is compared with."""
    earlier = previous_period(start, end)
    if not earlier or not groups:
        return Counter()
    rows = _select(problem).filter(group__in=groups, at__gte=earlier[0], at__lt=earlier[1])
    return Counter(dict(rows.order_by().values_list("group").annotate(number=Count("pk"))))


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


def _groups_of_one_word(project: Project) -> set[int]:
    spaces = Length("terms") - Length(Replace("terms", Value(" "), Value("")))
    groups = QuestionGroup.objects.filter(project=project).alias(spaces=spaces)
    return set(groups.filter(spaces=2).values_list("pk", flat=True))  # one on each side


def _groups_with(project: Project, words: str) -> set[int]:
    groups = QuestionGroup.objects.filter(project=project)
    for term in wording.terms_of(words):
        groups = groups.filter(terms__contains=f" {term} ")
    return set(groups.values_list("pk", flat=True))
