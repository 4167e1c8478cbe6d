"""From a valid question of a known caller to a running answer, the same for HTTP, the socket and the `/ask` page."""

import asyncio
from dataclasses import dataclass, replace
from typing import NamedTuple
from weakref import WeakValueDictionary

from django.conf import settings

from assistant.answering import pipeline
from assistant.answering.owner_settings import to_answer_settings
from assistant.answering.passage_search import PassageSearch
from assistant.answering.question import AnswerSettings, Pinned, Question
from assistant.answering.record import Outcome
from assistant.asking.schemas import Ask, AskV2
from assistant.conversations import threads
from assistant.conversations.threads import NewQuestion, StoredConversation, open_conversation
from assistant.improving.question_groups.pins import find_pin
from assistant.models import AssistantSettings, Message
from assistant.sessions import resume, running
from assistant.sessions.running import (
    Asker,
    Capacity,
    Full,
    RunningAnswer,
    Slots,
    Timeouts,
    running_answers,
)
from assistant.support_requests import store as support_requests
from assistant.upstream import formats, model_chain
from assistant.upstream.relay import ModelChain
from docsite.core import request_times
from docsite.core.access.authentication import Caller
from docsite.core.access.readers import narrow, read_as, reader_groups
from docsite.core.db import ANSWERS, in_db
from docsite.core.http.client_address import network_of
from docsite.core.http.errors import Unavailable
from docsite.core.tenants.models import Project


@dataclass(frozen=True)
class Transport:
    """How a question came in, and the name of the agent if one asked.

    A resumable answer runs on for a while after its reader has left.
    """

    caller: Message.Caller
    origin: str
    resumable: bool = False
    agent: str = ""


async def start_answer(caller: Caller, body: Ask, transport: Transport) -> RunningAnswer:
    """Store the question and start its answer. Raises `Unavailable` when too many answers are running.

    If the reader leaves before that, the answer is abandoned as soon as it has started.
    """
    with read_as(caller.groups), read_as(narrow(body.filter.groups if body.filter else None)):
        asker = identify_asker(caller, body.fp, transport.origin, (body.id or "") if isinstance(body, AskV2) else "")
        try:
            slots = running_answers.reserve(asker, capacity())
        except Full as full:
            raise Unavailable(str(full)) from None
        # The task and all that it starts see what this block sees.
        starting = asyncio.create_task(_Start(caller.project, asker, body, transport, slots).run())
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        starting.add_done_callback(_abandon)
        raise


def _abandon(starting: "asyncio.Task[RunningAnswer]") -> None:
    if starting.exception() is None:
        starting.result().abandon()


def identify_asker(caller: Caller, fp: str, origin: str, chat_id: str) -> Asker:
    """The asker of a question, or of a request to resume or stop an answer."""
    project, groups = caller.project, sorted(reader_groups() or ())
    return Asker(project.pk, project.organization_id, fp, network_of(caller.address), origin, chat_id, groups)


class _Start:
    """A question with the slots that its answer takes, until the answer runs."""

    def __init__(self, project: Project, asker: Asker, body: Ask, transport: Transport, slots: Slots) -> None:
        self._project = project
        self._asker = asker
        self._body = body
        self._transport = transport
        self._slots = slots
        self._outcome = Outcome()  # its time begins here

    async def run(self) -> RunningAnswer:
        """Store the question and start its answer. Gives the slots back if that fails."""
        request_times.begin_if_new()
        try:
            question = self._body.question(self._project)
            new = self._build_new_question(question)
            if not new.replaces:
                return await self._run(question, new)
            if not new.thread_id:
                new = replace(new, thread_id=await self._thread_of_chat())
            async with _regeneration_locks.setdefault(f"{new.fp} {new.thread_id}", asyncio.Lock()):
                await resume.discard_thread(self._project.pk, new.fp, new.thread_id or "")
                return await self._run(question, new)
        except BaseException:
            running_answers.release(self._slots)
            raise

    def _build_new_question(self, question: Question) -> NewQuestion:
        """The question as it is stored."""
        body, transport = self._body, self._transport
        return NewQuestion(
            fp=body.fp,
            text=question.text,
            caller=transport.caller,
            agent=transport.agent,
            thread_id=body.threadId,
            page_path=question.current_path,
            filters=question.filters,
            context=question.context,
            chat_id=self._asker.chat_id,
            replaces=isinstance(body, AskV2) and body.trigger == "regenerate-message",
            message_id=body.messageId if isinstance(body, AskV2) else None,
        )

    async def _thread_of_chat(self) -> str | None:
        """The thread of the chat's running answer, for a client that does not know the thread's id yet."""
        answer = await resume.find_chat(self._asker)
        return answer.thread_id if answer and answer.asker.fp == self._asker.fp else None

    async def _run(self, question: Question, new: NewQuestion) -> RunningAnswer:
        asker, outcome = self._asker, self._outcome
        opened = await in_db(_open, ANSWERS)(self._project, new, asker.network)
        question = replace(question, settings=opened.settings, pinned=opened.pinned)
        conversation = opened.conversation
        answer = RunningAnswer(
            conversation.message_id,
            conversation.thread_id,
            asker,
            outcome,
            _timeouts(),
            resumable=self._transport.resumable,
        )
        if answer.resumable:
            await resume.share(answer)
        answer.start(pipeline.answer(question, conversation, PassageSearch(self._project), opened.models, outcome))
        running_answers.add(answer, self._slots)
        return answer


# When two requests replace one answer, the second replaces the answer to the first.
_regeneration_locks: "WeakValueDictionary[str, asyncio.Lock]" = WeakValueDictionary()


async def drain() -> None:
    """End the running answers before the process ends. After the grace period they end with a failure."""
    await running_answers.close(settings.ENV.shutdown_seconds)
    await formats.close()


async def forget_conversation(project: Project, fp: str, thread_id: str) -> None:
    """Delete a reader's thread, its running answers, and its answers that can be resumed."""
    await resume.discard_thread(project.pk, fp, thread_id)
    await in_db(support_requests.cut_conversation, ANSWERS)(project, fp, thread_id)
    message_ids = await in_db(threads.delete_thread, ANSWERS)(project, fp, thread_id)
    await resume.discard_thread(project.pk, fp, thread_id)  # answers that started meanwhile
    await resume.erase(message_ids)


class _Opened(NamedTuple):
    """What an answer needs from the database."""

    conversation: StoredConversation
    settings: AnswerSettings
    models: ModelChain
    pinned: Pinned | None


def _open(project: Project, new: NewQuestion, network: str) -> _Opened:
    owner_settings = AssistantSettings.for_project(project)
    return _Opened(
        open_conversation(project, new, network),
        to_answer_settings(owner_settings),
        model_chain.choose_models(project, owner_settings),
        None if new.context else find_pin(project, new.text, new.filters),
    )


def _timeouts() -> Timeouts:
    env = settings.ENV
    return Timeouts(running.KEEP_ALIVE_SECONDS, env.resume_seconds, env.openai_answer_seconds)


def capacity() -> Capacity:
    """How many answers may run at once."""
    env = settings.ENV
    return Capacity(env.max_running_answers, env.max_running_answers_ip, env.max_running_answers_org)
