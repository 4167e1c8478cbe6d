"""The steps of one answer, in their order: search, prompt, relay, save. Imports no Django.

`assistant.sessions` has already checked who may ask, and stored the question.
`assistant.wire` encodes the events.
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

from assistant.answering import (
    extractive,
    follow_ups,
    prompts,
    refusals,
    small_talk,
    suggestions,
)
from assistant.answering.refusal_detector import RefusalDetector
from assistant.answering.translations import language_of
from assistant.citations.citation_links import CitationChecker
from assistant.citations.evidence import detect_language
from assistant.events import (
    Event,
    Excerpt,
    Failure,
    Finish,
    FinishReason,
    Rung,
    Source,
    Start,
    Status,
    Text,
    ToolCall,
    ToolResult,
)
from assistant.question import AnswerSettings, Question, Turn
from assistant.upstream import Delta, EndOfText, Item, Model, Usage, relay
from assistant.upstream.relay import Bounds, StreamFailure
from search.hits import Hit
from search.retrieval.answerability import MIN_CHANCE, MIN_CLOSE_CHANCE

logger = logging.getLogger(__name__)

MIN_PASSAGE_SCORE = 0.005  # passages with a smaller score are not used
CHECKPOINT_SECONDS = 2.0
CHECKPOINT_SIZE = 2048  # characters
SAVE_RETRY_SECONDS = (1, 4, 15, 60)  # before each further attempt to store an answer
SORRY = "The answer broke off. Please try again."


@dataclass
class Outcome:
    """An answer as it is stored, complete or not. `state` is that of `assistant.models.Message`."""

    state: str = "running"
    rung: str = ""
    reason: str = ""
    steps: list[dict[str, Any]] = field(default_factory=list)
    sources: list[Source] = field(default_factory=list)
    hits: list[Hit] = field(default_factory=list)
    usage: Usage = field(default_factory=lambda: Usage(0, 0))
    finish_reason: FinishReason = "stop"
    checks: list[dict[str, Any]] = field(default_factory=list)
    refused: bool = False  # by the model, although there were passages
    spent: int = 0  # tokens to charge, over all models asked; estimated where a server does not count
    size: int = 0  # characters
    _pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The answer so far."""
        self._pieces = ["".join(self._pieces)]  # a joined text takes much less memory than its pieces
        return self._pieces[0]

    def add(self, event: Source | Text) -> Source | Text:
        """Add the text of an event to the answer, and return the event."""
        if isinstance(event, Text):
            self._pieces.append(event.delta)
            self.size += len(event.delta)
        return event

    def enter_rung(self, rung: Rung, reason: str) -> Status:
        """Record who answers now, and why the rung before failed."""
        status = Status(rung, reason)
        self.rung, self.reason = rung, reason
        self.steps.append(status.step())
        return status


class Conversation(Protocol):
    """The stored thread that an answer belongs to."""

    thread_id: str
    message_id: str

    @property
    def history(self) -> Sequence[Turn]:
        """Earlier turns, oldest first."""

    async def save(self, outcome: Outcome) -> None:
        """Store the answer so far."""


@dataclass(frozen=True)
class Retrieved:
    """The result of a search: passages, best first, the chance (0..1) that they answer, and the scope of the search.

    `scope` has `version`, `indexedAt`, `pages`. `neighbours` are the sections around the passages, for a model.
    """

    hits: list[Hit]
    chance: float
    scope: dict[str, object]
    neighbours: Sequence[Hit] = ()

    def quotable(self, question: str, settings: AnswerSettings) -> tuple[Rung, list[Hit]]:
        """How the chance allows to answer without a model, and the passages to quote; none for a refusal.

        A question in another language than the pages shares few words with them, so its chance says nothing.
        """
        threshold = MIN_CLOSE_CHANCE if settings.threshold is None else settings.threshold
        passages = [hit for hit in self.hits if hit.score >= MIN_PASSAGE_SCORE]
        is_foreign = bool(passages) and detect_language(question) not in ("", language_of(passages))
        if not passages or (self.chance < threshold and not is_foreign):
            return "nearest_pages", []
        return "extractive" if self.chance >= MIN_CHANCE else "closest_passages", passages


Retrieve = Callable[[Question, int], Awaitable[Retrieved]]  # the number is how many tokens of passages a model takes


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
    question: Question, conversation: Conversation, retrieve: Retrieve, chain: ModelChain, outcome: Outcome
) -> AsyncGenerator[Event, None]:
    """Yield the events of one answer. Never raises, except when it is cancelled.

    Every failure becomes an event, because Daphne never ends a response whose body
    raises. Cancellation closes the upstream request and stores the
    partial answer, as aborted if the outcome has no other state. Then it passes on.
    """
    record = _Record(conversation, outcome)
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
        retrieved = await retrieve(searched, chain.passage_tokens if chain.models else 0)
        unaided_rung, quotable = retrieved.quotable(question.text, question.settings)
        found = retrieved.hits if chain.models else quotable
        yield ToolResult(call_id, _excerpts(found))

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


class _Record:
    """Stores the answer: at checkpoints, while the stream goes on, and once at its end."""

    def __init__(self, conversation: Conversation, outcome: Outcome) -> None:
        self.conversation = conversation
        self.outcome = outcome
        self.saved_at, self.saved_size = time.monotonic(), 0
        self.saving: asyncio.Task[bool] | None = None
        self.ending: asyncio.Task[None] | None = None

    def checkpoint(self) -> None:
        """Store the answer so far, if it is time and no other checkpoint is being written."""
        now, size = time.monotonic(), self.outcome.size
        due = now - self.saved_at > CHECKPOINT_SECONDS or size - self.saved_size > CHECKPOINT_SIZE
        if due and (self.saving is None or self.saving.done()):
            self.saved_at, self.saved_size = now, size
            self.saving = asyncio.create_task(self._save())

    async def end(self) -> None:
        """Store the complete answer, once, even if the caller is cancelled meanwhile."""
        if self.ending is None:
            self.ending = asyncio.create_task(self._end())
        await asyncio.shield(self.ending)

    async def _end(self) -> None:
        if self.saving:
            await self.saving
        if not await self._save():  # retry while the reader goes on
            retry = asyncio.create_task(self._retry_save())
            _retries.add(retry)
            retry.add_done_callback(_retries.discard)

    async def _save(self) -> bool:
        try:
            await self.conversation.save(self.outcome)
        except Exception:  # the same boundary: the reader has the answer, although it is not stored
            logger.exception("Answer %s could not be stored.", self.conversation.message_id)
            return False
        return True

    async def _retry_save(self) -> None:
        for seconds in SAVE_RETRY_SECONDS:
            await asyncio.sleep(seconds)
            if await self._save():
                return


_retries: set[asyncio.Task[None]] = set()


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
        else:
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


def _excerpts(hits: Sequence[Hit]) -> list[Excerpt]:
    """The best passage of each page."""
    pages = {hit.path: hit for hit in reversed(hits)}
    best = [hit for hit in hits if pages[hit.path] is hit]
    return [Excerpt(hit.path, hit.url, hit.title, hit.section, hit.excerpt, hit.score) for hit in best]
