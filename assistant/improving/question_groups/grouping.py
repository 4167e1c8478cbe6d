"""Bring answered questions and unhelpful searches into groups, in small batches, after the answers have ended."""

import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import chain, takewhile
from typing import Any

from django.db import transaction
from django.db.models import OuterRef, QuerySet, Subquery
from django.utils import timezone

from assistant.conversations import threads
from assistant.improving.question_groups import events, group_index, thumbs, wording
from assistant.improving.question_groups.problems import Problem, problem_of
from assistant.models import GroupedQuestion, GroupingProgress, Message, QuestionGroup
from docsite.core.db import has_row
from docsite.core.tenants.models import Project
from search.models import SearchQuery
from search.query_log.recording import CLICKABLE

PAGE_SECONDS = 0.3  # a page of a report waits so long for new questions to be grouped
BATCH = 200  # messages or searches of one transaction
ABANDONED = timedelta(hours=1)  # an answer that runs for so long belongs to a process that died


@dataclass(frozen=True)
class _NewRow:
    """A row that is not stored yet, and the words of its question; None for a greeting, which belongs to no group."""

    row: GroupedQuestion
    terms: frozenset[str] | None


def has_new() -> bool:
    """Whether `catch_up` has something to do."""
    messages, searches = Message._meta.db_table, SearchQuery._meta.db_table
    answer, search = (
        f"COALESCE((SELECT {name} FROM {GroupingProgress._meta.db_table} WHERE id = 1), 0)"
        for name in ("answer", "search")
    )
    return has_row(
        f"SELECT 1 WHERE (SELECT MAX(id) FROM {messages}) > {answer} "
        f"OR (SELECT at FROM {searches} WHERE id > {search} ORDER BY id LIMIT 1) <= %s",
        timezone.now() - CLICKABLE,
    )


def catch_up(seconds: float | None = None) -> bool:
    """Group what is new in all projects. Returns False if `seconds` passed before all was grouped."""
    until = None if seconds is None else time.monotonic() + seconds
    for _ in chain(_group_answers(), _group_searches()):
        if until is not None and time.monotonic() > until:
            break
    else:
        return True
    return False


def _group_answers() -> Iterator[None]:
    """Group answers, a batch at each step. A running answer is grouped later, and no other answer waits for it."""
    asked = Message.objects.filter(thread=OuterRef("thread"), role=Message.Role.USER, pk__lt=OuterRef("pk"))
    found = Message.objects.order_by("pk").annotate(question_id=Subquery(asked.order_by("-pk").values("pk")[:1]))
    found = found.only(
        *("role", "project", "state", "outcome", "cut_by", "sources", "rung", "caller", "language", "page_path"),
        *("created_at", "updated_at"),
    )
    last = 0  # id of the last message of the batches so far
    first_running: int | None = None
    while True:
        progress, _ = GroupingProgress.objects.get_or_create(pk=1)
        if first_running and first_running <= progress.answer:  # it has ended, and another process grouped it
            first_running = None
        messages = list(found.filter(pk__gt=max(last, progress.answer))[:BATCH])  # by ids: an index is no faster
        running, new = _take_ended(messages)
        first_running = min(filter(None, [first_running, *running]), default=None)
        reached = first_running - 1 if first_running else messages[-1].pk if messages else progress.answer
        stored = _store(progress, new, answer=reached)
        if stored is not None:
            thumbs.apply([row.answer_id for row in stored if row.answer_id])
            if len(messages) < BATCH:
                return
            last = messages[-1].pk
        yield


def _take_ended(messages: Sequence[Any]) -> tuple[list[int], list[_NewRow]]:
    """The ids of the answers that run, and the rows of those that have ended. Each message has its `question_id`."""
    answers = [message for message in messages if message.role == Message.Role.ASSISTANT]
    questions = Message.objects.only("content").in_bulk(
        [answer.question_id for answer in answers if answer.question_id]
    )
    oldest = timezone.now() - ABANDONED
    unended = [answer for answer in answers if answer.state == Message.State.RUNNING]
    running = [answer.pk for answer in unended if answer.updated_at > oldest]
    for answer in unended:
        if answer.pk not in running:  # for every report, or the numbers of some would differ
            threads.mark_orphans(answer.pk)
            answer.refresh_from_db(fields=["state", "outcome", "cut_by"])
    new = []
    for answer in answers:
        question = questions.get(answer.question_id)
        if answer.pk in running or answer.project_id is None or question is None:
            continue
        is_greeting = answer.outcome == Message.Outcome.GREETING
        new.append(_NewRow(_row_of(answer, question), None if is_greeting else wording.terms_of(question.content)))
    return running, new


def _row_of(answer: Message, question: Message) -> GroupedQuestion:
    return GroupedQuestion(
        project_id=answer.project_id or 0,  # the caller leaves out answers without a project
        at=answer.created_at,
        problem=problem_of(answer, None),
        outcome=answer.outcome or "",
        rung=answer.rung,
        caller=answer.caller,
        language=answer.language or "",
        page_path=answer.page_path,
        question_id=question.pk,  # with the objects, answer and row would refer to each other, and stay in memory
        answer_id=answer.pk,
    )


def _group_searches() -> Iterator[None]:
    """Group searches, a batch at each step, an hour after them: until then a click may follow."""
    while True:
        progress, _ = GroupingProgress.objects.get_or_create(pk=1)
        searches = list(SearchQuery.objects.filter(pk__gt=progress.search).order_by("pk")[:BATCH])
        due = list(takewhile(lambda search: search.at <= timezone.now() - CLICKABLE, searches))
        new = [_NewRow(row, wording.terms_of(search.text)) for search in due if (row := _row_of_search(search))]
        stored = _store(progress, new, search=due[-1].pk if due else progress.search)
        if stored is not None and len(due) < BATCH:
            return
        yield


def _row_of_search(search: SearchQuery) -> GroupedQuestion | None:
    """The row of a search that was not helpful. Programs do not click, so only readers' searches can miss a click."""
    if search.result_count is None or search.clicked_path:
        return None
    if search.result_count and search.caller_kind in (SearchQuery.CallerKind.API, SearchQuery.CallerKind.MCP):
        return None
    problem = Problem.NO_CLICK if search.result_count else Problem.NO_RESULT
    return GroupedQuestion(project_id=search.project_id, at=search.at, problem=problem, search_id=search.pk)


def _store(progress: GroupingProgress, new: Sequence[_NewRow], **reached: int) -> list[GroupedQuestion] | None:
    """Store rows and how far they reach. Returns the rows that are stored; None if another process was faster."""
    if not new and all(getattr(progress, name) == value for name, value in reached.items()):
        return []
    try:
        return _store_at_once(progress, new, **reached)
    except BaseException:
        for project_id in {entry.row.project_id for entry in new}:
            group_index.forget(project_id)  # it may know groups that were not stored
        raise


@transaction.atomic
def _store_at_once(progress: GroupingProgress, new: Sequence[_NewRow], **reached: int) -> list[GroupedQuestion] | None:
    before = {name: getattr(progress, name) for name in reached}
    if not GroupingProgress.objects.select_for_update().filter(pk=progress.pk, **before).exists():
        return None
    known = GroupedQuestion.objects.filter(answer__in=[entry.row.answer_id for entry in new if entry.row.answer_id])
    done = set(known.values_list("answer", flat=True))  # answers that were skipped while they ran come again
    missing = [entry for entry in new if entry.row.answer_id not in done]
    _choose_groups(missing)
    rows = GroupedQuestion.objects.bulk_create(_without_deleted([entry.row for entry in missing]))
    events.publish_unanswered(rows)
    events.mark_problems(rows)
    GroupingProgress.objects.filter(pk=progress.pk).update(**reached)
    return rows


def _without_deleted(rows: list[GroupedQuestion]) -> list[GroupedQuestion]:
    """The rows whose messages or searches still exist. They are locked: who deletes them deletes the new rows, too."""
    messages = {pk for row in rows for pk in (row.answer_id, row.question_id) if pk}
    messages = set(_lock(Message.objects.filter(pk__in=messages)))
    searches_left = set(_lock(SearchQuery.objects.filter(pk__in=[row.search_id for row in rows if row.search_id])))
    return [
        row
        for row in rows
        if (row.search_id in searches_left if row.search_id else {row.answer_id, row.question_id} <= messages)
    ]


def _lock(rows: QuerySet[Any]) -> Iterable[int]:
    return rows.select_for_update(no_key=True).order_by("pk").values_list("pk", flat=True)


def _choose_groups(new: Sequence[_NewRow]) -> None:
    """Set the group of each row: the nearest one, else a new one."""
    by_project: dict[int, list[_NewRow]] = defaultdict(list)
    for entry in new:
        if entry.terms is not None:
            by_project[entry.row.project_id].append(entry)
    for project_id, rows in by_project.items():
        found = {group_index.find_group(project_id, row.terms) for row in rows if row.terms} - {None}
        if QuestionGroup.objects.filter(pk__in=found).count() < len(found):
            group_index.forget(project_id)  # another process has deleted groups
        for entry in rows:
            assert entry.terms is not None
            group = group_index.find_group(project_id, entry.terms)
            entry.row.group_id = group or _create_group(project_id, entry.terms)


def _create_group(project_id: int, terms: frozenset[str]) -> int:
    group, is_new = QuestionGroup.objects.get_or_create(
        project_id=project_id, key=wording.digest(terms), defaults={"terms": wording.join(terms)}
    )
    if is_new:
        group_index.add_group(project_id, group.pk, terms)
    else:  # another process has created it, and this one has missed it
        group_index.forget(project_id)
    return group.pk


def sweep(project: Project | None = None) -> None:
    """Delete groups without questions, of one project or all: they hold words. Groups that somebody worked on stay."""
    empty = QuestionGroup.objects.filter(questions=None, actions=None, state=QuestionGroup.State.OPEN)
    empty = empty.filter(project=project) if project else empty
    while batch := list(empty.values_list("pk", flat=True)[:BATCH]):
        QuestionGroup.objects.filter(pk__in=batch, questions=None).delete()
