"""The steps of one answer, in their order: search, prompt, relay, save. Imports no Django.

`assistant.sessions` has already checked who may ask, and stored the question.
`assistant.wire` encodes the events.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import cast

from assistant.answering import (
    extractive,
    follow_ups,
    prompts,
    refusals,
    rounds,
    small_talk,
    suggestions,
)
from assistant.answering.record import Conversation, Outcome, Record
from assistant.answering.retriever import Retriever, build_excerpts
from assistant.answering.tools import Toolbox
from assistant.answering.translations import Phrases, phrases_in
from assistant.citations.citation_links import CitationChecker
from assistant.citations.passages import Passages
from assistant.events import (
    Event,
    Failure,
    Finish,
    Rung,
    Source,
    Start,
    Status,
    Text,
    ToolCall,
    ToolResult,
)
from assistant.question import Pinned, Question
from assistant.upstream import Model
from assistant.upstream.relay import Bounds
from search.hits import Hit
from search.text.language import detect_language

logger = logging.getLogger(__name__)

SORRY = "The answer broke off. Please try again."
PINNED = "the owner has pinned this answer"
PACK_SECONDS = 1.0  # after the search; a short answer ends before


@dataclass(frozen=True)
class ModelChain:
    """Models to ask, best first: each one after the one before it has failed. `reason` says why there are none.

    They get passages of `passage_tokens` tokens.
    """

    models: Sequence[Model] = ()
    bounds: Bounds = field(default_factory=Bounds)
    passage_tokens: int = prompts.PASSAGES_BUDGET
    reason: str = ""


_MODEL_RUNGS: tuple[Rung, ...] = ("model", "second_model")


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

        if small_talk_reply := small_talk.reply(question.text):
            outcome.is_greeting = True
            yield outcome.enter_rung("extractive", "")
            yield outcome.add(Text(small_talk_reply))
            outcome.state = "done"
            await record.end()
            yield Finish(0, 0, "stop")
            return

        if question.pinned:
            async for event in _give_pinned(question.pinned, question, conversation, record):
                yield event
            return

        searched, query = follow_ups.add_previous_questions(question, conversation.history)
        call_id = _build_call_id(conversation)
        yield ToolCall(call_id, "search", {"query": query})
        retrieved = await retriever.search(searched, chain.passage_tokens if chain.models else 0)
        if not chain.models and small_talk.is_no_question(question.text):
            retrieved = replace(retrieved, hits=[], chance=0.0)
        unaided_rung, quotable = retrieved.quotable(question.settings)
        found = retrieved.hits if chain.models else quotable
        outcome.chance = retrieved.chance
        yield ToolResult(call_id, build_excerpts(found))

        # Whatever matches reaches a model, which refuses by its own judgement. A question in another language may
        # match nothing until the model has translated it for a search.
        may_match = bool(found) or detect_language(question.text) not in ("", "en")
        passages = Passages([*found, *retrieved.neighbours] if chain.models else found)
        count, count_found = len(passages), len(found)
        packing = asyncio.get_running_loop().call_later(PACK_SECONDS, passages.pack)
        if chain.models:  # nothing else holds the hits while the model writes
            retrieved, found, quotable = replace(retrieved, hits=[], neighbours=()), [], []
        selected = " ".join(item.value for item in question.context)
        citations = CitationChecker(passages, query, prompts.find_addresses(question.settings), selected)
        outcome.hits, outcome.sources, outcome.checks = citations.passages, citations.sources, citations.checks
        reason = chain.reason
        toolbox = Toolbox(question, retriever, citations, call_id, chain.passage_tokens)
        for rung, model in zip(_MODEL_RUNGS, chain.models if may_match else (), strict=False):
            yield outcome.enter_rung(rung, reason, model.name)
            # Closed before anything is stored, so that the upstream request ends first.
            reserve = conversation.reserve
            answering = rounds.answer(model, conversation.history, chain.bounds, toolbox, citations, outcome, reserve)
            async with aclosing(answering):
                async for event in answering:
                    yield event
                    record.checkpoint()
            if outcome.state == "error":
                await record.end()
                yield Failure(SORRY)
                return
            if outcome.attempt_size or outcome.refused:
                break
            reason = outcome.reason

        packing.cancel()
        if chain.models:
            found = passages[:count_found]
            retrieved = replace(retrieved, hits=found)
        from_model = bool(outcome.attempt_size) or outcome.refused
        closing: Iterator[Source | Text] = iter(())
        if not from_model:
            if chain.models:
                _, quotable = retrieved.quotable(question.settings)
            yield outcome.enter_rung(unaided_rung, reason)
            outcome.begin_attempt()
            if quotable:
                topic = follow_ups.quotation_topic(searched)
                closing = extractive.answer(question.text, topic, citations, quotable, unaided_rung)
            else:
                closing = refusals.refuse(retrieved.hits, question, conversation.thread_id)
        elif not outcome.sources:
            closing = _explain_no_sources(outcome, retrieved.hits, question, conversation.thread_id)
        if outcome.cut_by == "repetition":
            yield outcome.add(Text(f"\n\n{_phrases_for(outcome, question).repetition}"))
        for event in closing:
            yield outcome.add(event)
        if question.suggestions and outcome.sources:
            for text in suggestions.build_block([*found, *citations.passages[count:]], outcome.sources):
                yield text  # only for the reader: the stored answer does not have it

        outcome.state = "done"
        await record.end()  # before the reader learns that it is complete
        scope = retrieved.scope | ({"refused": True} if outcome.kind == "refused" else {})
        yield Status(cast(Rung, outcome.rung), outcome.reason, scope)
        yield Finish(outcome.usage.prompt_tokens, outcome.usage.completion_tokens, outcome.finish_reason)
    except Exception:  # the task boundary: nothing may leave a stream
        logger.exception("Answer %s failed.", conversation.message_id)
        outcome.state, outcome.reason = "error", "internal error"
        await record.end()
        yield Failure(SORRY)
    finally:
        if outcome.state == "running":
            outcome.state = "aborted"
        await record.end()


async def _give_pinned(
    pinned: Pinned, question: Question, conversation: Conversation, record: Record
) -> AsyncGenerator[Event, None]:
    """Yield the owner's own answer with its citation. Its Markdown is sanitized like that of a model."""
    outcome = record.outcome
    call_id = _build_call_id(conversation)
    yield ToolCall(call_id, "search", {"query": question.text})
    yield ToolResult(call_id, build_excerpts([pinned.passage]))
    citations = CitationChecker([pinned.passage], question.text, prompts.list_addresses(pinned.text))
    outcome.hits, outcome.sources, outcome.checks = citations.passages, citations.sources, citations.checks
    outcome.chance = 1.0
    yield outcome.enter_rung("extractive", "")
    outcome.begin_attempt()
    link, new_sources = citations.cite(0)
    for event in (*new_sources, *citations.feed(pinned.text), *citations.end(), Text(f" {link}")):
        yield outcome.add(event)
    outcome.state, outcome.reason = "done", PINNED
    await record.end()
    yield Status("extractive", PINNED)
    yield Finish(0, 0, "stop")


def _build_call_id(conversation: Conversation) -> str:
    """The id of the service's own search, which is that of its answer."""
    return f"call_{conversation.message_id.removeprefix('msg_')}"


def _explain_no_sources(
    outcome: Outcome, hits: Sequence[Hit], question: Question, thread_id: str
) -> Iterator[Source | Text]:
    """Write what follows a model's answer without sources. The model refused, or nobody can check its text."""
    if not outcome.attempt_size:
        yield from refusals.refuse(hits, question, thread_id)
        return
    if not outcome.refused:
        yield Text(f"\n\n{_phrases_for(outcome, question).unsupported}")
    yield from refusals.suggest_alternatives(hits, question, thread_id)


def _phrases_for(outcome: Outcome, question: Question) -> Phrases:
    """The service's sentences in the language of the question, or of the answer where that is not clear."""
    return phrases_in(detect_language(question.text) or detect_language(outcome.text))
