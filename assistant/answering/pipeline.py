"""The story of one answer, read top to bottom: search, prompt, relay, save. Free of Django.

Who may ask and what was asked before is settled already (`assistant.conversations.threads`);
how the events are written is the door's matter (`assistant.wire`).
"""

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, cast

from assistant.answering import (
    extractive,
    follow_ups,
    prompts,
    suggestions,
)
from assistant.answering.refusals import RefusalDetector
from assistant.citations.checker import CitationChecker
from assistant.events import Event, Failed, Finish, FinishReason, Found, Rung, Searching, Source, Start, Status, Text
from assistant.question import Question, Turn, Voice
from assistant.upstream import Ended, Model, Piece, Usage, relay
from assistant.upstream.relay import Bounds
from search.hits import Hit
from search.retrieval.answerability import MIN_CHANCE
from search.text import analysis

logger = logging.getLogger(__name__)

FURTHER = 0.005  # what a passage must score to be read at all
CHECKPOINT_SECONDS = 2.0
CHECKPOINT_SIZE = 2048  # characters
LATER = (1, 4, 15, 60)  # seconds before each further attempt to store an answer
ENOUGH_WORDS = 3  # that a question needs to be understood by itself
MOST_BEFORE = 3  # questions that may lead it
LONGEST_POINTER = 500  # characters of a selection that tell what is wanted
SORRY = "The answer broke off. Please try again."
UNCHECKED = "No page of the documentation could be found to support this answer."


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
    ended: FinishReason = "stop"
    checks: list[dict[str, Any]] = field(default_factory=list)
    refused: bool = False  # by the model, after hits
    spent: int = 0  # tokens to charge, over all models asked; estimated where a server does not count
    size: int = 0  # characters
    _pieces: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The answer so far."""
        self._pieces = ["".join(self._pieces)]  # one text takes far less memory than its pieces
        return self._pieces[0]

    def add(self, event: Source | Text) -> Source | Text:
        """Keep the text of an event on its way to the reader."""
        if isinstance(event, Text):
            self._pieces.append(event.delta)
            self.size += len(event.delta)
        return event

    def climb(self, rung: Rung, reason: str) -> Status:
        """Go to a rung of the ladder, because of what happened on the one before."""
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
        """Store the answer as it stands."""


@dataclass(frozen=True)
class Retrieved:
    """Passages of a search, best first, the chance (0..1) that they answer, and what was searched.

    `scope` has `version`, `indexedAt`, `pages`.
    """

    hits: list[Hit]
    chance: float
    scope: dict[str, object]

    def passages(self, voice: Voice) -> list[Hit]:
        """What to answer from: nothing, when they do not answer."""
        least = MIN_CHANCE if voice.threshold is None else voice.threshold
        return [hit for hit in self.hits if hit.score >= FURTHER] if self.chance >= least else []


Retrieve = Callable[[Question], Awaitable[Retrieved]]


@dataclass(frozen=True)
class Ladder:
    """Models to ask, best first, within bounds; `reason` says why there are none, if that needs saying."""

    models: Sequence[Model] = ()
    bounds: Bounds = field(default_factory=Bounds)
    reason: str = ""


_RUNGS: tuple[Rung, ...] = ("model", "second_model")


async def answer(
    question: Question, conversation: Conversation, retrieve: Retrieve, ladder: Ladder, outcome: Outcome
) -> AsyncGenerator[Event, None]:
    """Yield the events of one answer. Never raises, except when it is cancelled.

    Daphne leaves a reader hanging when a body raises, so every failure becomes
    an event. Cancellation closes the upstream request, stores the partial
    answer (as aborted, unless the outcome already says otherwise), and passes on.
    """
    record = _Record(conversation, outcome)
    try:
        async with aclosing(_story(question, conversation, retrieve, ladder, outcome, record)) as events:
            async for event in events:
                yield event
    except Exception:  # the task boundary: nothing may leave a stream
        logger.exception("Answer %s failed.", conversation.message_id)
        outcome.state, outcome.reason = "error", "internal error"
        await record.end()
        yield Failed(SORRY)
    finally:
        if outcome.state == "running":
            outcome.state = "aborted"
        await record.end()


class _Record:
    """Stores the answer: now and then while it grows, beside the stream, and once before its end is told."""

    def __init__(self, conversation: Conversation, outcome: Outcome) -> None:
        self.conversation = conversation
        self.outcome = outcome
        self.saved_at, self.saved_size = time.monotonic(), 0
        self.saving: asyncio.Task[bool] | None = None
        self.ending: asyncio.Task[None] | None = None

    def checkpoint(self) -> None:
        """Store the answer as it stands, if it is time and no earlier checkpoint is still being written."""
        now, size = time.monotonic(), self.outcome.size
        due = now - self.saved_at > CHECKPOINT_SECONDS or size - self.saved_size > CHECKPOINT_SIZE
        if due and (self.saving is None or self.saving.done()):
            self.saved_at, self.saved_size = now, size
            self.saving = asyncio.create_task(self._save())

    async def end(self) -> None:
        """Store the answer for good, once, also when whoever waits for it is cancelled."""
        if self.ending is None:
            self.ending = asyncio.create_task(self._end())
        await asyncio.shield(self.ending)

    async def _end(self) -> None:
        if self.saving:
            await self.saving
        if not await self._save():  # go on trying, without holding up the reader
            later = asyncio.create_task(self._save_later())
            _late.add(later)
            later.add_done_callback(_late.discard)

    async def _save(self) -> bool:
        try:
            await self.conversation.save(self.outcome)
        except Exception:  # the same boundary: the reader has the answer, only the record is missing
            logger.exception("Answer %s could not be stored.", self.conversation.message_id)
            return False
        return True

    async def _save_later(self) -> None:
        for seconds in LATER:
            await asyncio.sleep(seconds)
            if await self._save():
                return


_late: set[asyncio.Task[None]] = set()


async def _story(
    question: Question,
    conversation: Conversation,
    retrieve: Retrieve,
    ladder: Ladder,
    outcome: Outcome,
    record: _Record,
) -> AsyncGenerator[Event, None]:
    yield Start(conversation.message_id, conversation.thread_id)

    sought, before = follow_ups.resolve(question, conversation.history)
    sought = replace(sought, lead=lead_of(sought, before))
    query = f"{sought.lead} {sought.text}".strip()
    call_id = f"call_{conversation.message_id.removeprefix('msg_')}"
    yield Searching(call_id, query)
    retrieved = await retrieve(sought)
    outcome.hits = passages = retrieved.passages(question.voice)
    yield Found(call_id, passages)

    citations = CitationChecker(passages, query, prompts.find_addresses(question.voice))
    outcome.sources, outcome.checks = citations.sources, citations.checks
    reason = ladder.reason
    if passages:
        messages = prompts.build(question, passages, conversation.history)
        for rung, model in zip(_RUNGS, ladder.models, strict=False):
            yield outcome.climb(rung, reason)
            async with aclosing(_relayed(model, messages, ladder.bounds, citations, outcome, record)) as events:
                async for event in events:
                    yield event
            if outcome.state == "error":
                await record.end()
                yield Failed(SORRY)
                return
            if outcome.size or outcome.refused:
                break
            reason = outcome.reason
    told = bool(outcome.size) or outcome.refused  # by a model
    if not told:
        yield outcome.climb("extractive" if passages else "nearest_pages", reason)
    closing: Iterator[Source | Text] = iter(())
    if told and not outcome.sources:
        closing = _not_cited(outcome, retrieved.hits, question.voice, conversation.thread_id)
    elif not told and passages:
        closing = extractive.answer(_wanted(sought), citations)
    elif not told:
        closing = extractive.refuse(retrieved.hits, question.voice, conversation.thread_id)
    for piece in closing:
        yield outcome.add(piece)
    if question.suggestions and outcome.sources:
        for text in suggestions.build_block(passages, outcome.sources):
            yield text  # for the reader only: no part of the answer
    outcome.state = "done"
    await record.end()  # before the reader is told that it is complete
    refused = not outcome.sources and (outcome.refused if told else not passages)
    scope = retrieved.scope | ({"refused": True} if refused else {})
    yield Status(cast(Rung, outcome.rung), outcome.reason, scope)
    yield Finish(outcome.usage.prompt_tokens, outcome.usage.completion_tokens, outcome.ended)


def _not_cited(outcome: Outcome, hits: Sequence[Hit], voice: Voice, thread_id: str) -> Iterator[Source | Text]:
    """What follows a model's answer that cites nothing: it refused, or nobody can check what it said."""
    if not outcome.size:
        yield from extractive.refuse(hits, voice, thread_id)
        return
    if not outcome.refused:
        yield Text(f"\n\n{UNCHECKED}")
    yield from extractive.suggest_alternatives(hits, voice, thread_id)


async def _relayed(
    model: Model,
    messages: list[dict[str, str]],
    bounds: Bounds,
    citations: CitationChecker,
    outcome: Outcome,
    record: _Record,
) -> AsyncGenerator[Source | Text, None]:
    """The model's answer, checked. A failure is left in the outcome for the ladder.

    Before any text it is only a reason to try the next rung; after some, an error.
    """
    before, asked = outcome.spent, prompts.estimate_request_tokens(messages)
    outcome.spent = before + asked  # a reader who leaves before the first word has been paid for, too
    usage: Usage | None = None
    broken = ""
    detector = RefusalDetector(citations)
    async with aclosing(relay.stream(model, messages, bounds)) as pieces:
        async for piece in pieces:
            if isinstance(piece, Piece):
                for event in detector.feed(piece.text):
                    yield outcome.add(event)
                outcome.spent = before + asked + outcome.size // 4
                record.checkpoint()
            elif isinstance(piece, Usage):
                usage = piece
            elif isinstance(piece, Ended):
                outcome.ended = piece.reason
            else:
                broken = piece.reason
    for event in detector.end():
        yield outcome.add(event)
    outcome.refused = detector.refused
    if usage and usage.prompt_tokens:  # as the server counts, as long as that can be true
        prompt, completion = min(usage.prompt_tokens, 10 * asked), min(usage.completion_tokens, bounds.most_tokens)
        outcome.spent = before + prompt + completion
    elif broken and not outcome.size:
        outcome.spent = before
    if not outcome.size and not outcome.refused:
        outcome.reason, outcome.ended = broken or "the model server sent an empty answer", "stop"
        return
    outcome.usage = usage or outcome.usage
    if broken:
        outcome.state, outcome.reason = "error", broken
    elif outcome.refused:
        outcome.reason = "the model found no answer in the passages"


def lead_of(question: Question, history: Sequence[Turn]) -> str:
    """The questions before, as many as it takes to understand this one; none where it points at something."""
    lead = ""
    if question.context:
        return lead
    before = [turn.text for turn in history or question.claimed if turn.role == "user"]
    for text in before[: -MOST_BEFORE - 1 : -1]:
        if len(analysis.without_stop_words(f"{lead} {question.text}")) >= ENOUGH_WORDS:
            break
        lead = f"{text} {lead}".strip()
    return lead


def _wanted(question: Question) -> str:
    """What a quotation should be about: the selection, where there is one, else the question, else those before."""
    pointed = " ".join(item.value[:LONGEST_POINTER] for item in question.context)
    says_something = pointed or analysis.without_stop_words(question.text)
    return f"{question.text} {pointed}" if says_something else question.lead or question.text
