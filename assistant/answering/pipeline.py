"""The steps of one answer, in their order: search, prompt, relay, save. Imports no Django.

`assistant.sessions` has already checked who may ask, and stored the question.
`assistant.wire` encodes the events.
"""

import logging
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import cast

from assistant.answering import (
    extractive,
    follow_ups,
    prompts,
    refusals,
    small_talk,
    suggestions,
)
from assistant.answering.record import Conversation, Outcome, Record
from assistant.answering.refusal_detector import RefusalDetector
from assistant.answering.retriever import Retriever, build_excerpts
from assistant.citations.citation_links import CitationChecker
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
from assistant.question import AnswerSettings, Question
from assistant.upstream import Delta, EndOfText, Item, Model, Usage, relay
from assistant.upstream.relay import Bounds, StreamFailure
from search.hits import Hit

logger = logging.getLogger(__name__)

SORRY = "The answer broke off. Please try again."


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

        if small_talk_reply := "" if question.context else small_talk.reply(question.text):
            yield outcome.enter_rung("extractive", "")
            yield outcome.add(Text(small_talk_reply))
            outcome.state = "done"
            await record.end()
            yield Finish(0, 0, "stop")
            return

        searched, query = follow_ups.add_previous_questions(question, conversation.history)
        call_id = f"call_{conversation.message_id.removeprefix('msg_')}"
        yield ToolCall(call_id, "search", {"query": query})
        retrieved = await retriever.search(searched, chain.passage_tokens if chain.models else 0)
        unaided_rung, quotable = retrieved.quotable(question.text, question.settings)
        found = retrieved.hits if chain.models else quotable
        yield ToolResult(call_id, build_excerpts(found))

        # Whatever matches reaches a model, which refuses by its own judgement.
        outcome.hits = passages = [*found, *retrieved.neighbours] if chain.models else found
        citations = CitationChecker(passages, query, prompts.find_addresses(question.settings))
        outcome.sources, outcome.checks = citations.sources, citations.checks
        reason = chain.reason
        messages = (
            prompts.build(question, passages, conversation.history, chain.passage_tokens)
            if passages and chain.models
            else []
        )
        for rung, model in zip(_MODEL_RUNGS, chain.models if passages else (), strict=False):
            yield outcome.enter_rung(rung, reason)
            reply = _ModelReply(prompts.estimate_request_tokens(messages), chain.bounds, citations, outcome)
            # Closed before anything is stored, so that the upstream request ends first.
            async with aclosing(relay.stream(model, messages, chain.bounds)) as items:
                async for item in items:
                    for event in reply.process(item):
                        yield event
                    record.checkpoint()
            for event in reply.end():
                yield event
            if outcome.state == "error":
                await record.end()
                yield Failure(SORRY)
                return
            if outcome.size or outcome.refused:
                break
            reason = outcome.reason

        from_model = bool(outcome.size) or outcome.refused
        closing: Iterator[Source | Text] = iter(())
        if not from_model:
            yield outcome.enter_rung(unaided_rung, reason)
            if quotable:
                topic = follow_ups.quotation_topic(searched)
                closing = extractive.answer(question.text, topic, citations, quotable, unaided_rung)
            else:
                closing = refusals.refuse(retrieved.hits, question.settings, conversation.thread_id)
        elif not outcome.sources:
            closing = _explain_no_sources(outcome, retrieved.hits, question.settings, conversation.thread_id)
        for event in closing:
            yield outcome.add(event)
        if question.suggestions and outcome.sources:
            for text in suggestions.build_block(found, outcome.sources):
                yield text  # only for the reader: the stored answer does not have it

        outcome.state = "done"
        await record.end()  # before the reader learns that it is complete
        refused = not outcome.sources and (outcome.refused if from_model else not quotable)
        scope = retrieved.scope | ({"refused": True} if refused else {})
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


class _ModelReply:
    """Checks the answer of one model and adds it to the outcome, also a failure.

    After a failure without any text the pipeline asks the next model. A failure
    after some text is an error.
    """

    def __init__(self, prompt_size: int, bounds: Bounds, citations: CitationChecker, outcome: Outcome) -> None:
        self._bounds = bounds
        self._outcome = outcome
        self._detector = RefusalDetector(citations)
        self._prompt_size = prompt_size
        self._spent_before = outcome.spent
        self._usage: Usage | None = None
        self._failure = ""
        outcome.spent += prompt_size  # the prompt costs even if the reader leaves before the first word

    def process(self, item: Item | StreamFailure) -> Sequence[Source | Text]:
        """Process an item of the relay. Returns its events."""
        outcome = self._outcome
        if isinstance(item, Delta):
            events = [outcome.add(event) for event in self._detector.feed(item.text)]
            outcome.spent = self._spent_before + self._prompt_size + outcome.size // 4
            return events
        if isinstance(item, Usage):
            self._usage = item
        elif isinstance(item, EndOfText):
            outcome.finish_reason = item.reason
        elif isinstance(item, StreamFailure):
            self._failure = item.reason
        return ()

    def end(self) -> Sequence[Source | Text]:
        """End the reply. Returns the events that waited for more text, and completes the outcome."""
        outcome = self._outcome
        events = [outcome.add(event) for event in self._detector.end()]
        outcome.refused = self._detector.refused
        self._count_tokens()
        if not outcome.size and not outcome.refused:
            outcome.reason, outcome.finish_reason = self._failure or "the model server sent an empty answer", "stop"
            return events
        outcome.usage = self._usage or outcome.usage
        if self._failure:
            outcome.state, outcome.reason = "error", self._failure
        elif outcome.refused:
            outcome.reason = "the model found no answer in the passages"
        return events

    def _count_tokens(self) -> None:
        """Charge the tokens that the server counted, up to a plausible number. A failure without text costs nothing."""
        usage, outcome = self._usage, self._outcome
        if usage and usage.prompt_tokens:
            prompt = min(usage.prompt_tokens, 10 * self._prompt_size)
            outcome.spent = self._spent_before + prompt + min(usage.completion_tokens, self._bounds.token_limit)
        elif self._failure and not outcome.size:
            outcome.spent = self._spent_before


def _explain_no_sources(
    outcome: Outcome, hits: Sequence[Hit], settings: AnswerSettings, thread_id: str
) -> Iterator[Source | Text]:
    """Write what follows a model's answer without sources. The model refused, or nobody can check its text."""
    if not outcome.size:
        yield from refusals.refuse(hits, settings, thread_id)
        return
    if not outcome.refused:
        yield Text(f"\n\n{refusals.UNSUPPORTED}")
    yield from refusals.suggest_alternatives(hits, settings, thread_id)
