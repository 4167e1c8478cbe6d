"""Erases conversations with all that belongs to them, and support requests."""

from collections import Counter
from datetime import timedelta

from asgiref.sync import async_to_sync
from django.db.models import QuerySet
from django.utils import timezone

from assistant.conversations import threads
from assistant.improving.question_groups import grouping
from assistant.models import ChatId, GroupedQuestion, Message, SupportFormCount, SupportRequest, Thread
from assistant.running_answers import resume
from assistant.support_requests import store as support_requests
from docsite.core.components.erasure import CONVERSATION, EVERYTHING, READER, WRITER, Subject
from docsite.core.db import ANSWERS, in_db
from docsite.core.tenants.models import Project
from search.query_log.recording import find_searches

BATCH = 200  # threads of one transaction
_RUNNING = timedelta(hours=1)  # an answer that was stored so long ago runs no more, and cannot be resumed


async def forget_conversation(project: Project, fp: str, thread_id: str) -> None:
    """Delete a reader's thread, its running answers, and its answers that can be resumed."""
    await resume.discard_thread(project.pk, fp, thread_id)
    await in_db(support_requests.cut_conversation, ANSWERS)(project, fp, thread_id)
    message_ids = await in_db(threads.delete_thread, ANSWERS)(project, fp, thread_id)
    await resume.discard_thread(project.pk, fp, thread_id)  # answers that started meanwhile
    await resume.erase(message_ids)


def erase(subject: Subject) -> dict[str, int]:
    """Delete what a subject left. Returns how many rows of each kind."""
    project = subject.project
    if subject.whose == WRITER:  # the owner's mailbox is not ours
        own = support_requests.select_of_address(project, subject.identifier)
        return {"support requests": support_requests.delete(own)}
    threads, searches = find_threads(subject), find_searches(subject)
    erased = {} if threads is None else _erase_threads(subject, threads)
    if subject.whose == EVERYTHING:
        erased["support requests"] += support_requests.delete(SupportRequest.objects.filter(project=project))
        erased["chat ids"] += ChatId.objects.filter(project=project).delete()[0]
        SupportFormCount.objects.filter(project=project).delete()
    if searches is not None:
        GroupedQuestion.objects.filter(search__in=searches).delete()
    grouping.sweep(project)  # the words of questions that are gone
    return erased


def count(subject: Subject) -> dict[str, int]:
    """How many conversations, messages and support requests an erasure would delete."""
    if subject.whose == WRITER:
        return {"support requests": support_requests.select_of_address(subject.project, subject.identifier).count()}
    threads = find_threads(subject)
    if threads is None:
        return {}
    return {"conversations": threads.count(), "messages": Message.objects.filter(thread__in=threads).count()}


def find_reader(subject: Subject) -> str:
    """The fp of the reader whom a subject names by it, or by the id of one of their conversations."""
    named = Thread.objects.filter(project=subject.project, thread_id=subject.identifier)
    return named.values_list("fp", flat=True).first() or subject.identifier


def find_threads(subject: Subject) -> "QuerySet[Thread] | None":
    """The conversations of a subject; None if it names none."""
    threads = Thread.objects.filter(project=subject.project)
    return {
        READER: threads.filter(fp=subject.identifier),
        CONVERSATION: threads.filter(thread_id=subject.identifier),
        EVERYTHING: threads,
    }.get(subject.whose)


def _erase_threads(subject: Subject, threads: "QuerySet[Thread]") -> dict[str, int]:
    """Delete threads. Their running answers end, in all processes."""
    erased = Counter({"conversations": 0, "messages": 0, "support requests": 0, "chat ids": 0})
    recent = Message.objects.filter(thread__project=subject.project, updated_at__gt=timezone.now() - _RUNNING)
    for part in (threads.exclude(thread_id=subject.last_thread), threads):
        for thread in part.filter(pk__in=recent.values("thread")):
            _erase_parts([thread.pk], erased)
            async_to_sync(forget_conversation)(subject.project, thread.fp, thread.thread_id)
        while batch := list(part.values_list("pk", flat=True)[:BATCH]):
            _erase_parts(batch, erased)
            Thread.objects.filter(pk__in=batch).delete()
    return erased


def _erase_parts(threads: list[int], erased: Counter[str]) -> None:
    """Count what goes with threads, and delete what would stay."""
    erased["conversations"] += len(threads)
    erased["messages"] += Message.objects.filter(thread__in=threads).count()
    erased["support requests"] += support_requests.delete_of_threads(threads)
    erased["chat ids"] += ChatId.objects.filter(thread__in=threads).delete()[0]
