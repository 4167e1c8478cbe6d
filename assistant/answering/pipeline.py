"""One answer from its start to its end, and the three ways to give it. Imports no Django.

The endpoint has checked who may ask; `assistant.asking.start` has stored the question.
`assistant.wire` encodes the events.
"""

import logging
from collections.abc import AsyncGenerator
from contextlib import aclosing

from assistant.answering import prompts, small_talk
from assistant.answering.grounded import GroundedAnswer, build_call_id
from assistant.answering.question import Pinned, Question
from assistant.answering.record import Conversation, Outcome, Record
from assistant.answering.retriever import Retriever, build_excerpts
from assistant.citations.link_checker import CitationChecker
from assistant.upstream.relay import ModelChain
from assistant.wire.events import Event, Failure, Finish, Start, Status, Text, ToolCall, ToolResult

logger = logging.getLogger(__name__)

SORRY = "The answer broke off. Please try again."
PINNED = "the owner has pinned this answer"


async def answer(
    question: Question, conversation: Conversation, retriever: Retriever, chain: ModelChain, outcome: Outcome
) -> AsyncGenerator[Event, None]:
    """Yield the events of one answer. Never raises, except when it is cancelled.

    Every failure becomes an event, because Daphne never ends a response whose body
    raises. Cancellation closes the upstream request and stores the
    partial answer, as aborted if the outcome has no other state. Then it passes on.
    """
    record = Record(conversation, outcome)
    try:
        yield Start(conversation.message_id, conversation.thread_id)
        if reply := small_talk.reply(question.text):
            events = _greet(reply, record)
        elif question.pinned:
            events = _give_pinned(question.pinned, question, record)
        else:
            events = GroundedAnswer(question, retriever, chain, record).write()
        # Closed before anything is stored, so that the upstream request ends first.
        async with aclosing(events):
            async for event in events:
                yield event
        if outcome.state == "error":
            await record.end()
            yield Failure(SORRY)
    except Exception:  # the task boundary: nothing may leave a stream
        logger.exception("Answer %s failed.", conversation.message_id)
        outcome.state, outcome.reason = "error", "internal error"
        await record.end()
        yield Failure(SORRY)
    finally:
        if outcome.state == "running":
            outcome.state = "aborted"
        await record.end()


async def answer_unread(
    question: Question, conversation: Conversation, retriever: Retriever, chain: ModelChain = ModelChain()
) -> Outcome:
    """The whole answer to a question of the service itself, which nobody reads meanwhile."""
    outcome = Outcome()
    async with aclosing(answer(question, conversation, retriever, chain, outcome)) as events:
        async for _ in events:
            pass
    return outcome


async def _greet(reply: str, record: Record) -> AsyncGenerator[Event, None]:
    """Answer a greeting or thanks, which need no search."""
    outcome = record.outcome
    outcome.is_greeting = True
    yield outcome.enter_rung("extractive", "")
    yield outcome.add(Text(reply))
    await record.complete()
    yield Finish(0, 0, "stop")


async def _give_pinned(pinned: Pinned, question: Question, record: Record) -> AsyncGenerator[Event, None]:
    """Give the owner's own answer with its citation. Its Markdown is sanitized like that of a model."""
    outcome = record.outcome
    yield ToolCall(call_id := build_call_id(record.conversation), "search", {"query": question.text})
    yield ToolResult(call_id, build_excerpts([pinned.passage]))
    citations = CitationChecker([pinned.passage], question.text, prompts.list_addresses(pinned.text))
    outcome.cite_from(citations)
    outcome.chance = 1.0
    yield outcome.enter_rung("extractive", "")
    outcome.begin_attempt()
    link, new_sources = citations.cite(0)
    for event in (*new_sources, *citations.feed(pinned.text), *citations.end(), Text(f" {link}")):
        yield outcome.add(event)
    outcome.reason = PINNED
    await record.complete()
    yield Status("extractive", PINNED)
    yield Finish(0, 0, "stop")
