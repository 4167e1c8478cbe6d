"""From a valid question of a known caller to a running answer, the same for HTTP, the socket and the `/ask` page."""

import asyncio
from dataclasses import replace
from weakref import WeakValueDictionary

from django.conf import settings

from assistant.answering import pipeline
from assistant.answering.owner_settings import to_answer_settings
from assistant.answering.passage_search import PassageSearch
from assistant.answering.question import Question
from assistant.answering.record import Outcome
from assistant.conversations.threads import StoredConversation, open_conversation
from assistant.improving.question_groups.pins import find_pin
from assistant.models import AssistantSettings
from assistant.running_answers import resume, running
from assistant.running_answers.capacity import Full, Slots, answer_slots
from assistant.running_answers.running import RunningAnswer, Timeouts, running_answers
from assistant.upstream import formats, model_choice
from assistant.upstream.relay import ModelChain
from docsite.core import request_times
from docsite.core.access.readers import read_as
from docsite.core.db import ANSWERS, in_db
from docsite.core.http.errors import Unavailable
from docsite.core.tenants.models import Project


async def start_answer(project: Project, question: Question) -> RunningAnswer:
    """Store the question and start its answer. Raises `Unavailable` when too many answers are running.

    If the reader leaves before that, the answer is abandoned as soon as it has started.
    """
    with read_as(frozenset(question.asker.groups)):
        try:
            slots = answer_slots.reserve(question.asker)
        except Full as full:
            raise Unavailable(str(full)) from None
        # The task and all that it starts see what this block sees.
        starting = asyncio.create_task(_start(project, question, Outcome(), slots))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        starting.add_done_callback(_abandon)
        raise


def _abandon(starting: "asyncio.Task[RunningAnswer]") -> None:
    if starting.exception() is None:
        starting.result().abandon()


async def _start(project: Project, question: Question, outcome: Outcome, slots: Slots) -> RunningAnswer:
    """Store the question and start its answer. If that fails, free the slots that were reserved for the answer."""
    request_times.begin_if_new()
    try:
        if question.replaces:
            answer = await _replace(project, question, outcome)
        else:
            answer = await _run(project, question, outcome)
    except BaseException:
        answer_slots.release(slots)
        raise
    running_answers.add(answer, slots)
    return answer


async def _replace(project: Project, question: Question, outcome: Outcome) -> RunningAnswer:
    """Start an answer in place of another one, which ends if it still runs."""
    asker = question.asker
    if not question.thread_id:  # the client does not know it yet
        running = await resume.find_chat(asker)
        question = replace(question, thread_id=running.thread_id if running and running.asker.fp == asker.fp else None)
    async with _regeneration_locks.setdefault(f"{asker.fp} {question.thread_id}", asyncio.Lock()):
        await resume.discard_thread(project.pk, asker.fp, question.thread_id or "")
        return await _run(project, question, outcome)


async def _run(project: Project, question: Question, outcome: Outcome) -> RunningAnswer:
    question, conversation, models = await in_db(_open, ANSWERS)(project, question)
    answer = RunningAnswer(
        conversation.message_id,
        conversation.thread_id,
        question.asker,
        outcome,
        _timeouts(),
        resumable=question.resumable,
    )
    if answer.resumable:
        await resume.announce_answer(answer)
    answer.start(pipeline.answer(question, conversation, PassageSearch(project), models, outcome))
    return answer


# When two requests replace one answer, the second replaces the answer to the first.
_regeneration_locks: "WeakValueDictionary[str, asyncio.Lock]" = WeakValueDictionary()


async def drain() -> None:
    """End the running answers before the process ends. After the grace period they end with a failure."""
    await running_answers.close(settings.ENV.shutdown_seconds)
    await formats.close()


def _open(project: Project, question: Question) -> tuple[Question, StoredConversation, ModelChain]:
    """Store the question, and load what its answer needs from the database."""
    owner_settings = AssistantSettings.for_project(project)
    conversation = open_conversation(project, question)
    models = model_choice.choose_models(project, owner_settings)
    pinned = None if question.context else find_pin(project, question.text, question.filters)
    return replace(question, settings=to_answer_settings(owner_settings), pinned=pinned), conversation, models


def _timeouts() -> Timeouts:
    env = settings.ENV
    return Timeouts(running.KEEP_ALIVE_SECONDS, env.resume_seconds, env.openai_answer_seconds)
