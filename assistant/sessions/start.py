"""The one pipeline behind every door: a valid question of a known caller to a running answer."""

import asyncio
from dataclasses import dataclass, replace
from weakref import WeakValueDictionary

from django.conf import settings

from assistant import configuration
from assistant.answering import pipeline
from assistant.answering.pipeline import Ladder, Outcome
from assistant.conversations import threads
from assistant.conversations.threads import NewQuestion, StoredConversation, open_conversation
from assistant.models import AssistantSettings, Message
from assistant.question import Question, Voice
from assistant.schemas import Ask, AskV2
from assistant.sessions import resume
from assistant.sessions.running import (
    Asker,
    Encode,
    Full,
    Live,
    Most,
    Patience,
    Places,
    answers,
)
from assistant.upstream import openai
from docsite.core.access.authentication import Caller
from docsite.core.db import in_db
from docsite.core.http.client_address import network_of
from docsite.core.http.errors import Unavailable
from docsite.core.tenants.models import Project


@dataclass(frozen=True)
class Door:
    """How an answer leaves: its encoding, whether it waits for a reader who is gone, and is kept for others to read."""

    caller: Message.Caller
    origin: str
    encode: Encode
    resumable: bool = False
    keep: bool = True


async def ask(caller: Caller, body: Ask, door: Door) -> Live:
    """Store the question and start its answer. Raises `Unavailable` when too many are running.

    A reader who leaves meanwhile leaves nothing behind that still runs.
    """
    asker = asker_of(caller, body.fp, door.origin, (body.id or "") if isinstance(body, AskV2) else "")
    try:
        places = answers.reserve(asker, most())
    except Full as full:
        raise Unavailable(str(full)) from None
    starting = asyncio.create_task(_start(caller.project, asker, body, door, places))
    try:
        return await asyncio.shield(starting)
    except asyncio.CancelledError:
        starting.add_done_callback(_abandon)
        raise


def _abandon(starting: "asyncio.Task[Live]") -> None:
    if starting.exception() is None:
        starting.result().abandon()


def asker_of(caller: Caller, fp: str, origin: str, chat_id: str) -> Asker:
    """Whose answer it is, or would be."""
    project = caller.project
    return Asker(project.pk, project.organization_id, fp, network_of(caller.address), origin, chat_id)


async def _start(project: Project, asker: Asker, body: Ask, door: Door, places: Places) -> Live:
    try:
        question = body.question(project)
        asked = NewQuestion(
            fp=body.fp,
            text=question.text,
            caller=door.caller,
            thread_id=body.threadId,
            page_path=question.current_path,
            chat_id=asker.chat_id,
            replaces=isinstance(body, AskV2) and body.trigger == "regenerate-message",
            message_id=body.messageId if isinstance(body, AskV2) else None,
        )
        if not asked.replaces:
            return await _run(project, asker, question, asked, door, places)
        if not asked.thread_id:
            asked = replace(asked, thread_id=await _begun(asker))
        async with _one_by_one.setdefault(f"{body.fp} {asked.thread_id}", asyncio.Lock()):
            await resume.drop(project.pk, body.fp, asked.thread_id or "")
            return await _run(project, asker, question, asked, door, places)
    except BaseException:
        answers.release(places)
        raise


async def _begun(asker: Asker) -> str | None:
    """The conversation of a chat whose first answer has not reached its asker, who can then name no thread."""
    found = await resume.find_chat(asker)
    return found.thread_id if found and found.asker.fp == asker.fp else None


# Of two requests to replace one answer, the second replaces that of the first.
_one_by_one: "WeakValueDictionary[str, asyncio.Lock]" = WeakValueDictionary()


async def _run(
    project: Project, asker: Asker, question: Question, asked: NewQuestion, door: Door, places: Places
) -> Live:
    conversation, voice, ladder = await in_db(_open)(project, asked)
    question, retrieve = replace(question, voice=voice), configuration.retrieval(project)
    outcome = Outcome()
    live = Live(
        conversation.message_id,
        conversation.thread_id,
        asker,
        outcome,
        _patience(),
        resumable=door.resumable,
        keep=door.keep,
    )
    if live.resumable:
        await resume.share(live)
    live.start(pipeline.answer(question, conversation, retrieve, ladder, outcome), door.encode)
    answers.add(live, places)
    return live


async def drain() -> None:
    """End what runs, since the process does: within the grace period by itself, then with an error part."""
    await answers.close(settings.ENV.shutdown_seconds)
    await openai.close()


async def forget(project: Project, fp: str, thread_id: str) -> None:
    """Delete a reader's conversation, with whatever of it is still running or could be resumed."""
    await resume.drop(project.pk, fp, thread_id)
    message_ids = await in_db(threads.delete_thread)(project, fp, thread_id)
    await resume.drop(project.pk, fp, thread_id)  # what began meanwhile
    await resume.erase(message_ids)


def _open(project: Project, asked: NewQuestion) -> tuple[StoredConversation, Voice, Ladder]:
    told = AssistantSettings.for_project(project)
    return open_conversation(project, asked), told.voice(), configuration.ladder(project, told)


def _patience() -> Patience:
    env = settings.ENV
    return Patience(env.keep_alive_seconds, env.resume_seconds, env.openai_answer_seconds)


def most() -> Most:
    """How many answers may run at once."""
    env = settings.ENV
    return Most(env.max_running_answers, env.max_running_answers_ip, env.max_running_answers_org)
